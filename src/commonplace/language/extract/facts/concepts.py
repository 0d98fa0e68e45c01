"""Concepts that speakers state about themselves: goals, preferences, worries, values, interests.

Named companies, persons and projects are never concepts: they are recognised by name, and an
attitude to them is an edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from commonplace.language.extract.marking import (
    MARK,
    MarkedUtterance,
    to_third_person,
    to_third_person_or_original,
)
from commonplace.language.extract.patterns import compile_pattern, load_pattern_table
from commonplace.language.extract.relations.edges import is_asserted, is_question, split_clauses
from commonplace.language.extract.sentences import OWNER_INDEX
from commonplace.language.extract.values import FoundEdge, FoundNode
from commonplace.language.fields.writing_policy import check_writing
from commonplace.language.observe import english
from commonplace.language.observe.detectors import is_retracted
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.observe.sentence import USER
from commonplace.language.text.lexicon import BilingualPattern, any_pattern
from commonplace.language.text.normalise import fold
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import Kind

_TABLE = "facts/concepts"
_HEBREW_LETTER = re.compile("[א-ת]")
_OWNER_CONFIDENCE, _OTHERS_CONFIDENCE = (
    0.85,
    0.75,
)  # if the owner speaks, and if another person does
_LIST_ITEM = re.compile(r"(?P<what>[^,;.!]+?)(?:, (?:and )?|;\s*|[.!]\s*|$)")  # one item of a list
_GOAL_LETTERS = frozenset("vj")  # an event or a project can itself be the goal


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptPattern:
    type: str
    pattern: re.Pattern[str]
    words: int
    attitude: int
    proximity: int | None


@dataclass(frozen=True, slots=True)
class ConceptsFound:
    """New nodes, to be appended to the list, and edges to them."""

    nodes: tuple[FoundNode, ...]
    edges: tuple[FoundEdge, ...]


def find_concepts(
    sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode]
) -> ConceptsFound:
    found: dict[str, FoundNode] = {}
    places: dict[str, int] = {}
    edges: list[FoundEdge] = []
    for marked in sentences:
        for concept, match in _match_concepts(marked, nodes):
            thing = _goal_node(concept, match)
            name = "" if thing is not None else _concept_name(concept, match["what"], marked, nodes)
            if thing is None and not name:
                continue
            key = fold(name)
            if thing is None:
                places.setdefault(key, len(nodes) + len(found))
                found[key] = _update_node(
                    found.get(key), name, marked, _describe_concept(match, marked, nodes)
                )
            end = places[key] if thing is None else thing
            edges.append(_build_edge(concept, match, end, marked, nodes))
    return ConceptsFound(tuple(found.values()), tuple(_merge_repeated_edges(edges)))


def _match_concepts(
    marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> Iterator[tuple[ConceptPattern, re.Match[str]]]:
    """Matches of a sentence. The first matching pattern wins; a later one may match only another
    part."""
    text = marked.text
    if marked.utterance.speaker is None or is_question(text) or is_retracted(marked.utterance.own):
        return
    yield from _match_listed(text)
    for clause in split_clauses(text):
        taken: list[tuple[int, int]] = []
        for concept in concept_patterns(is_hebrew(clause)):
            for match in concept.pattern.finditer(clause):
                start, end = match.span("what")
                if any(start < until and since < end for since, until in taken):
                    continue
                if is_asserted(clause, match, marked, nodes):
                    taken.append((start, end))
                    yield concept, match


def _match_listed(text: str) -> Iterator[tuple[ConceptPattern, re.Match[str]]]:
    for type, heading in load_pattern_table(_TABLE)["listed"].items():
        if found := compile_pattern(heading).match(text):
            concept = next(each for each in concept_patterns(hebrew=False) if each.type == type)
            for item in _LIST_ITEM.finditer(text, found.start("what")):
                yield concept, item


@cache
def concept_patterns(hebrew: bool) -> tuple[ConceptPattern, ...]:
    return tuple(
        _read_pattern(entry, text)
        for entry in load_pattern_table(_TABLE)["concept"]
        for text in entry["says"]
        if bool(_HEBREW_LETTER.search(text)) is hebrew
    )


def _read_pattern(entry: Mapping[str, Any], text: str) -> ConceptPattern:
    return ConceptPattern(
        type=entry["type"],
        pattern=compile_pattern(text, _TABLE),
        words=entry["words"],
        attitude=entry["attitude"],
        proximity=entry.get("proximity"),
    )


# ——— names ———

_LEADING = re.compile(
    r"^(?:(?:about|of|with|for|the|an?|my|our|some|any|more|having|being|getting|doing|his|her|their)\s+)+|^את\s+"
)
# "I hate sushi now": the time is not part of the concept.
_TRAILING = re.compile(
    r"(?:,?\s+(?:now|nowadays|any ?more|these days|at the moment|right now|lately|recently|again|"
    r"too|as well|though|actually|still|עכשיו|כרגע|היום|יותר))+$",
    re.IGNORECASE,
)
_BREAKS_OFF = re.compile(r"\ban? \w+$", re.IGNORECASE)  # "a safe, inviting place"
_GUESSED_OWNER = re.compile(r"⟨p\d+h⟩'s ")  # "her eyesight": becomes "eyesight"
_MIN_NAME_LENGTH, _MAX_NAME_LENGTH = 3, 60


def _concept_name(
    concept: ConceptPattern, what: str, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> str:
    """A short name; empty if the text only refers to something or already has a name."""
    if ends := _name_end_patterns().search(what):
        what, cut = what[: ends.start()], ends[0]
        if cut == "," and _BREAKS_OFF.search(what):
            return ""
    if concept.type == "prefers":
        what = _preferred_to_pattern().sub("", what)
    if concept.type == "goal":
        what = what.partition(" and ")[0]
    if _is_only_marks(what) or any(map(_is_other_person, _find_marks(what))):
        return ""
    words = re.sub(r"\b(?:my|our) ", "", marked.in_words(_GUESSED_OWNER.sub("", what), nodes))
    name = _TRAILING.sub("", _LEADING.sub("", words.strip(" ,'\"-–"))).strip(" ,'\"-–")
    fits = _MIN_NAME_LENGTH <= len(name) <= _MAX_NAME_LENGTH and len(name.split()) <= concept.words
    return name if fits and not _empty_name_patterns().search(name) else ""


def _find_marks(text: str) -> list[re.Match[str]]:
    return list(MARK.finditer(text))


def _is_other_person(mark: re.Match[str]) -> bool:
    """Whether the mark is another person; "Mum's eyesight" is not a person."""
    owns = mark.string.startswith("'s ", mark.end())
    return mark[1] == "p" and mark[3] != "i" and not owns


def _is_only_marks(text: str) -> bool:
    return not re.search(r"\w", MARK.sub("", re.sub(r"\b(?:the|an?|and|or|my|our)\b", "", text)))


def _goal_node(concept: ConceptPattern, match: re.Match[str]) -> int | None:
    """ "I want to run the Harbour Half Marathon": the event itself is the goal."""
    if concept.type != "goal":
        return None
    what = match["what"]
    ends = _name_end_patterns().search(what)
    marks = _find_marks(what[: ends.start()] if ends else what)
    return int(marks[0][2]) if len(marks) == 1 and marks[0][1] in _GOAL_LETTERS else None


@cache
def _name_end_patterns() -> BilingualPattern:
    return any_pattern(load_pattern_table(_TABLE)["ends"]["patterns"])


@cache
def _empty_name_patterns() -> BilingualPattern:
    return any_pattern(load_pattern_table(_TABLE)["empty"]["patterns"])


@cache
def _preferred_to_pattern() -> re.Pattern[str]:
    return re.compile(load_pattern_table(_TABLE)["ends"]["preferred_to"], re.IGNORECASE)


# ——— nodes and edges ———


def _describe_concept(
    match: re.Match[str], marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> str:
    """The sentence that states the concept, in the third person."""
    rewritten = to_third_person(marked, english.strip_tail(match[0]), nodes)
    speaker = marked.utterance.speaker or OWNER_INDEX
    subject = USER if speaker == OWNER_INDEX else nodes[speaker].name
    names_subject = subject.casefold() in rewritten.casefold()
    return rewritten if names_subject and not check_writing(Kind.FACT, rewritten) else ""


def _update_node(
    before: FoundNode | None, name: str, marked: MarkedUtterance, described: str
) -> FoundNode:
    passage, place = marked.utterance.passage, marked.utterance.place
    confidence = _confidence_of(marked)
    if before is None:
        before = FoundNode(type=NodeType.CONCEPT, name=name, confidence=confidence)
    return replace(
        before,
        passages=tuple(dict.fromkeys((*before.passages, passage))),
        places=(*before.places, place),
        confidence=max(before.confidence, confidence),
        description=before.description or described,
    )


def _confidence_of(marked: MarkedUtterance) -> float:
    return _OWNER_CONFIDENCE if marked.utterance.speaker == OWNER_INDEX else _OTHERS_CONFIDENCE


def _build_edge(
    concept: ConceptPattern,
    match: re.Match[str],
    end: int,
    marked: MarkedUtterance,
    nodes: Sequence[FoundNode],
) -> FoundEdge:
    """An edge from the speaker: others' concepts are not recorded on their behalf."""
    return FoundEdge(
        a=marked.utterance.speaker or OWNER_INDEX,
        b=end,
        type=concept.type,
        attitude=concept.attitude,
        proximity=concept.proximity,
        description=to_third_person_or_original(marked, match[0], nodes),
        confidence=_confidence_of(marked),
        place=marked.utterance.place,
    )


def _merge_repeated_edges(edges: Iterable[FoundEdge]) -> list[FoundEdge]:
    kept: dict[tuple[int, int, str], FoundEdge] = {}
    for edge in edges:
        key = (edge.a, edge.b, edge.type)
        kept[key] = kept[key].with_repetitions(edge.place) if key in kept else edge
    return list(kept.values())
