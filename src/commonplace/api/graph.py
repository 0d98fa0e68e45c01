"""Graph verbs: list, show, edit, explore and traverse nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.api.handle import MAX_K, Moment, Texts, UserHandle, as_list, optional_word
from commonplace.errors import InvalidInput, MissingField
from commonplace.language.fields.phone_email import email_key
from commonplace.lazy import lazy_imports
from commonplace.model import validation
from commonplace.model.graph.assertion import NoteLifetime
from commonplace.model.graph.node_fold import check_node_name
from commonplace.model.graph.types import NodeType, stored_type
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.lifecycle import PointInTime
from commonplace.model.parameters import (
    EXPLORE_GRANULARITY,
    WALK_DAMPING,
    WALK_MAX_DEPTH,
    WALK_TOP_K,
    GraphFormat,
)

with lazy_imports(__name__):
    from commonplace.engine.graph import edit, user_assertions
    from commonplace.engine.graph.edit import AddedNote, SplitNode, UpsertedNode, UpsertedRelation
    from commonplace.engine.graph.names import name_key
    from commonplace.engine.graph.visible_graph import visible_graph
    from commonplace.engine.graph_search import listing as shown
    from commonplace.engine.graph_search.cypher.schema import describe
    from commonplace.engine.graph_search.explore import explore
    from commonplace.engine.graph_search.explore_request import read_explore_request
    from commonplace.engine.graph_search.explore_result import ExploreResult
    from commonplace.engine.graph_search.export_formats import export_graph
    from commonplace.engine.graph_search.listing import Contribution, list_contributions
    from commonplace.engine.graph_search.pagerank import read_pagerank_request
    from commonplace.engine.graph_search.stories.story_listing import (
        MacroPage,
        StorylinePage,
        list_macros,
        list_storylines,
    )
    from commonplace.engine.graph_search.traverse import (
        Traversed,
        traverse_by_cypher,
        traverse_by_pagerank,
    )

MAX_NAME = 300  # characters of names and addresses
MAX_TEXT = 32_000
TRAVERSE_MODES = ("ppr", "cypher")
_WALK_DEFAULTS = {
    "seed_nodes": None,
    "max_depth": WALK_MAX_DEPTH,
    "damping": WALK_DAMPING,
    "top_k": WALK_TOP_K,
}
_QUERY_DEFAULTS = {"cypher": None, "params": None, "verbose": False}
_DEFAULTS: Mapping[str, object] = {**_WALK_DEFAULTS, **_QUERY_DEFAULTS}
_MODE_REMEDY = (
    f"ppr takes {', '.join(_WALK_DEFAULTS)}, as_of and known_at; "
    f"cypher takes {', '.join(_QUERY_DEFAULTS)}."
)
_SHORTER_QUERY_REMEDY = "Give long values as params, and ask in several queries."


class GraphVerbs(UserHandle):
    # ——— reading ———

    def people(
        self, *, limit: int = 50, after: str | None = None, include_archived: bool = False
    ) -> shown.NodePage:
        """List people in the graph, highest salience first.

        The owner is included."""
        return self._nodes((NodeType.PERSON,), (), limit, after, include_archived)

    def concepts(
        self, *, limit: int = 50, after: str | None = None, include_archived: bool = False
    ) -> shown.NodePage:
        """List concepts: goals, preferences, worries, topics."""
        return self._nodes((NodeType.CONCEPT,), (), limit, after, include_archived)

    def entities(
        self,
        *,
        types: Texts | None = None,
        limit: int = 50,
        after: str | None = None,
        include_archived: bool = False,
    ) -> shown.NodePage:
        """List entities: organizations, locations, projects, events.

        Entity types: organization, location, project, product, event, group."""
        sorts = () if types is None else validation.words(as_list(types), "types")
        return self._nodes((NodeType.ENTITY,), sorts, limit, after, include_archived)

    def _nodes(
        self,
        types: Sequence[NodeType],
        subtypes: Sequence[str],
        limit: int,
        after: str | None,
        include_archived: bool,
    ) -> shown.NodePage:
        return shown.list_nodes(
            self._engine,
            self.principal,
            types,
            subtypes=subtypes,
            limit=validation.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else validation.id(after, "after"),
            include_archived=validation.flag(include_archived, "include_archived"),
        )

    def storylines(
        self,
        *,
        open: bool | None = None,
        anchor: str | None = None,
        limit: int = 50,
        after: str | None = None,
        include_archived: bool = False,
    ) -> StorylinePage:
        """List storylines, newest first.

        What many sources say about one thing over weeks. open: only those that still go on, or
        only those that are over. anchor: of one person, concept or thing, by id or name. `show`
        has one in full, with its sources."""
        return list_storylines(
            self._engine,
            self.principal,
            is_open=None if open is None else validation.flag(open, "open"),
            anchor=optional_word(anchor, "anchor"),
            limit=validation.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else validation.id(after, "after"),
            include_archived=validation.flag(include_archived, "include_archived"),
        )

    def macros(
        self,
        *,
        anchor: str | None = None,
        limit: int = 50,
        after: str | None = None,
        include_archived: bool = False,
    ) -> MacroPage:
        """List macros, newest first.

        What several storylines say over months. anchor: of one person, concept or thing, by id or
        name. `show` has one in full, with its storylines and sources."""
        return list_macros(
            self._engine,
            self.principal,
            anchor=optional_word(anchor, "anchor"),
            limit=validation.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else validation.id(after, "after"),
            include_archived=validation.flag(include_archived, "include_archived"),
        )

    def node(
        self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> shown.WholeNode:
        """Show a node with its relationships, notes and sources.

        By id or name; `me` is the owner. as_of: what was true then. known_at: what was known then.
        """
        then = self._moments(as_of, known_at)
        return shown.show_node(self._engine, self.principal, validation.word(id, "id"), then)

    def edges(
        self,
        *,
        node: str | None = None,
        types: Texts | None = None,
        past: bool = False,
        limit: int = 50,
        after: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> shown.EdgePage:
        """List relationships, highest salience first.

        Optionally of one node, or of some types. past: include relationships that have ended."""
        return shown.list_edges(
            self._engine,
            self.principal,
            optional_word(node, "node"),
            ()
            if types is None
            else tuple(map(stored_type, validation.words(as_list(types), "types"))),
            self._moments(as_of, known_at),
            limit=validation.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else validation.id(after, "after"),
            past=validation.flag(past, "past"),
        )

    def contributions(
        self, *, by: str | None = None, limit: int = 50, after: str | None = None
    ) -> tuple[Contribution, ...]:
        """List graph assertions, newest first, with who made them.

        Nodes, relationships and notes; with by, those of one contributor."""
        return list_contributions(
            self._engine,
            self.principal,
            optional_word(by, "by"),
            validation.integer(limit, "limit", 1, MAX_K),
            None if after is None else validation.id(after, "after"),
        )

    def graph(self, *, format: str = "json", past: bool = False) -> str:
        """Export the graph as JSON, Graphviz DOT or GraphML."""
        chosen = validation.choice(format, "format", GraphFormat, {})
        over = validation.flag(past, "past")
        return export_graph(
            visible_graph(self._engine, self.principal).snapshot,
            chosen,
            self._engine.clock(),
            past=over,
        )

    # ——— editing ———

    def nodes_add(
        self,
        name: str,
        *,
        node_type: str = "Person",
        type: str | None = None,
        description: str | None = None,
        aliases: Texts | None = None,
        addresses: Texts | None = None,
        ttl_policy: str | None = None,
    ) -> UpsertedNode:
        """Add a person, concept or entity to the graph.

        If a node with this name or alias exists, it is updated, and fields that are not given stay.
        An Entity has a type: organization, location, project, product, event, group."""
        kind = validation.choice(node_type, "node_type", NodeType, {})
        if type is not None and kind is not NodeType.ENTITY:
            raise InvalidInput("Only an Entity can have a type.", field="type")
        called = read_name(name, "name")
        fields = _read_node_fields(type, description, aliases, addresses)
        policy = _read_policy(ttl_policy)
        return edit.upsert_node(self._engine, self._request, kind, called, fields, policy)

    def nodes_update(
        self,
        id: str,
        *,
        name: str | None = None,
        node_type: str | None = None,
        type: str | None = None,
        description: str | None = None,
        aliases: Texts | None = None,
        not_aliases: Texts | None = None,
        addresses: Texts | None = None,
        not_addresses: Texts | None = None,
        ttl_policy: str | None = None,
    ) -> UpsertedNode:
        """Update a node: name, type, description, aliases.

        Aliases and addresses are added to existing ones; not_aliases and not_addresses reject them,
        even if sources use them. The id stays the same."""
        fields = _read_node_fields(type, description, aliases, addresses)
        if name is not None:
            fields["name"] = read_name(name, "name")
        if node_type is not None:
            fields["type"] = validation.choice(node_type, "node_type", NodeType, {})
        if not_aliases is not None or not_addresses is not None:
            theirs = _read_addresses(not_addresses, "not_addresses")
            fields["not_called"] = (*_read_known_names(not_aliases, "not_aliases"), *theirs)
        policy = _read_policy(ttl_policy)
        if not fields and policy is None:
            raise MissingField("No field to change was given.", field="name")
        named = validation.word(id, "id")
        return edit.update_node(self._engine, self._request, named, fields, policy)

    def relate(
        self,
        from_node: str,
        to_node: str,
        relationship_type: str,
        *,
        description: str | None = None,
        attitude: int | None = None,
        proximity: int | None = None,
        confidence: float = 0.8,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        ended: bool = False,
    ) -> UpsertedRelation:
        """Add a relationship between two nodes.

        relationship_type is one word: friend, works-at, part-of. Nodes by id or name; `me` is the
        owner. A relationship that it contradicts ends on that date; history is kept. ended: mark it
        as over. attitude and proximity run from 1 to 5."""
        since = None if valid_from is None else validation.when(valid_from, "valid_from")
        until = None if valid_to is None else validation.when(valid_to, "valid_to")
        if since is not None and until is not None and until < since:
            raise InvalidInput("valid_to must not be before valid_from.", field="valid_to")
        return edit.upsert_relation(
            self._engine,
            self._request,
            validation.word(from_node, "from_node"),
            validation.word(to_node, "to_node"),
            read_relationship_type(relationship_type),
            description="" if description is None else read_text(description, "description"),
            attitude=None if attitude is None else validation.integer(attitude, "attitude", 1, 5),
            proximity=None
            if proximity is None
            else validation.integer(proximity, "proximity", 1, 5),
            confidence=validation.number(confidence, "confidence", 0, 1),
            valid_from=since or until,
            valid_to=until,
            ends=validation.flag(ended, "ended"),
        )

    def note(self, about: Texts, content: str, *, lifetime: str = "month") -> AddedNote:
        """Add a note to a node or a relationship.

        By node id or name, edge id, or two nodes. It expires after a week, a month or a year, or
        never."""
        named = validation.words(as_list(about), "about")
        if not 1 <= len(named) <= 2:
            raise InvalidInput(
                "about must be one node, one edge, or two nodes.",
                remedy="Give one or two names or ids. On a command line, put quotes around the "
                "text of the note and around names of several words.",
                field="about",
            )
        chosen = validation.choice(lifetime, "lifetime", NoteLifetime, {})
        text = read_text(content, "content")
        return edit.add_note(self._engine, self._request, named, text, chosen)

    def split(
        self,
        id: str,
        *,
        name: str | None = None,
        names: Texts | None = None,
        sources: Texts | None = None,
    ) -> SplitNode:
        """Split a node: undo a merge, or separate two people.

        By the id of a merged node; or move what was asserted under some names, or by some sources,
        to a new node with its own name."""
        return edit.split_node(
            self._engine,
            self._request,
            validation.word(id, "id"),
            None if name is None else read_name(name, "name"),
            _read_known_names(names, "names"),
            () if sources is None else validation.ids(sources, "sources"),
        )

    # ——— searching ———

    def explore(
        self,
        query: str | None = None,
        *,
        queries: Sequence[str | Mapping[str, Any]] | None = None,
        text_matches: Texts | None = None,
        relationship_filters: Mapping[str, Any] | None = None,
        granularity: int = EXPLORE_GRANULARITY,
        multi_query: bool | None = None,
        mode: str = "fast",
        time_weight: float = 0.3,
        salience_weight: float = 0.4,
        semantic_weight: float = 0.3,
        return_explanations: bool = False,
        include_archived: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> ExploreResult:
        """Explore what is known about a topic in the graph.

        Returns people, concepts, entities, relationships, and the sources that mention them. Use it
        for "what do I know about …"; recall answers a question about a fact, traverse follows
        relationships. granularity 1: sources, 2: storylines, 3: macros. A query without a threshold
        finds what is nearly as similar as the best."""
        request = read_explore_request(
            granularity=granularity,
            query=query,
            queries=queries,
            text_matches=None if text_matches is None else as_list(text_matches),
            relationship_filters=relationship_filters,
            multi_query=multi_query,
            mode=mode,
            time_weight=time_weight,
            salience_weight=salience_weight,
            semantic_weight=semantic_weight,
            return_explanations=return_explanations,
            include_archived=include_archived,
            then=self._moments(as_of, known_at),
        )
        return explore(self._engine, self.principal, request)

    def traverse(
        self,
        mode: str | None = None,
        *,
        seed_nodes: Texts | None = None,
        max_depth: int = WALK_MAX_DEPTH,
        damping: float = WALK_DAMPING,
        top_k: int = WALK_TOP_K,
        cypher: str | None = None,
        params: Mapping[str, Any] | None = None,
        verbose: bool = False,
        schema: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> Traversed | str:
        """Follow relationships: PageRank or a Cypher query.

        mode ppr ranks what is connected with the seed_nodes (ids or names); mode cypher runs a
        read-only openCypher query, and is the default when one is given. schema: list the labels
        and properties that a query can use."""
        if validation.flag(schema, "schema"):
            return describe()
        usual = "ppr" if cypher is None else "cypher"
        chosen = usual if mode is None else mode
        if chosen not in TRAVERSE_MODES:
            raise InvalidInput(f"mode must be ppr or cypher, not {mode!r}.", field="mode")
        then = self._moments(as_of, known_at)
        if chosen == "cypher":
            walking = {"seed_nodes": seed_nodes, "max_depth": max_depth, "damping": damping}
            _refuse_other_mode(chosen, {**walking, "top_k": top_k})
            if cypher is None:
                raise MissingField("mode cypher needs a query.", field="cypher")
            _refuse_moments(then)
            text = validation.text(cypher, "cypher", shorten=_SHORTER_QUERY_REMEDY)
            long = validation.flag(verbose, "verbose")
            return traverse_by_cypher(
                self._engine, self.principal, text, _read_params(params), long
            )
        _refuse_other_mode(chosen, {"cypher": cypher, "params": params or None, "verbose": verbose})
        if seed_nodes is None:
            raise MissingField("mode ppr needs seed_nodes.", field="seed_nodes")
        walk = read_pagerank_request(
            seed_nodes=as_list(seed_nodes), damping=damping, max_depth=max_depth, top_k=top_k
        )
        return traverse_by_pagerank(self._engine, self.principal, walk, then)


def _refuse_other_mode(mode: str, given: Mapping[str, object]) -> None:
    """Reject parameters that have no effect in this mode."""
    for name, value in given.items():
        if value != _DEFAULTS[name]:
            raise InvalidInput(f"mode {mode} takes no {name}.", remedy=_MODE_REMEDY, field=name)


def _refuse_moments(then: PointInTime) -> None:
    if not then.is_now:
        raise InvalidInput(
            "mode cypher takes no as_of or known_at: a query sees all edges.",
            remedy="Filter by time in the query: r.valid_from, r.valid_to, r.recorded_at.",
            field="as_of" if then.as_of else "known_at",
        )


def read_name(given: object, field: str) -> str:
    name = check_node_name(given, field)
    if not name_key(name):
        raise InvalidInput(f"{field} has no visible characters.", field=field)
    return name


def read_text(given: object, field: str) -> str:
    return validation.text(given, field, MAX_TEXT)


def _read_names(given: Texts | None, field: str) -> tuple[str, ...]:
    return tuple(read_name(each, field) for each in _read_listed(given, field))


def _read_known_names(given: Texts | None, field: str) -> tuple[str, ...]:
    """Names that exist already; sources may have put any characters into them."""
    return tuple(validation.text(each, field, MAX_NAME) for each in _read_listed(given, field))


def _read_listed(given: Texts | None, field: str) -> list[object]:
    return [] if given is None else validation.several(given, field, user_assertions.MAX_NAMES)


def _read_addresses(given: Texts | None, field: str = "addresses") -> tuple[str, ...]:
    written = _read_known_names(given, field)
    for each in written:
        if email_key(each) is None:
            raise InvalidInput(f"{each[:100]!r} is not an email address.", field=field)
    return written


def _read_params(given: object) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput("params must be a map of names to values.", field="params")
    return given


def _read_policy(given: object) -> TtlPolicy | None:
    return None if given is None else validation.choice(given, "ttl_policy", TtlPolicy, {})


def _read_node_fields(
    type: str | None, description: str | None, aliases: Texts | None, addresses: Texts | None
) -> dict[str, Any]:
    """The given fields, as arguments of NodeInput."""
    fields: dict[str, Any] = {}
    if type is not None:
        fields["subtype"] = validation.word(type, "type").casefold()
    if description is not None:
        fields["description"] = read_text(description, "description")
    if aliases is not None:
        fields["aliases"] = _read_names(aliases, "aliases")
    if addresses is not None:
        fields["addresses"] = _read_addresses(addresses)
    return fields


def read_relationship_type(given: object) -> str:
    """One word, in lower case."""
    word = validation.word(given, "relationship_type").strip().casefold()
    if not any(each.isalnum() for each in word):
        raise InvalidInput("relationship_type must be one word.", field="relationship_type")
    return "-".join(word.replace("_", "-").split())
