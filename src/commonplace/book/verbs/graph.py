"""The personal graph: people, concepts and things, and how they relate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book.requests import optional_word
from commonplace.book.verbs.handle import MAX_K, Handle, Moment, Texts, several
from commonplace.engine.graph_search.cypher.schema import describe
from commonplace.errors import InvalidInput, MissingField
from commonplace.graph import saying
from commonplace.graph.known import key_of
from commonplace.graph.own_word import MOST_NAMES
from commonplace.graph.saying import Noted, Related, SaidNode, SplitNode
from commonplace.graph.seen import seen
from commonplace.language.contacts import email_key
from commonplace.model import check
from commonplace.model.graph.given_name import given_name
from commonplace.model.graph.note import Lifetime
from commonplace.model.graph.words import NodeType
from commonplace.model.time_travel import Then
from commonplace.model.ttl_policy import TtlPolicy
from commonplace.recall.explore.asked import asked_for
from commonplace.recall.explore.result import ExploreResult
from commonplace.recall.graph import nodes as shown
from commonplace.recall.graph.contributions import Contribution, contributions
from commonplace.recall.graph.drawing import Format, drawn
from commonplace.recall.graph.exploring import explored
from commonplace.recall.graph.traversing import Traversed, queried, walked_from
from commonplace.recall.walk import DAMPING, MAX_DEPTH, TOP_K, walk_asked

LONGEST_WRITTEN = 300  # names as sources have them, and addresses
LONGEST_TEXT = 32_000
MODES = ("ppr", "cypher")
_OF_WALKS = {"seed_nodes": None, "max_depth": MAX_DEPTH, "damping": DAMPING, "top_k": TOP_K}
_OF_QUERIES = {"cypher": None, "params": None, "verbose": False}
_UNLESS_GIVEN: Mapping[str, object] = {**_OF_WALKS, **_OF_QUERIES}
_WHICH_TAKES = (
    f"ppr takes {', '.join(_OF_WALKS)}, as_of and known_at; cypher takes {', '.join(_OF_QUERIES)}."
)
_SHORTER_QUERY = "Give long values as params, and ask in several queries."


class OfTheGraph(Handle):
    # ——— looking at it ———

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
        sorts = () if types is None else check.words(several(types), "types")
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
            self._desk,
            self.principal,
            types,
            subtypes=subtypes,
            limit=check.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else check.id(after, "after"),
            include_archived=check.flag(include_archived, "include_archived"),
        )

    def node(
        self, id: str, *, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> shown.WholeNode:
        """Show a node with its relationships, notes and sources.

        By id or name; `me` is the owner. as_of: what was true then. known_at: what was known then.
        """
        then = self._moments(as_of, known_at)
        return shown.show_node(self._desk, self.principal, check.word(id, "id"), then)

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
            self._desk,
            self.principal,
            optional_word(node, "node"),
            () if types is None else check.words(several(types), "types"),
            self._moments(as_of, known_at),
            limit=check.integer(limit, "limit", 1, MAX_K),
            after=None if after is None else check.id(after, "after"),
            past=check.flag(past, "past"),
        )

    def contributions(
        self, *, by: str | None = None, limit: int = 50, after: str | None = None
    ) -> tuple[Contribution, ...]:
        """List graph assertions, newest first, with who made them.

        Nodes, relationships and notes; with by, those of one contributor."""
        return contributions(
            self._desk,
            self.principal,
            optional_word(by, "by"),
            check.integer(limit, "limit", 1, MAX_K),
            None if after is None else check.id(after, "after"),
        )

    def graph(self, *, format: str = "json", past: bool = False) -> str:
        """Export the graph as JSON, Graphviz DOT or GraphML."""
        chosen = check.choice(format, "format", Format, {})
        over = check.flag(past, "past")
        return drawn(
            seen(self._desk, self.principal).picture, chosen, self._desk.clock(), past=over
        )

    # ——— saying something of it ———

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
    ) -> SaidNode:
        """Add a person, concept or entity to the graph.

        If a node with this name or alias exists, it is updated, and fields that are not given stay.
        An Entity has a type: organization, location, project, product, event, group."""
        kind = check.choice(node_type, "node_type", NodeType, {})
        if type is not None and kind is not NodeType.ENTITY:
            raise InvalidInput("Only an Entity can have a type.", field="type")
        called = name_given(name, "name")
        said = _said(type, description, aliases, addresses)
        policy = _policy(ttl_policy)
        return saying.say_node(self._desk, self.principal, kind, called, said, policy)

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
    ) -> SaidNode:
        """Update a node: name, type, description, aliases.

        Aliases and addresses are added to existing ones; not_aliases and not_addresses reject them,
        even if sources use them. The id stays the same."""
        said = _said(type, description, aliases, addresses)
        if name is not None:
            said["name"] = name_given(name, "name")
        if node_type is not None:
            said["type"] = check.choice(node_type, "node_type", NodeType, {})
        if not_aliases is not None or not_addresses is not None:
            theirs = _addresses(not_addresses, "not_addresses")
            said["not_called"] = (*_written(not_aliases, "not_aliases"), *theirs)
        policy = _policy(ttl_policy)
        if not said and policy is None:
            raise MissingField("No field to change was given.", field="name")
        named = check.word(id, "id")
        return saying.change_node(self._desk, self.principal, named, said, policy)

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
    ) -> Related:
        """Add a relationship between two nodes.

        relationship_type is one word: friend, works-at, part-of. Nodes by id or name; `me` is the
        owner. A relationship that it contradicts ends on that date; history is kept. ended: mark it
        as over. attitude and proximity run from 1 to 5."""
        since = None if valid_from is None else check.when(valid_from, "valid_from")
        until = None if valid_to is None else check.when(valid_to, "valid_to")
        if since is not None and until is not None and until < since:
            raise InvalidInput("valid_to must not be before valid_from.", field="valid_to")
        return saying.say_relation(
            self._desk,
            self.principal,
            check.word(from_node, "from_node"),
            check.word(to_node, "to_node"),
            relation_word(relationship_type),
            description="" if description is None else text_given(description, "description"),
            attitude=None if attitude is None else check.integer(attitude, "attitude", 1, 5),
            proximity=None if proximity is None else check.integer(proximity, "proximity", 1, 5),
            confidence=check.number(confidence, "confidence", 0, 1),
            valid_from=since or until,
            valid_to=until,
            ends=check.flag(ended, "ended"),
        )

    def note(self, about: Texts, content: str, *, lifetime: str = "month") -> Noted:
        """Add a note to a node or a relationship.

        By node id or name, edge id, or two nodes. It expires after a week, a month or a year, or
        never."""
        named = check.words(several(about), "about")
        if not 1 <= len(named) <= 2:
            raise InvalidInput("about must be one node, one edge, or two nodes.", field="about")
        chosen = check.choice(lifetime, "lifetime", Lifetime, {})
        said = text_given(content, "content")
        return saying.add_note(self._desk, self.principal, named, said, chosen)

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
        return saying.split_node(
            self._desk,
            self.principal,
            check.word(id, "id"),
            None if name is None else name_given(name, "name"),
            _written(names, "names"),
            () if sources is None else check.ids(sources, "sources"),
        )

    # ——— searching it ———

    def explore(
        self,
        *,
        queries: Sequence[Mapping[str, Any]] | None = None,
        text_matches: Texts | None = None,
        relationship_filters: Mapping[str, Any] | None = None,
        granularity: int,
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
        relationships. granularity 1: sources, 2: storylines, 3: macros."""
        asked = asked_for(
            granularity=granularity,
            queries=queries,
            text_matches=None if text_matches is None else several(text_matches),
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
        return explored(self._desk, self.principal, asked)

    def traverse(
        self,
        mode: str | None = None,
        *,
        seed_nodes: Texts | None = None,
        max_depth: int = MAX_DEPTH,
        damping: float = DAMPING,
        top_k: int = TOP_K,
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
        if check.flag(schema, "schema"):
            return describe()
        usual = "ppr" if cypher is None else "cypher"
        chosen = usual if mode is None else mode
        if chosen not in MODES:
            raise InvalidInput(f"mode must be ppr or cypher, not {mode!r}.", field="mode")
        then = self._moments(as_of, known_at)
        if chosen == "cypher":
            walking = {"seed_nodes": seed_nodes, "max_depth": max_depth, "damping": damping}
            _refuse_of_the_other_mode(chosen, {**walking, "top_k": top_k})
            if cypher is None:
                raise MissingField("mode cypher needs a query.", field="cypher")
            _refuse_moments(then)
            text = check.text(cypher, "cypher", shorten=_SHORTER_QUERY)
            long = check.flag(verbose, "verbose")
            return queried(self._desk, self.principal, text, _params(params), long)
        _refuse_of_the_other_mode(
            chosen, {"cypher": cypher, "params": params or None, "verbose": verbose}
        )
        if seed_nodes is None:
            raise MissingField("mode ppr needs seed_nodes.", field="seed_nodes")
        walk = walk_asked(
            seed_nodes=several(seed_nodes), damping=damping, max_depth=max_depth, top_k=top_k
        )
        return walked_from(self._desk, self.principal, walk, then)


def _refuse_of_the_other_mode(mode: str, given: Mapping[str, object]) -> None:
    """What would have no effect is not passed over in silence."""
    for name, value in given.items():
        if value != _UNLESS_GIVEN[name]:
            raise InvalidInput(f"mode {mode} takes no {name}.", remedy=_WHICH_TAKES, field=name)


def _refuse_moments(then: Then) -> None:
    if not then.is_now:
        raise InvalidInput(
            "mode cypher takes no as_of or known_at: a query sees all edges.",
            remedy="Filter by time in the query: r.valid_from, r.valid_to, r.recorded_at.",
            field="as_of" if then.as_of else "known_at",
        )


def name_given(given: object, field: str) -> str:
    name = given_name(given, field)
    if not key_of(name):
        raise InvalidInput(f"{field} has no visible characters.", field=field)
    return name


def text_given(given: object, field: str) -> str:
    return check.text(given, field, LONGEST_TEXT)


def _names(given: Texts | None, field: str) -> tuple[str, ...]:
    return tuple(name_given(each, field) for each in _listed(given, field))


def _written(given: Texts | None, field: str) -> tuple[str, ...]:
    """Names that are there already, whatever a source has put into them."""
    return tuple(check.text(each, field, LONGEST_WRITTEN) for each in _listed(given, field))


def _listed(given: Texts | None, field: str) -> list[object]:
    return [] if given is None else check.several(given, field, MOST_NAMES)


def _addresses(given: Texts | None, field: str = "addresses") -> tuple[str, ...]:
    written = _written(given, field)
    for each in written:
        if email_key(each) is None:
            raise InvalidInput(f"{each[:100]!r} is not an email address.", field=field)
    return written


def _params(given: object) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput("params must be a map of names to values.", field="params")
    return given


def _policy(given: object) -> TtlPolicy | None:
    return None if given is None else check.choice(given, "ttl_policy", TtlPolicy, {})


def _said(
    type: str | None, description: str | None, aliases: Texts | None, addresses: Texts | None
) -> dict[str, Any]:
    """What is given of it, as fields of a NodeWord."""
    said: dict[str, Any] = {}
    if type is not None:
        said["subtype"] = check.word(type, "type").casefold()
    if description is not None:
        said["description"] = text_given(description, "description")
    if aliases is not None:
        said["aliases"] = _names(aliases, "aliases")
    if addresses is not None:
        said["addresses"] = _addresses(addresses)
    return said


def relation_word(given: object) -> str:
    """One word, in small letters."""
    word = check.word(given, "relationship_type").strip().casefold()
    if not any(each.isalnum() for each in word):
        raise InvalidInput("relationship_type must be one word.", field="relationship_type")
    return "-".join(word.replace("_", "-").split())
