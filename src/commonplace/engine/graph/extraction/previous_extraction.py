"""Previous extraction of a source: seen sentences, suppressed items, matching edges.

A source may be ingested again with more text, less text or in another order. An item that it
asserted before and that is not in the graph any more was removed by a person: it is suppressed, and
only a new sentence creates it again.

Seen sentences are stored as digests, so that no text outlives the source. The digest includes the
source's alias: equal sentences of two sources have different digests, and digests stay valid where
the source has the same alias. Someone with access to the store can guess short sentences from the
digests; but they can also read the source, and the digests are erased with it.

Each extraction stores digests of the extracted items together with the assertions they became. An
item whose assertion is missing was removed by a person. These are digests, too, because a list of
removed items must not reveal them.

Items are identified by the names in the source and not by node ids: an erased person who is
mentioned again by a new sentence is a new node, and the old sentences do not count for it.
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

# Two sentences of a long book have the same digest with a chance of one in a million.
_DIGEST_BYTES = 6
DIGEST_LENGTH = 2 * _DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class SeenSentences:
    """By default no sentence was seen, so that all are new."""

    new_sentences: Mapping[int, Sequence[TextLocation]] | None = None  # by passage; None: all
    known_participants: frozenset[str] = frozenset()  # keys of names and addresses
    digests: Sequence[str] = ()  # as stored

    def is_new(self, location: TextLocation) -> bool:
        if self.new_sentences is None:
            return True
        new = self.new_sentences.get(location.passage, ())
        return any(each.start < location.end and location.start < each.end for each in new)

    def is_new_mention(self, node: FoundNode) -> bool:
        """True if a new sentence mentions it, or if it is a new participant."""
        if self.new_sentences is None or node.is_owner:
            return True
        return any(map(self.is_new, node.places)) if node.places else self._joins(node)

    def _joins(self, node: FoundNode) -> bool:
        names = (node.name, *node.aliases, *node.addresses)
        return self.known_participants.isdisjoint(map(name_key, names))


def find_seen_sentences(
    source: Source, passages: Iterable[Passage], digests: Sequence[str]
) -> SeenSentences:
    """``digests``: of the previous extraction. If a sentence was seen once and occurs twice now,
    its second occurrence is new."""
    left = Counter(digests)
    unseen: dict[int, list[TextLocation]] = {}
    for passage in passages:
        for location, sentence_digest in _digest_sentences(source, passage):
            if left[sentence_digest]:
                left[sentence_digest] -= 1
            else:
                unseen.setdefault(passage.number, []).append(location)
    known = (key for key in _participant_keys(source) if digest(source.alias, key, "") in left)
    return SeenSentences(unseen, frozenset(known), digests)


def compute_digests(source: Source, passages: Iterable[Passage]) -> tuple[str, ...]:
    sentences = compute_sentence_digests(source, passages)
    return (*(digest(source.alias, key, "") for key in _participant_keys(source)), *sentences)


def compute_sentence_digests(source: Source, passages: Iterable[Passage]) -> list[str]:
    return [
        sentence_digest
        for passage in passages
        for _, sentence_digest in _digest_sentences(source, passage)
    ]


def digest(alias: str, *words: str) -> str:
    text = "\n".join((alias, *words))
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _digest_sentences(source: Source, passage: Passage) -> Iterator[tuple[TextLocation, str]]:
    """The digest includes the speaker: "I live in Haifa" by another person is another sentence."""
    text, end = readable_text(passage), 0
    for sentence in split_sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        by = passage.speaker or passage.role or ""
        yield (
            TextLocation(passage.number, start, end),
            digest(source.alias, by, " ".join(sentence.split())),
        )


def _participant_keys(source: Source) -> Iterator[str]:
    addresses = source.provenance.get("addresses")
    known = addresses.values() if isinstance(addresses, Mapping) else ()
    yield from dict.fromkeys(name_key(str(name)) for name in (*source.participants, *known))


@dataclass(slots=True)
class SuppressedItems:
    alias: str  # of the source
    suppressed: dict[str, list[str]]  # suppressed item → its stored entries
    entries: list[str] = field(default_factory=list)  # to store with this extraction

    def has(self, keys: Iterable[str]) -> bool:
        return any(digest(self.alias, each) in self.suppressed for each in keys)

    def record(self, keys: Iterable[str], assertion: str | None) -> None:
        """``assertion``: the id of the item's assertion; None: the item stays suppressed."""
        by = digest(self.alias, assertion) if assertion else ""
        for item in (digest(self.alias, each) for each in keys):
            self.entries += [item + by] if by else self.suppressed.get(item, ())


def find_suppressed(
    source: Source, digests: Iterable[str], assertions: Iterable[str]
) -> SuppressedItems:
    """``digests``: as stored; ``assertions``: the ids of the source's existing assertions."""
    existing = {digest(source.alias, id) for id in assertions}
    suppressed: dict[str, list[str]] = {}
    for entry in digests:
        item, by = entry[:DIGEST_LENGTH], entry[DIGEST_LENGTH:]
        if by and by not in existing:
            suppressed.setdefault(item, []).append(entry)
    return SuppressedItems(source.alias, suppressed)


def node_suppression_keys(found: FoundNode) -> list[str]:
    """One for each name: in another version of the text another name may be the primary one."""
    names = (found.name, *found.aliases, *found.addresses)
    return [f"node\n{key}" for key in dict.fromkeys(map(name_key, names))]


def edge_suppression_keys(found: FoundEdge, nodes: Sequence[FoundNode]) -> list[str]:
    ends = product(_name_keys(nodes[found.a]), _name_keys(nodes[found.b]))
    return [f"edge\n{found.type}\n{a}\n{b}" for a, b in ends]


def note_suppression_keys(found: FoundNote, nodes: Sequence[FoundNode]) -> list[str]:
    names = _name_keys(nodes[found.about[0]]) if found.about else [""]
    return [f"note\n{name}\n{found.content}" for name in names]


def _name_keys(node: FoundNode) -> list[str]:
    """The owner has one key, whatever their name is."""
    return [""] if node.is_owner else [*dict.fromkeys(map(name_key, (node.name, *node.aliases)))]


CommonEnds = Callable[[EdgeAssertion, EdgeAssertion], int]  # how many ends are the same node now


@dataclass(frozen=True, slots=True)
class EdgeCandidate:
    assertion: EdgeAssertion
    is_suppressed: bool  # it was removed by a person, and no new sentence asserts it


class _MatchCriteria(NamedTuple):
    ends: int  # how many are the same
    same_wording: bool = False  # in the same words
    same_passage: bool = False  # in the same passage


_MATCH_ORDER = (
    _MatchCriteria(2, same_wording=True, same_passage=True),
    _MatchCriteria(2, same_wording=True),
    _MatchCriteria(2, same_passage=True),
    _MatchCriteria(1, same_passage=True),
    _MatchCriteria(2),
)


def match_previous_edges(
    found: Sequence[EdgeCandidate], before: Sequence[EdgeAssertion], common_ends: CommonEnds
) -> list[EdgeAssertion | None]:
    """For each candidate its previous assertion: an equal one, else the most similar one that is
    not used. A suppressed candidate must match both ends."""
    matches = [_find_same(each.assertion, before, common_ends) for each in found]
    used = {known.id for known in matches if known is not None}
    free = [known for known in before if known.id not in used]
    for criteria in _MATCH_ORDER:
        for position, each in enumerate(found):
            if matches[position] is not None or (each.is_suppressed and criteria.ends < 2):
                continue
            similar = [k for k in free if _is_match(each.assertion, k, criteria, common_ends)]
            if similar:
                free.remove(similar[0])
                matches[position] = similar[0]
    return matches


def reword_edge(known: EdgeAssertion, assertion: EdgeAssertion) -> EdgeAssertion:
    """The previous assertion with the new wording, in the same edge. ``recorded_at`` is new only if
    more than the wording changed."""
    after = _with_known_ids(known, assertion)
    if replace(after, a=known.a, b=known.b) == known:
        return known
    reworded = replace(
        known,
        a=after.a,
        b=after.b,
        source=after.source,
        description=after.description,
        confidence=after.confidence,
    )
    return after if after == reworded else replace(after, recorded_at=assertion.recorded_at)


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
    criteria: _MatchCriteria,
    common_ends: CommonEnds,
) -> bool:
    return (
        (assertion.type, assertion.ends) == (known.type, known.ends)
        and common_ends(assertion, known) >= criteria.ends
        and (not criteria.same_wording or assertion.description == known.description)
        and (not criteria.same_passage or _passage_of(assertion) == _passage_of(known))
    )


def _with_known_ids(known: EdgeAssertion, assertion: EdgeAssertion) -> EdgeAssertion:
    return replace(assertion, id=known.id, edge=known.edge, recorded_at=known.recorded_at)


def _passage_of(assertion: EdgeAssertion) -> int | None:
    return assertion.source.passage if assertion.source else None
