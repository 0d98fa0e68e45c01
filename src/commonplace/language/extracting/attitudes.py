"""What is thought of people, on the edges that tell how they relate: "Priya is great".

An opinion makes no edge of its own, and neither does a feeling for somebody, where it is told how
the two relate: "I miss Lorna" is about a friend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from commonplace.language.extracting.found import FoundEdge, FoundNode
from commonplace.language.extracting.marking import MARK, Marked
from commonplace.language.extracting.relate import FEELINGS, is_question, is_told
from commonplace.language.extracting.table import compiled, data
from commonplace.language.observing.hebrew import is_hebrew
from commonplace.model.graph.words import NodeType

_Pair = frozenset[int]
_WEAK = FEELINGS | {"acquaintance"}  # says nothing where something else is told


def with_attitudes(
    edges: Sequence[FoundEdge], sentences: Iterable[Marked], nodes: Sequence[FoundNode]
) -> list[FoundEdge]:
    related = {_pair(edge) for edge in edges if edge.type not in _WEAK and not edge.ends}
    opinions = dict(_opinions(sentences, nodes))
    for edge in edges:
        if edge.type in FEELINGS and edge.attitude is not None:
            opinions[_pair(edge)] = edge.attitude
    return [
        _with(edge, opinions.get(_pair(edge)), nodes)
        for edge in edges
        if edge.type not in _WEAK or _pair(edge) not in related
    ]


def _pair(edge: FoundEdge) -> _Pair:
    return frozenset((edge.a, edge.b))


def _with(edge: FoundEdge, attitude: int | None, nodes: Sequence[FoundNode]) -> FoundEdge:
    between_people = all(nodes[end].type is NodeType.PERSON for end in (edge.a, edge.b))
    if attitude is None or edge.attitude is not None or edge.ends or not between_people:
        return edge
    return replace(edge, attitude=attitude)


def _opinions(
    sentences: Iterable[Marked], nodes: Sequence[FoundNode]
) -> Iterator[tuple[_Pair, int]]:
    """Whoever speaks thinks so."""
    before: Marked | None = None
    for marked in sentences:
        speaker = marked.utterance.speaker
        if speaker is not None and not is_question(marked.text):
            for person, word in _judged(marked, before, nodes):
                if attitude := _words().get(word.strip(".,!").lower()):
                    yield frozenset((speaker, person)), attitude
        before = marked


def _judged(
    marked: Marked, before: Marked | None, nodes: Sequence[FoundNode]
) -> Iterator[tuple[int, str]]:
    table = data("said")["opinions"]
    pattern = compiled(table["hebrew" if is_hebrew(marked.text) else "person"])
    for match in pattern.finditer(marked.text):
        if is_told(marked.text, match, marked, nodes):
            for _, number, _ in MARK.findall(match["a"]):
                yield int(number), match["word"]
    after = compiled(table["said_after"]).match(marked.text)
    if after and before is not None and len(before.persons) == 1:
        yield before.persons[0], after["word"]


@cache
def _words() -> Mapping[str, int]:
    table = data("said")["opinions"]["words"]
    return {word: int(attitude) for attitude, words in table.items() for word in words.split()}
