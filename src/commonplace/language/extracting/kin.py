"""Names that tell a relation by themselves: "Mum" is the mother of whoever says so, and "Dr. Marsh"
the doctor of whom she wants to rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from commonplace.language.extracting.found import FoundEdge, FoundNode
from commonplace.language.extracting.marking import MARK, PERSON, Marked
from commonplace.language.extracting.relate import is_a_brand, is_question
from commonplace.language.extracting.retelling import retold
from commonplace.language.extracting.table import compiled, data
from commonplace.language.extracting.whose import of
from commonplace.language.normalise import fold
from commonplace.model.graph.naming import describes

_CONFIDENCE = 0.85


def kin(sentences: Iterable[Marked], nodes: Sequence[FoundNode]) -> list[FoundEdge]:
    """Once for a source. "Their mum" is a word, and no name."""
    found: dict[tuple[int, int], FoundEdge] = {}
    for marked in sentences:
        speaker = marked.utterance.speaker
        for mark in MARK.finditer(marked.text):
            letter, number, called = mark.groups()
            node = int(number)
            if letter != PERSON or called or speaker is None or node == speaker:
                continue
            if is_a_brand(marked.text, mark.end()):
                continue
            type = _relation(nodes[node], nodes[speaker]) or _goes_to(
                nodes[node], f"⟨p{number}⟩", marked.text
            )
            known = found.get((speaker, node))
            if type and known:
                found[speaker, node] = known.also_told(marked.utterance.place)
            elif type:
                found[speaker, node] = FoundEdge(
                    a=speaker,
                    b=node,
                    type=type,
                    description=retold(marked, marked.text, nodes),
                    confidence=_CONFIDENCE,
                    place=marked.utterance.place,
                )
    return list(found.values())


def _relation(node: FoundNode, speaker: FoundNode) -> str | None:
    """By the first word of one of its names. Of several uncles each has a name besides; and "Mum"
    alone is the owner's: that of others is "Tamar's mum"."""
    names = [fold(name) for name in (node.name, *node.aliases)]
    for word, type in _kin().items():
        theirs = {fold(of(name, word)) for name in (speaker.name, *speaker.aliases)}
        alone = {word} if speaker.is_owner else theirs
        is_alone = type != "relative" and not alone.isdisjoint(names)
        if is_alone or any(_is_titled(name, word) for name in names):
            return type
    return None


def _is_titled(name: str, word: str) -> bool:
    """ "Grandpa Arne"; «אמא של נועה» is no name."""
    return name.startswith(f"{word} ") and not describes(name)


def _goes_to(node: FoundNode, mark: str, text: str) -> str | None:
    """By a title, where the sentence tells of being with whoever has it."""
    titles = (fold(name).split()[0].strip(".") for name in (node.name, *node.aliases) if name)
    type = next((_titled()[title] for title in titles if title in _titled()), None)
    if type is None or is_question(text):
        return None
    told = (compiled(says) for says in data("said")["goes_to"]["patterns"])
    return type if any(mark in match[0] for each in told for match in each.finditer(text)) else None


@cache
def _titled() -> Mapping[str, str]:
    table = data("said")["titled"]
    return {word: type for type, words in table.items() for word in words.split()}


@cache
def _kin() -> Mapping[str, str]:
    table = data("said")["kin"]
    return {fold(word): type for type, words in table.items() for word in words.split()}
