"""Import an extraction: resolve nodes, turn findings into assertions, replace older ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.engine.graph.extraction.mentions import ReplacedCheck, assert_mentions
from commonplace.engine.graph.extraction.previous_extraction import (
    EdgeCandidate,
    SeenSentences,
    SuppressedItems,
    edge_suppression_keys,
    find_suppressed,
    match_previous_edges,
    node_suppression_keys,
    note_suppression_keys,
    reword_edge,
)
from commonplace.engine.graph.kept_ends import drop_lone_ends
from commonplace.engine.graph.merge_split import mark_merged
from commonplace.engine.graph.names import (
    SEVERAL,
    NameIndex,
    ambiguous_first_names,
    name_key,
    resolve_node,
    spoken_key,
    without_owner,
)
from commonplace.engine.graph.unit_of_work import Asserted, GraphUnitOfWork, load_or_create_owner
from commonplace.language.extract.people.participants import could_write_as
from commonplace.language.extract.values import (
    FoundEdge,
    FoundNode,
    FoundNote,
    SourceExtraction,
    TextLocation,
)
from commonplace.language.fields.phone_email import email_key
from commonplace.model.graph.assertion import NOTE_PREFIX as OF_NOTES
from commonplace.model.graph.assertion import (
    CitedSource,
    EdgeAssertion,
    NodeAssertion,
    Note,
    note_expiry,
)
from commonplace.model.graph.elements import NODE_PREFIX, Node
from commonplace.model.graph.node_fold import is_rejected_name
from commonplace.model.graph.snapshot import MODEL_ACTORS
from commonplace.model.graph.types import NodeType, is_description
from commonplace.model.sleep import SLEEP_ACTOR
from commonplace.model.sources.source import Source
from commonplace.store.queries import AssertionQuery


def cite_source(source: Source) -> CitedSource:
    return CitedSource(
        scope=source.scope.key,
        id=source.id,
        source_type=source.source_type,
        said_at=source.started_at or source.created_at,
        sensitivity=source.sensitivity,
    )


def is_by_rules(item: NodeAssertion | EdgeAssertion | Note) -> bool:
    """What rules say and what models say of a source stands side by side: neither replaces the
    other. What a night noted stays."""
    by = item.added_by if isinstance(item, Note) else item.by
    return by not in MODEL_ACTORS and by != SLEEP_ACTOR


def import_extraction(
    work: GraphUnitOfWork,
    known: NameIndex,
    source: Source,
    found: SourceExtraction,
    said_at: Mapping[int, datetime],
    seen: SeenSentences,
    replaces: ReplacedCheck = is_by_rules,
) -> tuple[str, ...]:
    """Returns digests of the extracted items. ``said_at``: the time of each passage. ``seen``: the
    previous extraction, whose removed items stay suppressed. ``replaces``: which of the source's
    assertions are from the previous extraction."""
    nodes, edges, notes = work.engine.store.assertions(
        work.scope, AssertionQuery(sources=[source.id])
    )
    said = [each for each in edges if not each.keeps_ended]
    existing = [each.id for items in (nodes, said, notes) for each in items]
    previous = [each.id for items in (nodes, said, notes) for each in items if replaces(each)]
    hidden = {each.id for items in (nodes, edges, notes) for each in items if not each.stands}
    others, suppressed = without_owner(known), find_suppressed(source, seen.digests, existing)
    importer = _ExtractionImport(
        work,
        known,
        others,
        cite_source(source),
        said_at,
        seen,
        suppressed,
        nodes,
        [*nodes],
        replaces,
        work.by,
    )
    work.load(t.node for t in nodes)
    for assertion in edges:
        work.load_relations([assertion.a], [assertion.type])
    work.load(note.about for note in notes if note.about.startswith(NODE_PREFIX))
    work.load_edges(note.about for note in notes if not note.about.startswith(NODE_PREFIX))
    ids = importer.nodes(found.nodes)
    importer.merge_owner(found.nodes)
    work.load_nodes(ids)
    ids = [importer.unless_rejected(*each) for each in zip(found.nodes, ids, strict=True)]
    kept = importer.assert_all(found, ids)
    kept |= assert_mentions(work, others, importer.source, found, nodes, kept, replaces)
    # What is hidden is from forgotten passages, which may be restored.
    work.retract(id for id in previous if id not in kept and id not in hidden)
    drop_lone_ends(work, source.id)
    return tuple(suppressed.entries)


def import_statements(
    work: GraphUnitOfWork,
    cited: CitedSource,
    found: SourceExtraction,
    said_at: Mapping[int, datetime],
    by: str | None = None,
) -> None:
    """Add what a memory, or a part of a source, says. Nothing that it said before is replaced.
    ``by``: who asserts it; None: who makes the change."""
    known = work.known
    importer = _ExtractionImport(
        work,
        known,
        without_owner(known),
        cited,
        said_at,
        SeenSentences(),
        SuppressedItems(cited.id, {}),
        (),
        [],
        is_by_rules,
        by or work.by,
    )
    ids = importer.nodes(found.nodes)
    work.load_nodes(ids)
    ids = [importer.unless_rejected(*each) for each in zip(found.nodes, ids, strict=True)]
    importer.assert_all(found, ids)


@dataclass(slots=True)
class _ExtractionImport:
    work: GraphUnitOfWork
    known: NameIndex
    others: NameIndex  # without the owner
    source: CitedSource
    said_at: Mapping[int, datetime]
    seen: SeenSentences
    suppressed: SuppressedItems
    previous: Sequence[NodeAssertion]  # of the previous extraction
    assertions: list[NodeAssertion]  # with the new ones
    replaces: ReplacedCheck
    by: str  # who asserts

    # ——— resolve nodes ———

    def nodes(self, found: Sequence[FoundNode]) -> list[str]:
        """The node id of each found node."""
        present = self._present(found)
        counts = Counter(key for n in found for key in {*map(name_key, (n.name, *n.aliases))})
        shared = {key for key, count in counts.items() if count > 1}
        unclear = ambiguous_first_names(n.name for n in found if n.type is NodeType.PERSON)
        return [self._node(each, present, shared, unclear) for each in found]

    def _present(self, found: Iterable[FoundNode]) -> set[str]:
        """Known people whom an address or a full name identifies."""
        resolved = (
            resolve_node(self.others, each.type, [each.name], addresses=each.addresses)
            for each in found
            if each.type is NodeType.PERSON and (each.addresses or " " in each.name)
        )
        return {id for id in resolved if id is not None and id is not SEVERAL}

    def _node(
        self, found: FoundNode, present: set[str], shared: set[str], unclear: set[str]
    ) -> str:
        """``shared``: aliases of several found nodes (two brothers), which identify none of them.
        ``unclear``: names that could mean several found nodes; these get a new node."""
        if found.is_owner:
            owner = self.known.owner or load_or_create_owner(self.work, self.known)
            return owner.id
        if previous := self._previously_asserted(found, [found.name]):
            return previous
        if name_key(found.name) in unclear and not found.addresses:
            return self._new(found)
        aliases = [alias for alias in found.aliases if name_key(alias) not in shared]
        resolved = resolve_node(
            self.others,
            found.type,
            (found.name, *aliases),
            subtype=found.subtype,
            addresses=found.addresses,
            present=present,
        )
        previous = self._previously_asserted(
            found, [alias for alias in aliases if not is_description(alias)]
        )
        if previous is not None and resolved in (SEVERAL, self.work.root(previous)):
            return previous
        if resolved is None or resolved is SEVERAL:
            return self._of_another_type(found) or self._new(found)
        return resolved

    def merge_owner(self, found: Sequence[FoundNode]) -> None:
        """Merge a person who writes from the owner's address into the owner: they were extracted
        before that address was known."""
        if not found or not found[0].is_owner:
            return
        for node in self._people_with_address(found[0].addresses):
            if self._is_only_extracted(node) and could_write_as(node.name, [found[0].name]):
                mark_merged(self.work, load_or_create_owner(self.work, self.known), node)

    def _people_with_address(self, addresses: Iterable[str]) -> list[Node]:
        """The other people with one of these addresses."""
        ids = {self.known.by_address.get(email_key(each) or "") for each in addresses}
        nodes = [self.known.nodes[id] for id in ids if id is not None]
        return [node for node in nodes if not node.is_owner]

    def _is_only_extracted(self, node: Node) -> bool:
        """Whether only sources assert this node: one that a person asserted is not merged."""
        self.work.load([node.id])
        assertions = (
            t for t in self.work.node_assertions.values() if self.work.root(t.node) == node.id
        )
        return all(t.source is not None for t in assertions)

    def unless_rejected(self, found: FoundNode, id: str) -> str:
        """A new node, if a person rejected this name for the resolved node."""
        node = self.work.node(self.work.root(id))
        if node is None or found.is_owner or found.name in node.names:
            return id
        self.work.load([id])
        own = [t for t in self.work.node_assertions.values() if t.source is None]
        on_node = [t for t in own if self._is_same_node(t.node, id)]
        return self._new(found) if is_rejected_name(found.name, on_node) else id

    def _of_another_type(self, found: FoundNode) -> str | None:
        """The only node of this name whose type a person changed from the type found here."""
        key, known = name_key(found.name), self.known.by_key
        types = [type for type in NodeType if type is not found.type]
        named = [id for type in types for id in known.get((type, key), ())]
        self.work.load(named)
        asserted = [id for id in named if self._was_asserted_as(found.type, key, id)]
        return asserted[0] if len(asserted) == 1 else None

    def _was_asserted_as(self, type: NodeType, key: str, id: str) -> bool:
        assertions = (
            t for t in self.work.node_assertions.values() if (t.type, t.key) == (type, key)
        )
        return any(self._is_same_node(t.node, id) for t in assertions)

    def _previously_asserted(self, found: FoundNode, names: Iterable[str]) -> str | None:
        """The node that this source meant by these names before. It takes precedence over other
        candidates, so that merges and splits made since then stay."""
        keys = {name_key(name) for name in names}
        assertions = [t for t in self.previous if t.type is found.type and spoken_key(t) in keys]
        same_subtype = [t for t in assertions if t.subtype == found.subtype]
        without_subtype = [t for t in assertions if not (t.subtype and found.subtype)]
        same_type = same_subtype or without_subtype or self._by_other_reader(assertions)
        nodes = {t.node for t in same_type if self._may_continue(t.node, found)}
        return nodes.pop() if len(nodes) == 1 else None

    def _by_other_reader(self, assertions: Iterable[NodeAssertion]) -> list[NodeAssertion]:
        """A name of a source is one thing, also if rules take it for a project and a model for a
        product: the first one that it was taken for."""
        is_model = self.by in MODEL_ACTORS
        others = [each for each in assertions if (each.by in MODEL_ACTORS) is not is_model]
        return sorted(others, key=lambda each: (each.recorded_at, each.id))[:1]

    def _may_continue(self, id: str, found: FoundNode) -> bool:
        """A forgotten node stays forgotten until a new sentence mentions it. A found node that was
        taken for the owner before, and is not now, gets another node."""
        if self.known.owner is not None and id == self.known.owner.id:
            return False
        node = self.work.node(self.work.root(id))
        return node is not None and (node.purge_at is None or not self.seen.is_new_mention(found))

    def _new(self, found: FoundNode) -> str:
        """Its fields are computed from its assertions later."""
        work = self.work
        key = name_key(found.name)
        if known := self.others.by_primary_name(found.type, found.subtype, key):
            return known
        for node in work.changed_nodes.values():
            if (node.type, node.subtype, node.key) == (found.type, found.subtype, key):
                return node.id
        node = Node(
            id=NODE_PREFIX + work.engine.new_id(),
            user_id=work.scope.name,
            type=found.type,
            subtype=found.subtype,
            name=found.name,
            key=key,
            created_by=self.by,
            created_at=work.at,
            updated_at=work.at,
        )
        work.put(node)
        return node.id

    # ——— assertions ———

    def assert_all(self, found: SourceExtraction, node_ids: Sequence[str]) -> set[str]:
        """Returns the ids of all assertions and notes that this source has now."""
        nodes = found.nodes
        asserted = [self._assert_node(node, id) for node, id in zip(nodes, node_ids, strict=True)]
        present = [id if asserted[position] else None for position, id in enumerate(node_ids)]
        keys = [node_suppression_keys(node) for node in nodes]
        keys += [edge_suppression_keys(edge, nodes) for edge in found.edges]
        asserted += self._assert_edges(found, present)
        keys += [note_suppression_keys(note, nodes) for note in found.notes]
        asserted += [
            self._assert_note(note, nodes, self._about(note, present)) for note in found.notes
        ]
        for item_keys, assertion in zip(keys, asserted, strict=True):
            self.suppressed.record(item_keys, assertion)
        return {id for id in asserted if id is not None}

    def _is_suppressed(self, keys: Iterable[str], locations: Iterable[TextLocation]) -> bool:
        """It was removed by a person, and no new sentence asserts it."""
        return self.suppressed.has(keys) and not any(map(self.seen.is_new, locations))

    def _of_this_source(self, items: Iterable[Asserted]) -> Iterator[Asserted]:
        """The items that cite this source."""
        return (each for each in items if each.source and each.source.id == self.source.id)

    def _assert_node(self, found: FoundNode, node: str) -> str | None:
        assertion = NodeAssertion(
            id="",
            node=node,
            source=replace(self.source, passage=found.passages[0] if found.passages else None),
            by=self.by,
            recorded_at=self.work.at,
            type=found.type,
            name=found.name,
            key=name_key(found.name),
            subtype=found.subtype,
            aliases=found.aliases,
            addresses=found.addresses,
            description=found.description,
            confidence=found.confidence,
        )
        for known in self.assertions:
            same = replace(assertion, id=known.id, node=known.node, recorded_at=known.recorded_at)
            if same == known and self._is_same_node(node, known.node):
                return known.id
        is_suppressed = self.suppressed.has(
            node_suppression_keys(found)
        ) and not self.seen.is_new_mention(found)
        if is_suppressed and not self._asserts(node):
            return None
        assertion = replace(assertion, id=self.work.engine.new_id())
        self.work.put_assertion(assertion)
        self.assertions.append(assertion)
        return assertion.id

    def _asserts(self, node: str) -> bool:
        """Whether this source asserts the node already, perhaps with another name."""
        return any(self._is_same_node(assertion.node, node) for assertion in self.assertions)

    def _is_same_node(self, one: str, other: str) -> bool:
        """Whether two ids have the same merge root."""
        return self.work.root(one) == self.work.root(other)

    def _assert_edges(
        self, found: SourceExtraction, present: Sequence[str | None]
    ) -> Iterator[str | None]:
        """Unchanged assertions stay. One that moved, was reworded, has a fuller name or belongs to
        one of two split nodes replaces its previous assertion."""
        candidates = {
            position: EdgeCandidate(
                self._as_assertion(edge, a, b), self._is_edge_suppressed(edge, found.nodes)
            )
            for position, edge in enumerate(found.edges)
            if (a := present[edge.a]) and (b := present[edge.b]) and a != b
        }
        known = self._of_this_source(self.work.edge_assertions.values())
        existing = [each for each in known if not each.keeps_ended and self.replaces(each)]
        previous = match_previous_edges([*candidates.values()], existing, self._common_ends)
        ids = self._ids_in_order([found.edges[position] for position in candidates])
        asserted = map(self._assert_edge, candidates.values(), previous, ids)
        by_position = dict(zip(candidates, asserted, strict=True))
        return map(by_position.get, range(len(found.edges)))

    def _ids_in_order(self, edges: Sequence[FoundEdge]) -> list[str]:
        """Ids in the order of the text: of one source, the later statement counts."""
        in_order = sorted(range(len(edges)), key=lambda at: edges[at].place)
        ids = sorted(self.work.engine.new_id() for _ in edges)
        return [id for _, id in sorted(zip(in_order, ids, strict=True))]

    def _is_edge_suppressed(self, edge: FoundEdge, nodes: Sequence[FoundNode]) -> bool:
        return self._is_suppressed(edge_suppression_keys(edge, nodes), (edge.place, *edge.repeated))

    def _assert_edge(
        self, candidate: EdgeCandidate, previous: EdgeAssertion | None, id: str
    ) -> str | None:
        assertion = candidate.assertion
        if previous is not None and self._common_ends(assertion, previous) == 2:
            assertion = reword_edge(previous, assertion)
        elif previous is None and candidate.is_suppressed:
            return None
        else:
            assertion = replace(assertion, id=id)
        self.work.put_relation(assertion)
        return assertion.id

    def _common_ends(self, one: EdgeAssertion, other: EdgeAssertion) -> int:
        return self._is_same_node(one.a, other.a) + self._is_same_node(one.b, other.b)

    def _as_assertion(self, found: FoundEdge, a: str, b: str) -> EdgeAssertion:
        said_at = self.said_at.get(found.passage, self.source.said_at)
        return EdgeAssertion(
            id="",
            edge="",
            a=a,
            b=b,
            type=found.type,
            source=replace(self.source, passage=found.passage, said_at=said_at),
            by=self.by,
            recorded_at=self.work.at,
            valid_from=found.valid_from or min(said_at, found.valid_to or said_at),
            valid_to=found.valid_to,
            ends=found.ends,
            attitude=found.attitude,
            proximity=found.proximity,
            description=found.description,
            confidence=found.confidence,
        )

    def _about(self, note: FoundNote, node_ids: Sequence[str | None]) -> str | None:
        """A note on a relation is about its edge, if there is one; else about the first node."""
        nodes = [node_ids[position] for position in note.about]
        if not nodes or None in nodes:
            return None
        roots = {self.work.root(id) for id in nodes if id is not None}
        for edge in self.work.edges.values():
            if len(nodes) > 1 and edge.stands and set(edge.ends) == roots:
                return edge.id
        return nodes[0]

    def _assert_note(
        self, found: FoundNote, nodes: Sequence[FoundNode], about: str | None
    ) -> str | None:
        """A note's lifetime starts when it is added, whatever the date of its source."""
        if about is None:
            return None
        existing = [
            n for n in self._of_this_source(self.work.notes.values()) if n.content == found.content
        ]
        if any(self._is_same_node(n.about, about) for n in existing if not self.replaces(n)):
            return None  # somebody else noted it in the same words
        existing = [n for n in existing if self.replaces(n)]
        for previous in existing:
            if self._is_same_node(previous.about, about):
                source = replace(self.source, passage=found.passage)
                if previous.source != source:  # it moved to another passage
                    self.work.put_note(replace(previous, source=source))
                return previous.id
        if self._is_suppressed(note_suppression_keys(found, nodes), [found.place]):
            return None
        for previous in existing:
            if previous.source and previous.source.passage == found.passage:
                self.work.put_note(replace(previous, about=about))  # of one of two split nodes
                return previous.id
        note = Note(
            id=OF_NOTES + self.work.engine.new_id(),
            about=about,
            content=found.content,
            added_by=self.by,
            date_added=self.work.at,
            expires_at=note_expiry(found.lifetime, self.work.at),
            source=replace(self.source, passage=found.passage),
        )
        self.work.put_note(note)
        return note.id
