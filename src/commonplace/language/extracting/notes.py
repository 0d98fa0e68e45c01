"""Notes: what is said of a node that no edge holds, and for how long it is worth knowing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from commonplace.language.extracting.found import FoundEdge, FoundNode, FoundNote
from commonplace.language.extracting.marking import Marked
from commonplace.language.extracting.relate import clauses, is_question
from commonplace.language.extracting.retelling import retold_wholly
from commonplace.language.extracting.table import data
from commonplace.language.extracting.utterances import OWNER
from commonplace.language.normalise import fold
from commonplace.language.observing.meant import not_meant, taken_back
from commonplace.language.observing.patterns import Bilingual, any_of
from commonplace.model.graph.note import Lifetime

MOST = 3  # of one node, from one source
_FEWEST_WORDS = 4
# A name, and what is said of it: "Noa is …", "my sister Noa will …"; not "Noa, can you …".
_SUBJECT = re.compile(
    r"^(?:(?:and|so|oh|also|well|anyway|okay|ok|the|by the way)[, ]+)*"
    r"(?:⟨p\d+i⟩'s (?:[\w-]+ ){1,3})?"
    r"⟨(?:p(?=\d+h)|[a-z](?!\d+h))(?P<node>\d+)[hr]?⟩(?:'s)? (?P<said>.+)$",
    re.IGNORECASE,
)
# "The removal company is Pickford": who it is that has a part in something.
_IS_IT = re.compile(
    r"^(?P<said>(?:the |our |⟨p\d+i⟩'s )?[a-z][\w' -]{2,40}) (?:is|are|will be) "
    r"(?:called |the )?⟨[a-z](?P<node>\d+)⟩",
    re.IGNORECASE,
)


def notes(
    sentences: Iterable[Marked], nodes: Sequence[FoundNode], edges: Collection[FoundEdge]
) -> list[FoundNote]:
    """``edges``: what they tell is not told again."""
    told = {(edge.passage, edge.description) for edge in edges}
    found: list[FoundNote] = []
    many: Counter[int] = Counter()
    known: set[tuple[int, str]] = set()
    for marked in sentences:
        for note in _notes_in(marked, nodes):
            node, key = note.about[0], (note.about[0], fold(note.content))
            if many[node] < MOST and key not in known and (note.passage, note.content) not in told:
                many[node] += 1
                known.add(key)
                found.append(note)
    return found


def _notes_in(marked: Marked, nodes: Sequence[FoundNode]) -> Iterator[FoundNote]:
    if is_question(marked.text) or taken_back(marked.utterance.own):
        return
    for clause in clauses(marked.shorter):
        subject = _SUBJECT.match(clause) or _IS_IT.match(clause)
        if subject is None or int(subject["node"]) in (OWNER, marked.utterance.speaker):
            continue
        words = marked.in_words(clause, nodes)
        if not_meant(words) or _says_nothing().match(subject["said"]):
            continue
        content = retold_wholly(marked, clause, nodes)
        if content and len(content.split()) >= _FEWEST_WORDS:
            yield FoundNote(
                about=(int(subject["node"]),),
                content=content,
                lifetime=lifetime_of(words),
                place=marked.utterance.place,
            )


def lifetime_of(words: str) -> Lifetime:
    for lifetime in (Lifetime.FOREVER, Lifetime.WEEK, Lifetime.YEAR):
        if _of(lifetime).search(words):
            return lifetime
    return Lifetime.MONTH


@cache
def _of(lifetime: Lifetime) -> Bilingual:
    return any_of(data("notes")[lifetime])


@cache
def _says_nothing() -> Bilingual:
    return any_of(data("notes")["says_nothing"])
