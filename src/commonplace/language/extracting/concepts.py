"""Goals, preferences, worries, values and interests, where somebody states them of themselves.

Never a company, a person or a project: what has a name is found by its name (spot.py), and what is
felt for it is an edge to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from commonplace.language.extracting.found import FoundEdge, FoundNode
from commonplace.language.extracting.marking import MARK, Marked
from commonplace.language.extracting.relate import clauses, is_question, is_told
from commonplace.language.extracting.retelling import retold, retold_wholly
from commonplace.language.extracting.table import compiled, data
from commonplace.language.extracting.utterances import OWNER
from commonplace.language.normalise import fold
from commonplace.language.observing import english
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.language.observing.in_sentence import USER
from commonplace.language.observing.meant import taken_back
from commonplace.language.observing.patterns import Bilingual, any_of
from commonplace.language.policy import check_writing
from commonplace.model.graph.words import NodeType
from commonplace.model.kinds import Kind

_TABLE = "concepts"
_HEBREW = re.compile("[א-ת]")
_OWN, _OTHERS = 0.85, 0.75  # the owner's ideas, and those of somebody else who speaks
_ITEM = re.compile(r"(?P<what>[^,;.!]+?)(?:, (?:and )?|;\s*|[.!]\s*|$)")  # of a list
_AIMED_AT = frozenset("vj")  # an event, a project: aimed at as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Stating:
    type: str
    pattern: re.Pattern[str]
    words: int
    attitude: int
    proximity: int | None


@dataclass(frozen=True, slots=True)
class Ideas:
    """Nodes that go to the end of the list, and edges to them."""

    nodes: tuple[FoundNode, ...]
    edges: tuple[FoundEdge, ...]


def concepts(sentences: Iterable[Marked], nodes: Sequence[FoundNode]) -> Ideas:
    found: dict[str, FoundNode] = {}
    places: dict[str, int] = {}
    edges: list[FoundEdge] = []
    for marked in sentences:
        for stating, match in _stated(marked, nodes):
            thing = _thing_aimed_at(stating, match)
            name = "" if thing is not None else _name(stating, match["what"], marked, nodes)
            if thing is None and not name:
                continue
            key = fold(name)
            if thing is None:
                places.setdefault(key, len(nodes) + len(found))
                found[key] = _node(found.get(key), name, marked, _described(match, marked, nodes))
            end = places[key] if thing is None else thing
            edges.append(_edge(stating, match, end, marked, nodes))
    return Ideas(tuple(found.values()), tuple(_distinct(edges)))


def _stated(marked: Marked, nodes: Sequence[FoundNode]) -> Iterator[tuple[Stating, re.Match[str]]]:
    """The first pattern that fits tells it; another may only tell of another part."""
    text = marked.text
    if marked.utterance.speaker is None or is_question(text) or taken_back(marked.utterance.own):
        return
    yield from _listed(text)
    for clause in clauses(text):
        taken: list[tuple[int, int]] = []
        for stating in statings(is_hebrew(clause)):
            for match in stating.pattern.finditer(clause):
                start, end = match.span("what")
                if any(start < until and since < end for since, until in taken):
                    continue
                if is_told(clause, match, marked, nodes):
                    taken.append((start, end))
                    yield stating, match


def _listed(text: str) -> Iterator[tuple[Stating, re.Match[str]]]:
    for type, heading in data(_TABLE)["listed"].items():
        if found := compiled(heading).match(text):
            stating = next(each for each in statings(hebrew=False) if each.type == type)
            for item in _ITEM.finditer(text, found.start("what")):
                yield stating, item


@cache
def statings(hebrew: bool) -> tuple[Stating, ...]:
    return tuple(
        _stating(entry, says)
        for entry in data(_TABLE)["concept"]
        for says in entry["says"]
        if bool(_HEBREW.search(says)) is hebrew
    )


def _stating(entry: Mapping[str, Any], says: str) -> Stating:
    return Stating(
        type=entry["type"],
        pattern=compiled(says, _TABLE),
        words=entry["words"],
        attitude=entry["attitude"],
        proximity=entry.get("proximity"),
    )


# ——— the name ———

_LEADING = re.compile(
    r"^(?:(?:about|of|with|for|the|an?|my|our|some|any|more|having|being|getting|doing|his|her|their)\s+)+|^את\s+"
)
# "I hate sushi now": since when is no part of what it is.
_TRAILING = re.compile(
    r"(?:,?\s+(?:now|nowadays|any ?more|these days|at the moment|right now|lately|recently|again|"
    r"too|as well|though|actually|still|עכשיו|כרגע|היום|יותר))+$",
    re.IGNORECASE,
)
_BREAKS_OFF = re.compile(r"\ban? \w+$", re.IGNORECASE)  # "a safe, inviting place"
_GUESSED_OWNER = re.compile(r"⟨p\d+h⟩'s ")  # "her eyesight": the eyesight, whoever she is
_SHORTEST, _LONGEST = 3, 60


def _name(stating: Stating, what: str, marked: Marked, nodes: Sequence[FoundNode]) -> str:
    """A short name; empty where what is said only points at something, or has a name already."""
    if ends := _ends().search(what):
        what, cut = what[: ends.start()], ends[0]
        if cut == "," and _BREAKS_OFF.search(what):
            return ""
    if stating.type == "prefers":
        what = _preferred_to().sub("", what)
    if stating.type == "goal":  # one at a time
        what = what.partition(" and ")[0]
    if _is_only_marks(what) or any(map(_is_somebody, _marks(what))):
        return ""
    words = re.sub(r"\b(?:my|our) ", "", marked.in_words(_GUESSED_OWNER.sub("", what), nodes))
    name = _TRAILING.sub("", _LEADING.sub("", words.strip(" ,'\"-–"))).strip(" ,'\"-–")
    fits = _SHORTEST <= len(name) <= _LONGEST and len(name.split()) <= stating.words
    return name if fits and not _empty().search(name) else ""


def _marks(text: str) -> list[re.Match[str]]:
    return list(MARK.finditer(text))


def _is_somebody(mark: re.Match[str]) -> bool:
    """Somebody else; "Mum's eyesight" is no somebody."""
    owns = mark.string.startswith("'s ", mark.end())
    return mark[1] == "p" and mark[3] != "i" and not owns


def _is_only_marks(text: str) -> bool:
    return not re.search(r"\w", MARK.sub("", re.sub(r"\b(?:the|an?|and|or|my|our)\b", "", text)))


def _thing_aimed_at(stating: Stating, match: re.Match[str]) -> int | None:
    """ "I want to run the Harbour Half Marathon": the event itself is the goal."""
    if stating.type != "goal":
        return None
    what = match["what"]
    ends = _ends().search(what)
    marks = _marks(what[: ends.start()] if ends else what)
    return int(marks[0][2]) if len(marks) == 1 and marks[0][1] in _AIMED_AT else None


@cache
def _ends() -> Bilingual:
    return any_of(data(_TABLE)["ends"]["patterns"])


@cache
def _empty() -> Bilingual:
    return any_of(data(_TABLE)["empty"]["patterns"])


@cache
def _preferred_to() -> re.Pattern[str]:
    return re.compile(data(_TABLE)["ends"]["preferred_to"], re.IGNORECASE)


# ——— nodes and edges ———


def _described(match: re.Match[str], marked: Marked, nodes: Sequence[FoundNode]) -> str:
    """The sentence that states it: whose idea it is, and what of it."""
    told = retold_wholly(marked, english.without_tail(match[0]), nodes)
    speaker = marked.utterance.speaker or OWNER
    subject = USER if speaker == OWNER else nodes[speaker].name
    is_whose = subject.casefold() in told.casefold()
    return told if is_whose and not check_writing(Kind.FACT, told) else ""


def _node(before: FoundNode | None, name: str, marked: Marked, described: str) -> FoundNode:
    passage, place = marked.utterance.passage, marked.utterance.place
    confidence = _sure(marked)
    if before is None:
        before = FoundNode(type=NodeType.CONCEPT, name=name, confidence=confidence)
    return replace(
        before,
        passages=tuple(dict.fromkeys((*before.passages, passage))),
        places=(*before.places, place),
        confidence=max(before.confidence, confidence),
        description=before.description or described,
    )


def _sure(marked: Marked) -> float:
    return _OWN if marked.utterance.speaker == OWNER else _OTHERS


def _edge(
    stating: Stating, match: re.Match[str], end: int, marked: Marked, nodes: Sequence[FoundNode]
) -> FoundEdge:
    """From whoever speaks: of others' ideas nobody else is asked."""
    return FoundEdge(
        a=marked.utterance.speaker or OWNER,
        b=end,
        type=stating.type,
        attitude=stating.attitude,
        proximity=stating.proximity,
        description=retold(marked, match[0], nodes),
        confidence=_sure(marked),
        place=marked.utterance.place,
    )


def _distinct(edges: Iterable[FoundEdge]) -> list[FoundEdge]:
    kept: dict[tuple[int, int, str], FoundEdge] = {}
    for edge in edges:
        key = (edge.a, edge.b, edge.type)
        kept[key] = kept[key].also_told(edge.place) if key in kept else edge
    return list(kept.values())
