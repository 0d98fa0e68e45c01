"""What can be met by its words: names are met when they are spelt alike, too, sentences where the
words stand in them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from commonplace.language.names import bare
from commonplace.language.normalise import fold
from commonplace.model.graph.naming import names_another
from commonplace.model.graph.note import Note
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.words import NodeType
from commonplace.recall.explore.explanation import Match, MetBy

ALIKE = 0.9  # of Jaro-Winkler: Sarah and Sara, Google and Goggle; not Mark and Mary
SHORTEST_GUESS = 3  # shorter words are met only as they are written
PART = 0.95  # what one word of a name of several is worth


@dataclass(frozen=True, slots=True)
class Sentence:
    id: str
    words: str  # folded, a space on either side
    note: Note | None = None  # which it is from: one that has ended is not met


@dataclass(frozen=True, slots=True)
class Spelled:
    names: Mapping[str, Mapping[str, float]]  # a folded name → whose it is → what it is worth
    sentences: Sequence[Sentence]


def spelled(picture: Picture) -> Spelled:
    names: dict[str, dict[str, float]] = defaultdict(dict)
    for id, name in _names(picture):
        whole = folded(name)
        names[whole][id] = 1.0
        for word in _parts(picture, id, name, whole):
            names[word].setdefault(id, PART)
    names.pop("", None)
    return Spelled(names, [_sentence(*each) for each in _sentences(picture)])


def _parts(picture: Picture, id: str, name: str, whole: str) -> list[str]:
    """Words that it is met by as well. Of "Lena's husband" none: he is not called Lena."""
    node, words = picture.nodes.get(id), whole.split()
    is_another = node is not None and node.type is NodeType.PERSON and names_another(name)
    return words if len(words) > 1 and not is_another else []


def met(spelled: Spelled, texts: Sequence[str], at: datetime) -> list[dict[str, Match]]:
    """For each text, what it meets, by the notes that are live at a moment."""
    wanted = [folded(text) for text in texts]
    forms = list(spelled.names)
    found: list[dict[str, Match]] = [{} for _ in texts]
    if forms and texts:
        alike = cdist(
            wanted, forms, scorer=JaroWinkler.similarity, score_cutoff=ALIKE, dtype=np.float32
        )
        for row, place in zip(*np.nonzero(alike), strict=True):
            form, text = forms[place], wanted[row]
            if form != text and min(len(form), len(text)) < SHORTEST_GUESS:
                continue
            for id, worth in spelled.names[form].items():
                _keep(found[row], id, texts[row], float(alike[row, place]) * worth)
    for place, text in enumerate(wanted):
        for sentence in spelled.sentences:
            if text and f" {text} " in sentence.words and _is_live(sentence, at):
                _keep(found[place], sentence.id, texts[place], 1.0)
    return found


def folded(text: str) -> str:
    """As texts are compared, and without accents."""
    plain = fold(text)
    return plain if plain.isascii() else " ".join(bare(word) for word in plain.split())


def _keep(found: dict[str, Match], id: str, text: str, similarity: float) -> None:
    before = found.get(id)
    if before is None or before.similarity < similarity:
        similarity = min(1.0, similarity)
        by = MetBy.EXACT if similarity == 1.0 else MetBy.FUZZY
        found[id] = Match(by=by, asked=text, similarity=similarity)


def _is_live(sentence: Sentence, at: datetime) -> bool:
    return sentence.note is None or sentence.note.is_live(at)


def _sentence(id: str, text: str, note: Note | None) -> Sentence:
    return Sentence(id, f" {folded(text)} ", note)


def _names(picture: Picture) -> Iterator[tuple[str, str]]:
    for node in picture.nodes.values():
        for name in (*node.names, node.key):
            yield node.id, name
    for source in picture.sources.values():
        for word in (*source.keywords, *source.tags):
            yield source.id, word
    for edge in picture.edges.values():
        yield edge.id, edge.type
    for artifact in picture.artifacts.values():
        yield artifact.id, artifact.name


def _sentences(picture: Picture) -> Iterator[tuple[str, str, Note | None]]:
    for edge in picture.edges.values():
        if edge.description:
            yield edge.id, edge.description, None
        for note in picture.notes.get(edge.id, ()):
            yield edge.id, note.content, note
    for artifact in picture.artifacts.values():
        if artifact.description:
            yield artifact.id, artifact.description, None
        if isinstance(artifact.output, str):
            yield artifact.id, artifact.output, None
