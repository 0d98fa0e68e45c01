"""Previous extraction of a source: seen sentences, suppressed items, matching edges.

A source may be brought again with more in it, or less, or in another order. Where something that it
told is not in the graph any more, somebody has taken it out (taken_out.py), and only new words
bring it back.

Sentences are known again by digests, so that no words outlive the source's own. Each source has
digests of its own, so that what two sources have in common does not show; they hold wherever the
source is known by the name that it came with. Whoever holds the store can still try out what a
short sentence may have been; so can they read the source, and the digests go with it.

Nobody but by hand takes out what a source goes on to tell. So with each extraction is kept what was
told, and by which telling: where the telling is gone, it was taken out. It is kept as digests, as
the sentences are (heard.py): what somebody wanted gone must not be found in a list of it.

What is told is known again by the names that the source has for it, and not by ids: who is erased,
and told of anew by another sentence, is another node, of whom the old sentences tell nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import product
from typing import NamedTuple

from commonplace.engine.graph.extraction.extraction_input import readable_text
from commonplace.engine.graph.names import name_key
from commonplace.language.extract.values import FoundEdge, FoundNode, FoundNote, TextLocation
from commonplace.language.text.sentences import split_sentences
from commonplace.model.graph.assertion import EdgeAssertion
from commonplace.model.sources.source import Passage, Source

_DIGEST_BYTES = (
    6  # of a digest: by chance, two sentences of a long book have one in a million times
)
DIGEST_LENGTH = 2 * _DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class SeenSentences:
    """By default nothing was, so that all is new."""

    new_sentences: Mapping[int, Sequence[TextLocation]] | None = (
        None  # the new sentences of each passage
    )
    known_participants: frozenset[str] = frozenset()  # keys of names and addresses
    digests: Sequence[str] = ()  # as they were kept

    def is_new(self, place: TextLocation) -> bool:
        if self.new_sentences is None:
            return True
        new = self.new_sentences.get(place.passage, ())
        return any(each.start < place.end and place.start < each.end for each in new)

    def is_new_mention(self, node: FoundNode) -> bool:
        """Whether it is spoken of in a new sentence; or takes part now, and did not before."""
        if self.new_sentences is None or node.is_owner:
            return True
        return any(map(self.is_new, node.places)) if node.places else self._joins(node)

    def _joins(self, node: FoundNode) -> bool:
        names = (node.name, *node.aliases, *node.addresses)
        return self.known_participants.isdisjoint(map(name_key, names))


def find_seen_sentences(
    source: Source, passages: Iterable[Passage], digests: Sequence[str]
) -> SeenSentences:
    """``digests``: as they were made when it was last taken in. What is said twice, and was heard
    once, is new where it stands for the second time."""
    left = Counter(digests)
    unheard: dict[int, list[TextLocation]] = {}
    for passage in passages:
        for place, said in _digest_sentences(source, passage):
            if left[said]:
                left[said] -= 1
            else:
                unheard.setdefault(passage.number, []).append(place)
    known = (key for key in _participant_keys(source) if digest(source, key, "") in left)
    return SeenSentences(unheard, frozenset(known), digests)


def compute_digests(source: Source, passages: Iterable[Passage]) -> tuple[str, ...]:
    spoken = (said for passage in passages for _, said in _digest_sentences(source, passage))
    return (*(digest(source, key, "") for key in _participant_keys(source)), *spoken)


def digest(source: Source, *words: str) -> str:
    said = "\n".join((source.alias, *words))
    return blake2b(said.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _digest_sentences(source: Source, passage: Passage) -> Iterator[tuple[TextLocation, str]]:
    """Another one's "I live in Haifa" is another sentence."""
    text, end = readable_text(passage), 0
    for sentence in split_sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        by = passage.speaker or passage.role or ""
        yield (
            TextLocation(passage.number, start, end),
            digest(source, by, " ".join(sentence.split())),
        )


def _participant_keys(source: Source) -> Iterator[str]:
    addresses = source.provenance.get("addresses")
    known = addresses.values() if isinstance(addresses, Mapping) else ()
    yield from dict.fromkeys(name_key(str(name)) for name in (*source.participants, *known))


@dataclass(slots=True)
class SuppressedItems:
    source: Source
    gone: dict[str, list[str]]  # what is not told any more: each with its entries
    entries: list[str] = field(default_factory=list)  # to be kept, after this reading

    def has(self, words: Iterable[str]) -> bool:
        return any(digest(self.source, each) in self.gone for each in words)

    def note(self, words: Iterable[str], assertion: str | None) -> None:
        """``telling``: which tells it now; None: none, so what was taken out is so from now on."""
        by = digest(self.source, assertion) if assertion else ""
        for what in (digest(self.source, each) for each in words):
            self.entries += [what + by] if by else self.gone.get(what, ())


def find_suppressed(
    source: Source, digests: Iterable[str], assertions: Iterable[str]
) -> SuppressedItems:
    """``digests``: as they were kept; ``tellings``: the ids of those that there still are."""
    there = {digest(source, id) for id in assertions}
    gone: dict[str, list[str]] = {}
    for entry in digests:
        what, by = entry[:DIGEST_LENGTH], entry[DIGEST_LENGTH:]
        if by and by not in there:
            gone.setdefault(what, []).append(entry)
    return SuppressedItems(source, gone)


def node_suppression_keys(found: FoundNode) -> list[str]:
    """One for each name: with more said or less, another one may be the first."""
    names = (found.name, *found.aliases, *found.addresses)
    return [f"node\n{key}" for key in dict.fromkeys(map(name_key, names))]


def edge_suppression_keys(found: FoundEdge, nodes: Sequence[FoundNode]) -> list[str]:
    ends = product(_name_keys(nodes[found.a]), _name_keys(nodes[found.b]))
    return [f"edge\n{found.type}\n{a}\n{b}" for a, b in ends]


def note_suppression_keys(found: FoundNote, nodes: Sequence[FoundNode]) -> list[str]:
    names = _name_keys(nodes[found.about[0]]) if found.about else [""]
    return [f"note\n{name}\n{found.content}" for name in names]


def _name_keys(node: FoundNode) -> list[str]:
    """The owner is the owner, whatever they are called."""
    return [""] if node.is_owner else [*dict.fromkeys(map(name_key, (node.name, *node.aliases)))]


CommonEnds = Callable[[EdgeAssertion, EdgeAssertion], int]  # how many are the same by now


@dataclass(frozen=True, slots=True)
class EdgeCandidate:
    assertion: EdgeAssertion
    is_suppressed: bool  # it was taken out by hand, and no new sentence tells it


class _MatchCriteria(NamedTuple):
    ends: int  # how many are the same
    worded: bool = False  # in the same words
    there: bool = False  # in the same passage


_MATCH_ORDER = (
    _MatchCriteria(2, worded=True, there=True),
    _MatchCriteria(2, worded=True),
    _MatchCriteria(2, there=True),
    _MatchCriteria(1, there=True),
    _MatchCriteria(2),
)


def match_previous_edges(
    found: Sequence[EdgeCandidate], before: Sequence[EdgeAssertion], common_ends: CommonEnds
) -> list[EdgeAssertion | None]:
    """For each which one told it before: the very same, or else each for one, and rather the one
    that is most like it. What was taken out takes no other's place."""
    again = [_find_same(each.assertion, before, common_ends) for each in found]
    told = {known.id for known in again if known is not None}
    free = [known for known in before if known.id not in told]
    for likeness in _MATCH_ORDER:
        for place, each in enumerate(found):
            if again[place] is not None or (each.is_suppressed and likeness.ends < 2):
                continue
            like = [k for k in free if _is_match(each.assertion, k, likeness, common_ends)]
            if like:
                free.remove(like[0])
                again[place] = like[0]
    return again


def reword_edge(known: EdgeAssertion, assertion: EdgeAssertion) -> EdgeAssertion:
    """Its edge stays the one that it was. What is more than another wording is known only now."""
    after = _with_known_ids(known, assertion)
    if replace(after, a=known.a, b=known.b) == known:
        return known
    worded = replace(
        known,
        a=after.a,
        b=after.b,
        source=after.source,
        description=after.description,
        confidence=after.confidence,
    )
    return after if after == worded else replace(after, recorded_at=assertion.recorded_at)


def _find_same(
    assertion: EdgeAssertion, before: Sequence[EdgeAssertion], common_ends: CommonEnds
) -> EdgeAssertion | None:
    for known in before:
        same = replace(_with_known_ids(known, assertion), a=known.a, b=known.b)
        if same == known and common_ends(assertion, known) == 2:
            return known
    return None


def _is_match(
    assertion: EdgeAssertion,
    known: EdgeAssertion,
    likeness: _MatchCriteria,
    common_ends: CommonEnds,
) -> bool:
    return (
        (assertion.type, assertion.ends) == (known.type, known.ends)
        and common_ends(assertion, known) >= likeness.ends
        and (not likeness.worded or assertion.description == known.description)
        and (not likeness.there or _passage_of(assertion) == _passage_of(known))
    )


def _with_known_ids(known: EdgeAssertion, assertion: EdgeAssertion) -> EdgeAssertion:
    return replace(assertion, id=known.id, edge=known.edge, recorded_at=known.recorded_at)


def _passage_of(assertion: EdgeAssertion) -> int | None:
    return assertion.source.passage if assertion.source else None
