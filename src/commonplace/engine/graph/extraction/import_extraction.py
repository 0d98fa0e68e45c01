"""Import an extraction: resolve nodes, turn findings into assertions, replace older ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

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
from commonplace.engine.graph.merge_split import mark_merged
from commonplace.engine.graph.names import (
    SEVERAL,
    NameIndex,
    ambiguous_first_names,
    name_key,
    resolve_node,
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
from commonplace.model.graph.types import NodeType, is_description
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


def import_extraction(
    work: GraphUnitOfWork,
    known: NameIndex,
    source: Source,
    found: SourceExtraction,
    said_at: Mapping[int, datetime],
    heard: SeenSentences,
) -> tuple[str, ...]:
    """Digests of what it tells now. ``said_at``: when each passage was. ``heard``: what was taken
    in already: what it told and is not told any more was taken out by hand, and stays out."""
    nodes, edges, notes = work.engine.store.assertions(
        work.scope, AssertionQuery(sources=[source.id])
    )
    before = [each.id for told in (nodes, edges, notes) for each in told]
    others, out = without_owner(known), find_suppressed(source, heard.digests, before)
    taking = _ExtractionImport(
        work, known, others, cite_source(source), said_at, heard, out, nodes, [*nodes]
    )
    work.load(t.node for t in nodes)
    for assertion in edges:
        work.load_relations([assertion.a], [assertion.type])
    work.load(note.about for note in notes if note.about.startswith(NODE_PREFIX))
    work.load_edges(note.about for note in notes if not note.about.startswith(NODE_PREFIX))
    places = taking.nodes(found.nodes)
    taking.merge_owner(found.nodes)
    work.load_nodes(places)
    places = [taking.unless_denied(*each) for each in zip(found.nodes, places, strict=True)]
    kept = taking.tell(found, places)
    work.retract(id for id in before if id not in kept)
    return tuple(out.entries)


@dataclass(slots=True)
class _ExtractionImport:
    work: GraphUnitOfWork
    known: NameIndex
    others: NameIndex  # whom anybody but the owner may be
    source: CitedSource
    said_at: Mapping[int, datetime]
    heard: SeenSentences
    out: SuppressedItems
    earlier: Sequence[NodeAssertion]  # what this source told when it was last taken in
    told: list[NodeAssertion]  # and what it tells now

    # ——— who is meant ———

    def nodes(self, found: Sequence[FoundNode]) -> list[str]:
        """The node that each of the found ones is."""
        present = self._present(found)
        counts = Counter(key for n in found for key in {*map(name_key, (n.name, *n.aliases))})
        shared = {key for key, count in counts.items() if count > 1}
        unclear = ambiguous_first_names(n.name for n in found if n.type is NodeType.PERSON)
        return [self._node(each, present, shared, unclear) for each in found]

    def _present(self, found: Iterable[FoundNode]) -> set[str]:
        """Known people who are certain here: by their address, or by their full name."""
        sure = (
            resolve_node(self.others, each.type, [each.name], addresses=each.addresses)
            for each in found
            if each.type is NodeType.PERSON and (each.addresses or " " in each.name)
        )
        return {id for id in sure if id is not None and id is not SEVERAL}

    def _node(
        self, found: FoundNode, present: set[str], shared: set[str], unclear: set[str]
    ) -> str:
        """``shared``: what several here are called, two brothers, says of none who they are;
        ``unclear``: names that several here could be meant by. Then it is a new one."""
        if found.is_owner:
            owner = self.known.owner or load_or_create_owner(self.work, self.known)
            return owner.id
        if told := self._told_before(found, [found.name]):
            return told
        if name_key(found.name) in unclear and not found.addresses:
            return self._new(found)
        aliases = [alias for alias in found.aliases if name_key(alias) not in shared]
        met = resolve_node(
            self.others,
            found.type,
            (found.name, *aliases),
            subtype=found.subtype,
            addresses=found.addresses,
            present=present,
        )
        told = self._told_before(found, [alias for alias in aliases if not is_description(alias)])
        if told is not None and met in (SEVERAL, self.work.root(told)):
            return told
        if met is None or met is SEVERAL:
            return self._of_another_type(found) or self._new(found)
        return met

    def merge_owner(self, found: Sequence[FoundNode]) -> None:
        """Who was met before the owner's address was known, and writes from it, is the owner."""
        for node in self._who_writes_from(found[0].addresses if found else ()):
            if self._is_only_read(node) and could_write_as(node.name, [found[0].name]):
                mark_merged(self.work, load_or_create_owner(self.work, self.known), node)

    def _who_writes_from(self, addresses: Iterable[str]) -> list[Node]:
        """Besides the owner."""
        ids = {self.known.by_address.get(email_key(each) or "") for each in addresses}
        nodes = [self.known.nodes[id] for id in ids if id is not None]
        return [node for node in nodes if not node.is_owner]

    def _is_only_read(self, node: Node) -> bool:
        """Of whom somebody has said who it is, nobody else decides."""
        self.work.load([node.id])
        told = (t for t in self.work.told.values() if self.work.root(t.node) == node.id)
        return all(t.source is not None for t in told)

    def unless_denied(self, found: FoundNode, id: str) -> str:
        """Somebody may have said of this node that it is not called so."""
        node = self.work.node(self.work.root(id))
        if node is None or found.is_owner or found.name in node.names:
            return id
        self.work.load([id])
        own = [t for t in self.work.told.values() if t.source is None]
        said = [t for t in own if self._are_one(t.node, id)]
        return self._new(found) if is_rejected_name(found.name, said) else id

    def _of_another_type(self, found: FoundNode) -> str | None:
        """What this source takes for a Person, say, is an Entity by somebody's word."""
        key, known = name_key(found.name), self.known.by_key
        types = [type for type in NodeType if type is not found.type]
        called = [id for type in types for id in known.get((type, key), ())]
        self.work.load(called)
        told_so = [id for id in called if self._was_told_as(found.type, key, id)]
        return told_so[0] if len(told_so) == 1 else None

    def _was_told_as(self, type: NodeType, key: str, id: str) -> bool:
        told = (t for t in self.work.told.values() if (t.type, t.key) == (type, key))
        return any(self._are_one(t.node, id) for t in told)

    def _told_before(self, found: FoundNode, names: Iterable[str]) -> str | None:
        """Whom this source meant by these names before. Nodes that were merged or split since then
        are still the ones that it speaks of, whoever else could be meant by now."""
        keys = {name_key(name) for name in names}
        told = [t for t in self.earlier if t.type is found.type and t.key in keys]
        same = [t for t in told if t.subtype == found.subtype]
        unsaid = [t for t in told if not (t.subtype and found.subtype)]
        nodes = {t.node for t in same or unsaid if self._goes_on(t.node, found)}
        return nodes.pop() if len(nodes) == 1 else None

    def _goes_on(self, id: str, found: FoundNode) -> bool:
        """Who was forgotten by hand stays so, until they are spoken of again; and who is not the
        owner here is not, though they were taken for the owner before."""
        if self.known.owner is not None and id == self.known.owner.id:
            return False
        node = self.work.node(self.work.root(id))
        return node is not None and (node.purge_at is None or not self.heard.is_new_mention(found))

    def _new(self, found: FoundNode) -> str:
        """Its fields are folded from what is told of it."""
        work = self.work
        key = name_key(found.name)
        if known := self.others.called(found.type, found.subtype, key):
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
            created_by=work.by,
            created_at=work.at,
            updated_at=work.at,
        )
        work.put(node)
        return node.id

    # ——— what is told ———

    def tell(self, found: SourceExtraction, places: Sequence[str]) -> set[str]:
        """The ids of all that this source tells now."""
        nodes = found.nodes
        told = [self._tell_node(node, id) for node, id in zip(nodes, places, strict=True)]
        present = [id if told[place] else None for place, id in enumerate(places)]
        words = [node_suppression_keys(node) for node in nodes]
        words += [edge_suppression_keys(edge, nodes) for edge in found.edges]
        told += self._tell_edges(found, present)
        words += [note_suppression_keys(note, nodes) for note in found.notes]
        told += [self._tell_note(note, nodes, self._about(note, present)) for note in found.notes]
        for what, assertion in zip(words, told, strict=True):
            self.out.note(what, assertion)
        return {id for id in told if id is not None}

    def _is_out(self, words: Iterable[str], places: Iterable[TextLocation]) -> bool:
        """It was taken out by hand, and no new sentence tells it."""
        return self.out.has(words) and not any(map(self.heard.is_new, places))

    def _mine(self, told: Iterable[Asserted]) -> Iterator[Asserted]:
        """What this source is known to tell."""
        return (each for each in told if each.source and each.source.id == self.source.id)

    def _tell_node(self, found: FoundNode, node: str) -> str | None:
        assertion = NodeAssertion(
            id="",
            node=node,
            source=replace(self.source, passage=found.passages[0] if found.passages else None),
            by=self.work.by,
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
        for known in self.told:
            same = replace(assertion, id=known.id, node=known.node, recorded_at=known.recorded_at)
            if same == known and self._are_one(node, known.node):
                return known.id
        is_out = self.out.has(node_suppression_keys(found)) and not self.heard.is_new_mention(found)
        if is_out and not self._tells_of(node):
            return None
        assertion = replace(assertion, id=self.work.engine.new_id())
        self.work.tell(assertion)
        self.told.append(assertion)
        return assertion.id

    def _tells_of(self, node: str) -> bool:
        """In other words than now, perhaps: with more said, a name is read otherwise."""
        return any(self._are_one(assertion.node, node) for assertion in self.told)

    def _are_one(self, one: str, other: str) -> bool:
        """By now: the one may speak for the other."""
        return self.work.root(one) == self.work.root(other)

    def _tell_edges(
        self, found: SourceExtraction, present: Sequence[str | None]
    ) -> Iterator[str | None]:
        """What was told before stays as it is. What is said elsewhere now, or in other words, with
        a fuller name or of one of two who were split, takes the place of what was told."""
        assertion = {
            place: EdgeCandidate(
                self._as_assertion(edge, a, b), self._is_edge_out(edge, found.nodes)
            )
            for place, edge in enumerate(found.edges)
            if (a := present[edge.a]) and (b := present[edge.b]) and a != b
        }
        mine = list(self._mine(self.work.related.values()))
        before = match_previous_edges([*assertion.values()], mine, self._common_ends)
        ids = self._ids_in_order([found.edges[place] for place in assertion])
        told = map(self._tell_edge, assertion.values(), before, ids)
        by_place = dict(zip(assertion, told, strict=True))
        return map(by_place.get, range(len(found.edges)))

    def _ids_in_order(self, edges: Sequence[FoundEdge]) -> list[str]:
        """Of what one source says the later word counts, so ids are in the order of its text."""
        in_order = sorted(range(len(edges)), key=lambda at: edges[at].place)
        ids = sorted(self.work.engine.new_id() for _ in edges)
        return [id for _, id in sorted(zip(in_order, ids, strict=True))]

    def _is_edge_out(self, edge: FoundEdge, nodes: Sequence[FoundNode]) -> bool:
        return self._is_out(edge_suppression_keys(edge, nodes), (edge.place, *edge.repeated))

    def _tell_edge(self, again: EdgeCandidate, known: EdgeAssertion | None, id: str) -> str | None:
        assertion = again.assertion
        if known is not None and self._common_ends(assertion, known) == 2:
            assertion = reword_edge(known, assertion)
        elif known is None and again.is_suppressed:
            return None
        else:
            assertion = replace(assertion, id=id)
        self.work.relate(assertion)
        return assertion.id

    def _common_ends(self, one: EdgeAssertion, other: EdgeAssertion) -> int:
        return self._are_one(one.a, other.a) + self._are_one(one.b, other.b)

    def _as_assertion(self, found: FoundEdge, a: str, b: str) -> EdgeAssertion:
        said = self.said_at.get(found.passage, self.source.said_at)
        return EdgeAssertion(
            id="",
            edge="",
            a=a,
            b=b,
            type=found.type,
            source=replace(self.source, passage=found.passage),
            by=self.work.by,
            recorded_at=self.work.at,
            valid_from=found.valid_from or min(said, found.valid_to or said),
            valid_to=found.valid_to,
            ends=found.ends,
            attitude=found.attitude,
            proximity=found.proximity,
            description=found.description,
            confidence=found.confidence,
        )

    def _about(self, note: FoundNote, places: Sequence[str | None]) -> str | None:
        """Of a relation: its edge, where there is one already, or else the node it names first."""
        nodes = [places[place] for place in note.about]
        if not nodes or None in nodes:
            return None
        speakers = {self.work.root(id) for id in nodes if id is not None}
        for edge in self.work.edges.values():
            if len(nodes) > 1 and edge.stands and set(edge.ends) == speakers:
                return edge.id
        return nodes[0]

    def _tell_note(
        self, found: FoundNote, nodes: Sequence[FoundNode], about: str | None
    ) -> str | None:
        """It counts from the day that it was said: what an old source says of its week is no note
        any more."""
        if about is None:
            return None
        said = self.said_at.get(found.passage, self.source.said_at)
        mine = [n for n in self._mine(self.work.notes.values()) if n.content == found.content]
        for known in mine:
            if self._are_one(known.about, about):
                source = replace(self.source, passage=found.passage)
                if known.source != source:  # it stands elsewhere now
                    self.work.note(replace(known, source=source))
                return known.id
        if self._is_out(note_suppression_keys(found, nodes), [found.place]):
            return None
        for known in mine:
            if known.source and known.source.passage == found.passage:
                self.work.note(replace(known, about=about))  # of one of two who were split
                return known.id
        ends = note_expiry(found.lifetime, said)
        if ends is not None and ends <= self.work.at:
            return None
        note = Note(
            id=OF_NOTES + self.work.engine.new_id(),
            about=about,
            content=found.content,
            added_by=self.work.by,
            date_added=self.work.at,
            expires_at=ends,
            source=replace(self.source, passage=found.passage),
        )
        self.work.note(note)
        return note.id
