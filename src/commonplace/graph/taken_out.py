"""What a source told when it was last taken in, and is not in the graph any more.

Nobody but by hand takes out what a source goes on to tell. So with each extraction is kept what was
told, and by which telling: where the telling is gone, it was taken out. It is kept as digests, as
the sentences are (heard.py): what somebody wanted gone must not be found in a list of it.

What is told is known again by the names that the source has for it, and not by ids: who is erased,
and told of anew by another sentence, is another node, of whom the old sentences tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product

from commonplace.graph.heard import DIGITS, digest
from commonplace.graph.known import key_of
from commonplace.language.extracting.found import FoundEdge, FoundNode, FoundNote
from commonplace.model.source import Source


@dataclass(slots=True)
class TakenOut:
    source: Source
    gone: dict[str, list[str]]  # what is not told any more: each with its entries
    entries: list[str] = field(default_factory=list)  # to be kept, after this reading

    def has(self, words: Iterable[str]) -> bool:
        return any(digest(self.source, each) in self.gone for each in words)

    def note(self, words: Iterable[str], telling: str | None) -> None:
        """``telling``: which tells it now; None: none, so what was taken out is so from now on."""
        by = digest(self.source, telling) if telling else ""
        for what in (digest(self.source, each) for each in words):
            self.entries += [what + by] if by else self.gone.get(what, ())


def taken_out(source: Source, digests: Iterable[str], tellings: Iterable[str]) -> TakenOut:
    """``digests``: as they were kept; ``tellings``: the ids of those that there still are."""
    there = {digest(source, id) for id in tellings}
    gone: dict[str, list[str]] = {}
    for entry in digests:
        what, by = entry[:DIGITS], entry[DIGITS:]
        if by and by not in there:
            gone.setdefault(what, []).append(entry)
    return TakenOut(source, gone)


def words_of_node(found: FoundNode) -> list[str]:
    """One for each name: with more said or less, another one may be the first."""
    names = (found.name, *found.aliases, *found.addresses)
    return [f"node\n{key}" for key in dict.fromkeys(map(key_of, names))]


def words_of_edge(found: FoundEdge, nodes: Sequence[FoundNode]) -> list[str]:
    ends = product(_names(nodes[found.a]), _names(nodes[found.b]))
    return [f"edge\n{found.type}\n{a}\n{b}" for a, b in ends]


def words_of_note(found: FoundNote, nodes: Sequence[FoundNode]) -> list[str]:
    names = _names(nodes[found.about[0]]) if found.about else [""]
    return [f"note\n{name}\n{found.content}" for name in names]


def _names(node: FoundNode) -> list[str]:
    """The owner is the owner, whatever they are called."""
    return [""] if node.is_owner else [*dict.fromkeys(map(key_of, (node.name, *node.aliases)))]
