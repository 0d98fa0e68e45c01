"""Descriptions of nodes (one sentence on what they are) and notes on them, with lifetimes.

"Dana, our new CTO, …" → "Dana is the user's CTO."; "Acme is a bakery in Jena" is taken as it is.
What a person is ranks above whose they are. Without a clear statement there is no description: none
is better than a wrong one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from commonplace.language.extract.marking import MARK, MarkedUtterance, to_third_person
from commonplace.language.extract.names.gazetteer import PERSON
from commonplace.language.extract.names.kind_evidence import kinds_by_noun
from commonplace.language.extract.names.nominal_mentions import NEGATION_BEFORE, phrase_words
from commonplace.language.extract.patterns import compile_pattern, load_pattern_table
from commonplace.language.extract.relations.edges import is_asserted, is_question, split_clauses
from commonplace.language.extract.sentences import OWNER_INDEX
from commonplace.language.extract.values import FoundEdge, FoundNode, FoundNote
from commonplace.language.fields.writing_policy import check_writing
from commonplace.language.observe import english
from commonplace.language.observe.detectors import is_retracted, non_statement_reason
from commonplace.language.observe.hebrew import is_hebrew
from commonplace.language.observe.sentence import USER
from commonplace.language.safety.prompt_injection import is_suspicious
from commonplace.language.text.lexicon import BilingualPattern, any_pattern
from commonplace.language.text.normalise import fold
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.types import NodeType
from commonplace.model.memory.kinds import Kind

_TABLE = "facts/descriptions"
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
_POSSESSED = re.compile(r"(?:one of )?⟨p\d+i?⟩'s ")
_NEW_OR_CURRENT = re.compile(r"\b(?:new|brand-new|current) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DescriptionPattern:
    """One pattern of a statement of what something is."""

    says: str
    is_named: bool  # holds even if the sentence is negated or a question
    is_free: bool  # its noun is not checked

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled on first use, like relation patterns."""
        return compile_pattern(self.says, _TABLE)


class _RankedDescription(NamedTuple):
    rank: int  # what it is ranks before whose it is
    order: int  # in the source
    node: int
    sentence: str


def add_descriptions(
    nodes: Sequence[FoundNode], sentences: Iterable[MarkedUtterance]
) -> tuple[FoundNode, ...]:
    """Nodes with their best descriptions. The owner's comes from the profile, not from here."""
    best: dict[int, _RankedDescription] = {}
    for order, marked in enumerate(sentences):
        for found in _find_descriptions(marked, order, nodes):
            best[found.node] = min(best.get(found.node, found), found)
    return tuple(
        replace(node, description=best[place].sentence) if place in best else node
        for place, node in enumerate(nodes)
    )


@cache
def _description_patterns() -> tuple[DescriptionPattern, ...]:
    return tuple(
        DescriptionPattern(pattern, entry.get("named", False), entry.get("free", False))
        for entry in load_pattern_table(_TABLE)["description"]
        for pattern in entry["says"]
    )


def _find_descriptions(
    marked: MarkedUtterance, order: int, nodes: Sequence[FoundNode]
) -> Iterator[_RankedDescription]:
    text = marked.text
    if not MARK.search(text) or is_question(text) or is_hebrew(text):
        return
    if is_retracted(marked.utterance.own):
        return
    for description in _description_patterns():
        for match in description.pattern.finditer(text):
            place = _described_node(match)
            what = _trim_description(match["what"])
            if place == OWNER_INDEX or not what or match["x"] in what:
                continue
            words = marked.in_words(what, nodes)
            is_description = description.is_free or _head_noun(words) in _allowed_nouns(
                _node_kind(nodes[place])
            )
            if not is_description or not _is_asserted_description(
                description, match, marked, nodes
            ):
                continue
            if sentence := _description_sentence(match, words, marked, nodes):
                yield _RankedDescription(_rank(what), order, place, sentence)


def _described_node(match: re.Match[str]) -> int:
    mark = MARK.fullmatch(match["x"])
    return int(mark[2]) if mark else OWNER_INDEX


def _is_asserted_description(
    description: DescriptionPattern,
    match: re.Match[str],
    marked: MarkedUtterance,
    nodes: Sequence[FoundNode],
) -> bool:
    if NEGATION_BEFORE.search(marked.text[: match.start()]):
        return False
    return description.is_named or is_asserted(marked.text, match, marked, nodes)


def _rank(what: str) -> int:
    return 1 if _POSSESSED.match(what) else 0


# ——— wording ———


def _trim_description(what: str) -> str:
    """The description's text up to its end; empty if it is an opinion."""
    for ends in load_pattern_table(_TABLE)["ends"]["patterns"]:
        what = re.split(ends, what, maxsplit=1, flags=re.IGNORECASE)[0]
    what = _NEW_OR_CURRENT.sub("", what).strip(" '\"-–—")
    return "" if _opinion_pattern().search(what) else what


def _head_noun(what: str) -> str:
    """ "nurse" of "a nurse at Acme"."""
    alone = re.split(
        load_pattern_table(_TABLE)["ends"]["after_noun"], what, maxsplit=1, flags=re.IGNORECASE
    )[0]
    return alone.split()[-1].lower() if alone.split() else ""


def _node_kind(node: FoundNode) -> str:
    return PERSON if node.type is NodeType.PERSON else node.subtype


@cache
def _allowed_nouns(kind: str) -> frozenset[str]:
    table = load_pattern_table(_TABLE)["nouns"]
    kinds = {kind, *table["also"].get(kind, "").split()}
    found = {noun for noun, its_kind in kinds_by_noun().items() if its_kind in kinds}
    found |= {noun for each in kinds for noun in table.get(each, "").split()}
    if kind == PERSON:
        found |= phrase_words("kin")
        found |= set(load_pattern_table("marks")["words"]["job_noun"].lower().split())
    return frozenset(found) - frozenset(table["empty"].split())


@cache
def _opinion_pattern() -> re.Pattern[str]:
    """Opinions do not describe; "best friend" is not an opinion."""
    lists = load_pattern_table("wording")["opinions"]["words"].values()
    words = "|".join(sorted({word for each in lists for word in each.split()}))
    return re.compile(rf"\b(?!(?:best|good|great) friend\b)(?:{words})\b", re.IGNORECASE)


# ——— sentence ———


def _description_sentence(
    match: re.Match[str], words: str, marked: MarkedUtterance, nodes: Sequence[FoundNode]
) -> str:
    """In the third person, by the writing policy; empty if not possible."""
    name, speaker = nodes[_described_node(match)].name, marked.utterance.speaker
    subject = USER if speaker in (None, OWNER_INDEX) else nodes[speaker].name
    if "@" in name + subject or (speaker is None and _FIRST_PERSON.search(words)):
        return ""
    verb = match.groupdict().get("verb") or "is"
    sentence = english.to_third_person(f"{name} {verb.lower()} {words}", subject) or ""
    is_fit = sentence and not check_writing(Kind.FACT, sentence) and not is_suspicious(sentence)
    return sentence if is_fit else ""


MAX_NOTES_PER_NODE = 3  # per node and source
_MIN_NOTE_WORDS = 4
# A name and a statement about it: "Noa is …", "my sister Noa will …"; not "Noa, can you …".
_SUBJECT = re.compile(
    r"^(?:(?:and|so|oh|also|well|anyway|okay|ok|the|by the way)[, ]+)*"
    r"(?:⟨p\d+i⟩'s (?:[\w-]+ ){1,3})?"
    r"⟨(?:p(?=\d+h)|[a-z](?!\d+h))(?P<node>\d+)[hr]?⟩(?:'s)? (?P<said>.+)$",
    re.IGNORECASE,
)
# "The removal company is Pickford": its part in something.
_SUBJECT_AT_END = re.compile(
    r"^(?P<said>(?:the |our |⟨p\d+i⟩'s )?[a-z][\w' -]{2,40}) (?:is|are|will be) "
    r"(?:called |the )?⟨[a-z](?P<node>\d+)⟩",
    re.IGNORECASE,
)


def find_notes(
    sentences: Iterable[MarkedUtterance], nodes: Sequence[FoundNode], edges: Collection[FoundEdge]
) -> list[FoundNote]:
    """``edges``: their descriptions are not repeated as notes."""
    edge_descriptions = {(edge.passage, edge.description) for edge in edges}
    found: list[FoundNote] = []
    counts: Counter[int] = Counter()
    known: set[tuple[int, str]] = set()
    for marked in sentences:
        for note in _notes_in(marked, nodes):
            node, key = note.about[0], (note.about[0], fold(note.content))
            if (
                counts[node] < MAX_NOTES_PER_NODE
                and key not in known
                and (note.passage, note.content) not in edge_descriptions
            ):
                counts[node] += 1
                known.add(key)
                found.append(note)
    return found


def _notes_in(marked: MarkedUtterance, nodes: Sequence[FoundNode]) -> Iterator[FoundNote]:
    if is_question(marked.text) or is_retracted(marked.utterance.own):
        return
    for clause in split_clauses(marked.text_without_asides):
        subject = _SUBJECT.match(clause) or _SUBJECT_AT_END.match(clause)
        if subject is None or int(subject["node"]) in (OWNER_INDEX, marked.utterance.speaker):
            continue
        words = marked.in_words(clause, nodes)
        if non_statement_reason(words) or _uninformative_patterns().match(subject["said"]):
            continue
        content = to_third_person(marked, clause, nodes)
        if content and len(content.split()) >= _MIN_NOTE_WORDS:
            yield FoundNote(
                about=(int(subject["node"]),),
                content=content,
                lifetime=lifetime_of(words),
                place=marked.utterance.place,
            )


def lifetime_of(words: str) -> NoteLifetime:
    for lifetime in (NoteLifetime.FOREVER, NoteLifetime.WEEK, NoteLifetime.YEAR):
        if _lifetime_patterns(lifetime).search(words):
            return lifetime
    return NoteLifetime.MONTH


@cache
def _lifetime_patterns(lifetime: NoteLifetime) -> BilingualPattern:
    return any_pattern(load_pattern_table("facts/notes")[lifetime])


@cache
def _uninformative_patterns() -> BilingualPattern:
    return any_pattern(load_pattern_table("facts/notes")["says_nothing"])
