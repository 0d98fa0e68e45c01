"""A picture with what explore asks of it again and again, worked out once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property

from commonplace.language.names import name_parts
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.picture import Picture
from commonplace.model.graph.words import NodeType
from commonplace.model.salience import Marks
from commonplace.model.titles import title_key
from commonplace.recall.explore.spelled import Spelled, folded, spelled
from commonplace.recall.latest import Latest


class View:
    """Worth keeping for as long as its picture is. ``sources``: of which mentions are looked at;
    else those of the picture."""

    def __init__(self, picture: Picture, sources: Collection[str] | None = None):
        self.picture = picture
        self.sources = picture.sources.keys() if sources is None else sources

    @cached_property
    def called(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each folded name is."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.picture.nodes.values():
            for name in (*node.names, node.key):
                found[folded(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def called_like_titles(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each name is, written as titles of documents are looked up."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.picture.nodes.values():
            for name in node.names:
                found[title_key(name)][node.id] = None
        found.pop("", None)
        return {name: tuple(ids) for name, ids in found.items()}

    @cached_property
    def people(self) -> Mapping[str, tuple[str, ...]]:
        """Whose each name of a person is, as it is written."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for node in self.picture.nodes.values():
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
        for edge in self.picture.edges.values():
            for end in dict.fromkeys(edge.ends):
                found[end].append(edge)
        return {node: tuple(edges) for node, edges in found.items()}

    @cached_property
    def nodes_in(self) -> Mapping[str, tuple[str, ...]]:
        """Which nodes a source speaks of."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for mention in self.picture.mentions:
            if mention.node in self.picture.nodes and mention.source in self.sources:
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
    def spelled(self) -> Spelled:
        return spelled(self.picture)

    def with_marks(self, marks: Mapping[str, Marks]) -> View:
        """The same, as readings have left it by now. What takes long is worked out before, so that
        it is there for everybody who comes after."""
        _ = self.called, self.people_by_word, self.edges_at, self.sources_of, self.spelled
        other = copy(self)
        other.picture = replace(self.picture, marks=marks)
        return other


class Views(Latest[View]):
    """Those that were looked at last: one for each who looks, as of the graph's revision."""
