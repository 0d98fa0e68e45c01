"""What of a source its reader has heard already: sentence by sentence, and who took part.

A source may be brought again with more in it, or less, or in another order. Where something that it
told is not in the graph any more, somebody has taken it out (taken_out.py), and only new words
bring it back.

Sentences are known again by digests, so that no words outlive the source's own. Each source has
digests of its own, so that what two sources have in common does not show; they hold wherever the
source is known by the name that it came with. Whoever holds the store can still try out what a
short sentence may have been; so can they read the source, and the digests go with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from commonplace.graph.account import words_to_read
from commonplace.graph.known import key_of
from commonplace.language.extracting.found import FoundNode, Place
from commonplace.language.sentences import sentences
from commonplace.model.source import Passage, Source

_BYTES = 6  # of a digest: by chance, two sentences of a long book have one in a million times
DIGITS = 2 * _BYTES


@dataclass(frozen=True, slots=True)
class Heard:
    """By default nothing was, so that all is new."""

    unheard: Mapping[int, Sequence[Place]] | None = None  # the new sentences of each passage
    took_part: frozenset[str] = frozenset()  # keys of names and addresses
    digests: Sequence[str] = ()  # as they were kept

    def is_new(self, place: Place) -> bool:
        if self.unheard is None:
            return True
        new = self.unheard.get(place.passage, ())
        return any(each.start < place.end and place.start < each.end for each in new)

    def speaks_of(self, node: FoundNode) -> bool:
        """Whether it is spoken of in a new sentence; or takes part now, and did not before."""
        if self.unheard is None or node.is_owner:
            return True
        return any(map(self.is_new, node.places)) if node.places else self._joins(node)

    def _joins(self, node: FoundNode) -> bool:
        names = (node.name, *node.aliases, *node.addresses)
        return self.took_part.isdisjoint(map(key_of, names))


def heard_before(source: Source, passages: Iterable[Passage], digests: Sequence[str]) -> Heard:
    """``digests``: as they were made when it was last taken in. What is said twice, and was heard
    once, is new where it stands for the second time."""
    left = Counter(digests)
    unheard: dict[int, list[Place]] = {}
    for passage in passages:
        for place, said in _sentences(source, passage):
            if left[said]:
                left[said] -= 1
            else:
                unheard.setdefault(passage.number, []).append(place)
    known = (key for key in _taking_part(source) if digest(source, key, "") in left)
    return Heard(unheard, frozenset(known), digests)


def digests_of(source: Source, passages: Iterable[Passage]) -> tuple[str, ...]:
    spoken = (said for passage in passages for _, said in _sentences(source, passage))
    return (*(digest(source, key, "") for key in _taking_part(source)), *spoken)


def digest(source: Source, *words: str) -> str:
    said = "\n".join((source.alias, *words))
    return blake2b(said.encode(), digest_size=_BYTES).hexdigest()


def _sentences(source: Source, passage: Passage) -> Iterator[tuple[Place, str]]:
    """Another one's "I live in Haifa" is another sentence."""
    text, end = words_to_read(passage), 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        by = passage.speaker or passage.role or ""
        yield Place(passage.number, start, end), digest(source, by, " ".join(sentence.split()))


def _taking_part(source: Source) -> Iterator[str]:
    addresses = source.provenance.get("addresses")
    known = addresses.values() if isinstance(addresses, Mapping) else ()
    yield from dict.fromkeys(key_of(str(name)) for name in (*source.participants, *known))
