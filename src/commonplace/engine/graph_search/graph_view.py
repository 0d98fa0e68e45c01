"""Graph view: a snapshot indexed by names and texts; nodes that a query names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property

import numpy as np
from rapidfuzz.distance import JaroWinkler
from rapidfuzz.process import cdist

from commonplace.engine.graph_search.explore_result import ExploreMatch, MatchedBy
from commonplace.language.extract.entity_recognition import find_mentions
from commonplace.language.extract.names.words import TokenizedPassage, split_words
from commonplace.language.extract.people.entity_resolution import parse_person_name
from commonplace.language.fields.names import (
    MAX_GUESSED_NAMES,
    find_name_words,
    fold_name,
    name_parts,
    name_word_forms,
    strip_hebrew_prefix,
)
from commonplace.language.text.lexicon import stop_words
from commonplace.language.text.normalise import fold
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.elements import Edge
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.types import NodeType, names_someone_else
from commonplace.model.sources.source import title_key

MIN_NAME_SIMILARITY = 0.9  # of Jaro-Winkler: Sarah and Sara, Google and Goggle; not Mark and Mary
MIN_FUZZY_LENGTH = 3  # shorter words are met only as they are written
NAME_PART_WEIGHT = 0.95  # what one word of a name of several is worth


@dataclass(frozen=True, slots=True)
class SearchableText:
    id: str
    words: str  # folded, a space on either side
    note: Note | None = None  # which it is from: one that has ended is not met


@dataclass(frozen=True, slots=True)
class GraphTextIndex:
    names: Mapping[str, Mapping[str, float]]  # a folded name → whose it is → what it is worth
    sentences: Sequence[SearchableText]


def build_text_index(snapshot: GraphSnapshot) -> GraphTextIndex:
    names: dict[str, dict[str, float]] = defaultdict(dict)
    for id, name in _item_names(snapshot):
        whole = fold_text(name)
        names[whole][id] = 1.0
        for word in _name_words(snapshot, id, name, whole):
            names[word].setdefault(id, NAME_PART_WEIGHT)
    names.pop("", None)
    return GraphTextIndex(names, [_searchable_text(*each) for each in _item_texts(snapshot)])


def _name_words(snapshot: GraphSnapshot, id: str, name: str, whole: str) -> list[str]:
    """Words that it is met by as well. Of "Lena's husband" none: he is not called Lena."""
    node, words = snapshot.nodes.get(id), whole.split()
    is_another = node is not None and node.type is NodeType.PERSON and names_someone_else(name)
    return words if len(words) > 1 and not is_another else []


def match_texts(
    spelled: GraphTextIndex, texts: Sequence[str], at: datetime
) -> list[dict[str, ExploreMatch]]:
    """For each text, what it meets, by the notes that are live at a moment."""
    wanted = [fold_text(text) for text in texts]
    forms = list(spelled.names)
    found: list[dict[str, ExploreMatch]] = [{} for _ in texts]
    if forms and texts:
        alike = cdist(
            wanted,
            forms,
            scorer=JaroWinkler.similarity,
            score_cutoff=MIN_NAME_SIMILARITY,
            dtype=np.float32,
        )
        for row, place in zip(*np.nonzero(alike), strict=True):
            form, text = forms[place], wanted[row]
            if form != text and min(len(form), len(text)) < MIN_FUZZY_LENGTH:
                continue
            for id, worth in spelled.names[form].items():
                _keep_best(found[row], id, texts[row], float(alike[row, place]) * worth)
    for place, text in enumerate(wanted):
        for sentence in spelled.sentences:
            if text and f" {text} " in sentence.words and _is_live(sentence, at):
                _keep_best(found[place], sentence.id, texts[place], 1.0)
    return found


def fold_text(text: str) -> str:
    """As texts are compared, and without accents."""
    plain = fold(text)
    return plain if plain.isascii() else " ".join(fold_name(word) for word in plain.split())


def _keep_best(found: dict[str, ExploreMatch], id: str, text: str, similarity: float) -> None:
    before = found.get(id)
    if before is None or before.similarity < similarity:
        similarity = min(1.0, similarity)
        by = MatchedBy.EXACT if similarity == 1.0 else MatchedBy.FUZZY
        found[id] = ExploreMatch(by=by, asked=text, similarity=similarity)


def _is_live(sentence: SearchableText, at: datetime) -> bool:
    return sentence.note is None or sentence.note.is_live(at)


def _searchable_text(id: str, text: str, note: Note | None) -> SearchableText:
    return SearchableText(id, f" {fold_text(text)} ", note)


def _item_names(snapshot: GraphSnapshot) -> Iterator[tuple[str, str]]:
    for node in snapshot.nodes.values():
        for name in (*node.names, node.key):
            yield node.id, name
    for source in snapshot.sources.values():
        for word in (*source.keywords, *source.tags):
            yield source.id, word
    for edge in snapshot.edges.values():
        yield edge.id, edge.type
    for artifact in snapshot.artifacts.values():
        yield artifact.id, artifact.name


def _item_texts(snapshot: GraphSnapshot) -> Iterator[tuple[str, str, Note | None]]:
    for edge in snapshot.edges.values():
        if edge.description:
            yield edge.id, edge.description, None
        for note in snapshot.notes.get(edge.id, ()):
            yield edge.id, note.content, note
    for artifact in snapshot.artifacts.values():
        if artifact.description:
            yield artifact.id, artifact.description, None
        if isinstance(artifact.output, str):
            yield artifact.id, artifact.output, None


class GraphView:
    """Worth keeping for as long as its picture is. ``sources``: of which mentions are looked at;
    else those of the picture."""

    def __init__(self, snapshot: GraphSnapshot, sources: Collection[str] | None = None):
        self.snapshot = snapshot
        self.sources = snapshot.sources.keys() if sources is None else sources

    @cached_property
    def called(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each folded name is."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in (*node.names, node.key):
                found[fold_text(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def called_like_titles(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each name is, written as titles of documents are looked up."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in node.names:
                found[title_key(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def people(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each name of a person is, as it is written."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in node.names if node.type is NodeType.PERSON else ():
                found[name][node.id] = None
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def people_by_word(self) -> Mapping[str, tuple[str, ...]]:
        """In which names of people a word stands."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.people:
            for word in dict.fromkeys(name_parts(name)):
                found[word].append(name)
        return {word: tuple(names) for word, names in found.items()}

    @cached_property
    def edges_at(self) -> Mapping[str, tuple[Edge, ...]]:
        found: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.snapshot.edges.values():
            for end in dict.fromkeys(edge.ends):
                found[end].append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def nodes_in(self) -> Mapping[str, tuple[str, ...]]:
        """Which nodes a source speaks of."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for mention in self.snapshot.mentions:
            if mention.node in self.snapshot.nodes and mention.source in self.sources:
                found[mention.source][mention.node] = None
        return {source: tuple(nodes) for source, nodes in found.items()}

    @cached_property
    def sources_of(self) -> Mapping[str, tuple[str, ...]]:
        """Which sources speak of a node."""
        found: dict[str, list[str]] = defaultdict(list)
        for source, nodes in self.nodes_in.items():
            for node in nodes:
                found[node].append(source)
        return {node: tuple(sources) for node, sources in found.items()}

    @cached_property
    def spelled(self) -> GraphTextIndex:
        return build_text_index(self.snapshot)

    def with_marks(self, marks: Mapping[str, AccessStats]) -> GraphView:
        """The same, as readings have left it by now. What takes long is worked out before, so that
        it is there for everybody who comes after."""
        _ = self.called, self.people_by_word, self.edges_at, self.sources_of, self.spelled
        other = copy(self)
        other.snapshot = replace(self.snapshot, marks=marks)
        return other


MAX_NAME_WORDS = 8  # words


def match_named_nodes(view: GraphView, query: str) -> dict[str, ExploreMatch]:
    """By a whole name, or people by a part of theirs: "Dana" names Dana Levi."""
    people = frozenset(find_people(view, query))
    whole = [
        id
        for id in find_nodes_by_name(query, view)
        if id in people or view.snapshot.nodes[id].type is not NodeType.PERSON
    ]
    parts = find_people(view, _without_names(view, query, whole))
    found = dict.fromkeys(parts, NAME_PART_WEIGHT) | dict.fromkeys(whole, 1.0)
    return {
        id: ExploreMatch(
            by=MatchedBy.EXACT if worth == 1.0 else MatchedBy.FUZZY, asked=query, similarity=worth
        )
        for id, worth in found.items()
    }


def _without_names(view: GraphView, query: str, whole: Sequence[str]) -> str:
    """Who asks about Dana Levi does not ask about Dana Cohen."""
    names = (name for id in whole for name in view.snapshot.nodes[id].names)
    used = {word for name in names for word in fold_text(name).split()}
    return " ".join(word for word in query.split() if not used.issuperset(fold_text(word).split()))


def find_nodes_by_name(query: str, view: GraphView) -> list[str]:
    """By whole names."""
    return list(dict.fromkeys(id for _, ids in _names_in_query(query, view) for id in ids))


def find_certain_nodes(query: str, view: GraphView) -> list[str]:
    """Those of them for whom nobody else can be meant: "Grace Miller" is not the Grace who is known
    here, be it that she is the only one."""
    said = {id: name for name, ids in _names_in_query(query, view) for id in ids}
    people = {id for id in said if view.snapshot.nodes[id].type is NodeType.PERSON}
    names = _written_names(query) if people else ()
    return [id for id in said if id not in people or not _is_part_of_longer_name(said[id], names)]


def _written_names(text: str) -> list[str]:
    """The names in a text, known or not, folded and without titles."""
    found = find_mentions(TokenizedPassage(0, text, split_words(text)))
    return [
        fold_text(" ".join(parse_person_name(each.key).parts)) for each in found if not each.phrase
    ]


def _is_part_of_longer_name(said: str, names: Sequence[str]) -> bool:
    """Whether a name never stands alone, but always as a part of a longer one."""
    return said not in names and any(f" {said} " in f" {name} " for name in names)


def _names_in_query(query: str, view: GraphView) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names, and whose they are: the longest first, each word in one of them. A name of small words
    alone ("It") is not taken for one."""
    words = fold_text(query).split()
    taken: set[int] = set()
    for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = range(start, start + length)
            said = words[start : start + length]
            if taken & set(span) or _small_words().issuperset(said):
                continue
            whole = _nodes_called(view, " ".join(said))
            if whole:
                taken |= set(span)
                yield " ".join(said), whole


@cache
def _small_words() -> frozenset[str]:
    """Of languages that share no letters: those of French are names elsewhere."""
    return stop_words("en") | stop_words("he") | stop_words("ru")


def _nodes_called(view: GraphView, name: str) -> tuple[str, ...]:
    """In Hebrew also without its prefix, unless a small word would be left."""
    bare = strip_hebrew_prefix(name)
    return view.called.get(name) or (() if bare in _small_words() else view.called.get(bare, ()))


def find_people(view: GraphView, query: str) -> list[str]:
    """By one of their names as well, or, among a few, by one that is spelt alike. What describes
    them by another's name, "Lena's husband", names them only as a whole."""
    near: Collection[str] = view.people.keys()
    if len(near) > MAX_GUESSED_NAMES:
        near = {
            name for word in name_word_forms(query) for name in view.people_by_word.get(word, ())
        }
    said = f" {fold_text(query)} "
    found = [
        name
        for name in sorted(find_name_words(query, near))
        if not names_someone_else(name) or f" {fold_text(name)} " in said
    ]
    return [id for name in found for id in view.people[name]]
