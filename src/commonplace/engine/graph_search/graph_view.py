"""Graph view: a snapshot with indexes of names, texts and edges; find the nodes a query names."""

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
from commonplace.language.text.terms import analyse
from commonplace.lazy import lazy_imports
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.elements import Edge
from commonplace.model.graph.salience import AccessStats
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.graph.storylines import Story
from commonplace.model.graph.types import NodeType, names_someone_else
from commonplace.model.sources.source import title_key

with lazy_imports(__name__):
    from commonplace.language.extract.entity_recognition import find_mentions
    from commonplace.language.extract.names.words import TokenizedPassage, split_words
    from commonplace.language.extract.people.entity_resolution import parse_person_name

MIN_NAME_SIMILARITY = 0.9  # Jaro-Winkler: Sarah and Sara, Google and Goggle; not Mark and Mary
MIN_FUZZY_LENGTH = 3  # shorter words match exactly only
NAME_PART_WEIGHT = 0.95  # of one word of a longer name


@dataclass(frozen=True, slots=True)
class SearchableText:
    id: str
    words: str  # folded, a space on either side
    note: Note | None = None  # its note: an expired one does not match


@dataclass(frozen=True, slots=True)
class GraphTextIndex:
    names: Mapping[str, Mapping[str, float]]  # folded name → item id → weight
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
    """The single words that also match this name. "Lena's husband" has none: he is not Lena. A
    storyline has those of its anchor."""
    story = snapshot.story(id)
    if story is not None and name == story.name:
        return []
    node, words = snapshot.nodes.get(story.anchor if story else id), whole.split()
    describes_another = (
        node is not None and node.type is NodeType.PERSON and names_someone_else(name)
    )
    return words if len(words) > 1 and not describes_another else []


def match_texts(
    index: GraphTextIndex, texts: Sequence[str], at: datetime
) -> list[dict[str, ExploreMatch]]:
    """The matches of each text; notes count if they are live at ``at``."""
    wanted = [fold_text(text) for text in texts]
    forms = list(index.names)
    found: list[dict[str, ExploreMatch]] = [{} for _ in texts]
    if forms and texts:
        similarities = cdist(
            wanted,
            forms,
            scorer=JaroWinkler.similarity,
            score_cutoff=MIN_NAME_SIMILARITY,
            dtype=np.float32,
        )
        for row, column in zip(*np.nonzero(similarities), strict=True):
            form, text = forms[column], wanted[row]
            if form != text and min(len(form), len(text)) < MIN_FUZZY_LENGTH:
                continue
            for id, weight in index.names[form].items():
                _keep_best(found[row], id, texts[row], float(similarities[row, column]) * weight)
    for column, text in enumerate(wanted):
        for sentence in index.sentences:
            if text and f" {text} " in sentence.words and _is_live(sentence, at):
                _keep_best(found[column], sentence.id, texts[column], 1.0)
    return found


def fold_text(text: str) -> str:
    """Normalised for comparison, without accents."""
    folded = fold(text)
    return folded if folded.isascii() else " ".join(fold_name(word) for word in folded.split())


def _keep_best(found: dict[str, ExploreMatch], id: str, text: str, similarity: float) -> None:
    previous = found.get(id)
    if previous is None or previous.similarity < similarity:
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
    for story in snapshot.stories():
        yield story.id, story.name
        for name in snapshot.nodes[story.anchor].names:
            yield story.id, name


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
    for story in snapshot.stories():
        if story.description:
            yield story.id, story.description, None


class GraphView:
    """Indexes of one snapshot, built on first use. ``sources``: those whose mentions count; by
    default the sources of the snapshot."""

    def __init__(self, snapshot: GraphSnapshot, sources: Collection[str] | None = None):
        self.snapshot = snapshot
        self.sources = snapshot.sources.keys() if sources is None else sources

    @cached_property
    def nodes_by_name(self) -> Mapping[str, tuple[str, ...]]:
        """Node ids by folded name."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in (*node.names, node.key):
                found[fold_text(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def nodes_by_title(self) -> Mapping[str, tuple[str, ...]]:
        """Node ids by name, in the form that document titles are looked up by."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in node.names:
                found[title_key(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def people(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of people by name, as it is written."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.snapshot.nodes.values():
            for name in node.names if node.type is NodeType.PERSON else ():
                found[name][node.id] = None
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def people_by_word(self) -> Mapping[str, tuple[str, ...]]:
        """The names of people that contain a word."""
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
        """The nodes that each source mentions."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for mention in self.snapshot.mentions:
            if mention.node in self.snapshot.nodes and mention.source in self.sources:
                found[mention.source][mention.node] = None
        return {source: tuple(nodes) for source, nodes in found.items()}

    @cached_property
    def sources_of(self) -> Mapping[str, tuple[str, ...]]:
        """The sources that mention each node."""
        found: dict[str, list[str]] = defaultdict(list)
        for source, nodes in self.nodes_in.items():
            for node in nodes:
                found[node].append(source)
        return {node: tuple(sources) for node, sources in found.items()}

    @cached_property
    def stories_at(self) -> Mapping[str, tuple[Story, ...]]:
        """The storylines and macros of each anchor."""
        found: dict[str, list[Story]] = defaultdict(list)
        for story in self.snapshot.stories():
            found[story.anchor].append(story)
        return {node: tuple(stories) for node, stories in found.items()}

    @cached_property
    def storylines_of(self) -> Mapping[str, tuple[str, ...]]:
        """The storylines that each source belongs to."""
        found: dict[str, list[str]] = defaultdict(list)
        for storyline in self.snapshot.storylines.values():
            for source in storyline.sources:
                found[source.id].append(storyline.id)
        return {source: tuple(storylines) for source, storylines in found.items()}

    @cached_property
    def macros_of(self) -> Mapping[str, tuple[str, ...]]:
        """The macros that each storyline belongs to."""
        found: dict[str, list[str]] = defaultdict(list)
        for macro in self.snapshot.macros.values():
            for storyline in macro.storylines:
                found[storyline].append(macro.id)
        return {storyline: tuple(macros) for storyline, macros in found.items()}

    @cached_property
    def edge_types(self) -> tuple[str, ...]:
        return tuple(sorted({edge.type for edge in self.snapshot.edges.values()}))

    @cached_property
    def owner(self) -> str | None:
        return next((id for id, node in self.snapshot.nodes.items() if node.is_owner), None)

    @cached_property
    def description_terms(self) -> Mapping[str, frozenset[str]]:
        nodes = self.snapshot.nodes
        return {id: frozenset(analyse(node.description)) for id, node in nodes.items()}

    def terms_of_node(self, id: str, at: datetime) -> frozenset[str]:
        """Of its description, and of its notes that are live at a moment."""
        live = (note.content for note in self.snapshot.notes.get(id, ()) if note.is_live(at))
        return self.description_terms[id].union(analyse("\n".join(live)))

    def terms_of_names(self, id: str) -> frozenset[str]:
        """Of its names; "Lena's husband" is not a name of Lena."""
        names = self.snapshot.nodes[id].names
        return frozenset(
            term for name in names if not names_someone_else(name) for term in analyse(name)
        )

    @cached_property
    def _story_terms(self) -> Mapping[str, frozenset[str]]:
        return {
            story.id: frozenset(analyse(story.search_text)) | self.terms_of_names(story.anchor)
            for story in self.snapshot.stories()
        }

    def terms_of_story(self, id: str) -> frozenset[str]:
        """Of its name and text, and of the names of its anchor."""
        return self._story_terms[id]

    @cached_property
    def text_index(self) -> GraphTextIndex:
        return build_text_index(self.snapshot)

    def with_marks(self, marks: Mapping[str, AccessStats]) -> GraphView:
        """A copy with current access statistics. Slow indexes are built first, so that they stay
        cached for later requests."""
        _ = self.nodes_by_name, self.people_by_word, self.edges_at, self.sources_of
        _ = self.text_index, self.description_terms, self.stories_at, self.storylines_of
        other = copy(self)
        other.snapshot = replace(self.snapshot, marks=marks)
        return other


MAX_NAME_WORDS = 8


def match_named_nodes(view: GraphView, query: str) -> dict[str, ExploreMatch]:
    """By whole names; people also by a part of a name: "Dana" matches Dana Levi."""
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
            by=MatchedBy.EXACT if weight == 1.0 else MatchedBy.FUZZY, asked=query, similarity=weight
        )
        for id, weight in found.items()
    }


def _without_names(view: GraphView, query: str, whole: Sequence[str]) -> str:
    """The query without matched names: a question about Dana Levi must not match Dana Cohen."""
    names = (name for id in whole for name in view.snapshot.nodes[id].names)
    name_words = {word for name in names for word in fold_text(name).split()}
    return " ".join(
        word for word in query.split() if not name_words.issuperset(fold_text(word).split())
    )


def find_nodes_by_name(query: str, view: GraphView) -> list[str]:
    """Only whole names match."""
    return list(dict.fromkeys(id for _, ids in _names_in_query(query, view) for id in ids))


def find_certain_nodes(query: str, view: GraphView) -> list[str]:
    """Nodes by whole names, without people whose name is only part of a longer one: "Grace Miller"
    is not the known Grace."""
    name_of = {id: name for name, ids in _names_in_query(query, view) for id in ids}
    people = {id for id in name_of if view.snapshot.nodes[id].type is NodeType.PERSON}
    names = _written_names(query) if people else ()
    return [
        id for id in name_of if id not in people or not _is_part_of_longer_name(name_of[id], names)
    ]


def _written_names(text: str) -> list[str]:
    """The names in a text, known or not, folded and without titles."""
    found = find_mentions(TokenizedPassage(0, text, split_words(text)))
    return [
        fold_text(" ".join(parse_person_name(each.key).parts)) for each in found if not each.phrase
    ]


def _is_part_of_longer_name(name: str, names: Sequence[str]) -> bool:
    """Whether a name occurs only as a part of a longer one."""
    return name not in names and any(f" {name} " in f" {longer} " for longer in names)


def _names_in_query(query: str, view: GraphView) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names with their node ids, longest first; each word belongs to one name at most. A name of
    stop words alone ("It") does not match."""
    words = fold_text(query).split()
    taken: set[int] = set()
    for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = range(start, start + length)
            span_words = words[start : start + length]
            if taken & set(span) or _stop_words().issuperset(span_words):
                continue
            ids = _nodes_named(view, " ".join(span_words))
            if ids:
                taken |= set(span)
                yield " ".join(span_words), ids


@cache
def _stop_words() -> frozenset[str]:
    """Only of languages with different scripts: French stop words are names elsewhere."""
    return stop_words("en") | stop_words("he") | stop_words("ru")


def _nodes_named(view: GraphView, name: str) -> tuple[str, ...]:
    """Also without a Hebrew prefix, unless a stop word would be left."""
    bare = strip_hebrew_prefix(name)
    return view.nodes_by_name.get(name) or (
        () if bare in _stop_words() else view.nodes_by_name.get(bare, ())
    )


def find_people(view: GraphView, query: str) -> list[str]:
    """People by any part of their names; in small graphs also by similar spelling. A description
    with another person's name, "Lena's husband", matches only as a whole."""
    candidates: Collection[str] = view.people.keys()
    if len(candidates) > MAX_GUESSED_NAMES:
        candidates = {
            name for word in name_word_forms(query) for name in view.people_by_word.get(word, ())
        }
    folded_query = f" {fold_text(query)} "
    found = [
        name
        for name in sorted(find_name_words(query, candidates))
        if not names_someone_else(name) or f" {fold_text(name)} " in folded_query
    ]
    return [id for name in found for id in view.people[name]]
