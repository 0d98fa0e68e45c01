"""What was found in a source becomes tellings: who is meant is looked up, and who is not known is
new. Taken in again, a source replaces what it told before, and adds nothing to what it repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from commonplace.graph.canvas import Canvas, Told
from commonplace.graph.heard import Heard
from commonplace.graph.known import Known, first_names_of_several, key_of, without_owner
from commonplace.graph.merging import merge
from commonplace.graph.owner import owner_node
from commonplace.graph.resolve import SEVERAL, resolve
from commonplace.graph.taken_out import (
    TakenOut,
    taken_out,
    words_of_edge,
    words_of_node,
    words_of_note,
)
from commonplace.graph.told_again import TellingAgain, reworded, told_before
from commonplace.language.contacts import email_key
from commonplace.language.extracting.found import (
    Extracted,
    FoundEdge,
    FoundNode,
    FoundNote,
    Place,
)
from commonplace.language.extracting.owner_here import may_be
from commonplace.model.graph.fold import is_denied
from commonplace.model.graph.naming import describes
from commonplace.model.graph.node import PREFIX, Node
from commonplace.model.graph.note import PREFIX as OF_NOTES
from commonplace.model.graph.note import Note, expiry
from commonplace.model.graph.telling import Cited, EdgeTelling, NodeTelling
from commonplace.model.graph.words import NodeType
from commonplace.model.source import Source


def cited(source: Source) -> Cited:
    return Cited(
        scope=source.scope.key,
        id=source.id,
        source_type=source.source_type,
        said_at=source.started_at or source.created_at,
        sensitivity=source.sensitivity,
    )


def take_in(
    canvas: Canvas,
    known: Known,
    source: Source,
    found: Extracted,
    said_at: Mapping[int, datetime],
    heard: Heard,
) -> tuple[str, ...]:
    """Digests of what it tells now. ``said_at``: when each passage was. ``heard``: what was taken
    in already: what it told and is not told any more was taken out by hand, and stays out."""
    nodes, edges, notes = canvas.desk.store.told_by(canvas.scope, [source.id])
    before = [each.id for told in (nodes, edges, notes) for each in told]
    others, out = without_owner(known), taken_out(source, heard.digests, before)
    taking = _Taking(canvas, known, others, cited(source), said_at, heard, out, nodes, [*nodes])
    canvas.load(t.node for t in nodes)
    for telling in edges:
        canvas.load_relations([telling.a], [telling.type])
    canvas.load(note.about for note in notes if note.about.startswith(PREFIX))
    canvas.load_edges(note.about for note in notes if not note.about.startswith(PREFIX))
    places = taking.nodes(found.nodes)
    taking.find_the_owner(found.nodes)
    canvas.look_at(places)
    places = [taking.unless_denied(*each) for each in zip(found.nodes, places, strict=True)]
    kept = taking.tell(found, places)
    canvas.untell(id for id in before if id not in kept)
    return tuple(out.entries)


@dataclass(slots=True)
class _Taking:
    canvas: Canvas
    known: Known
    others: Known  # whom anybody but the owner may be
    source: Cited
    said_at: Mapping[int, datetime]
    heard: Heard
    out: TakenOut
    earlier: Sequence[NodeTelling]  # what this source told when it was last taken in
    told: list[NodeTelling]  # and what it tells now

    # ——— who is meant ———

    def nodes(self, found: Sequence[FoundNode]) -> list[str]:
        """The node that each of the found ones is."""
        present = self._present(found)
        counts = Counter(key for n in found for key in {*map(key_of, (n.name, *n.aliases))})
        shared = {key for key, count in counts.items() if count > 1}
        unclear = first_names_of_several(n.name for n in found if n.type is NodeType.PERSON)
        return [self._node(each, present, shared, unclear) for each in found]

    def _present(self, found: Iterable[FoundNode]) -> set[str]:
        """Known people who are certain here: by their address, or by their full name."""
        sure = (
            resolve(self.others, each.type, [each.name], addresses=each.addresses)
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
            owner = self.known.owner or owner_node(self.canvas, self.known)
            return owner.id
        if told := self._told_before(found, [found.name]):
            return told
        if key_of(found.name) in unclear and not found.addresses:
            return self._new(found)
        aliases = [alias for alias in found.aliases if key_of(alias) not in shared]
        met = resolve(
            self.others,
            found.type,
            (found.name, *aliases),
            subtype=found.subtype,
            addresses=found.addresses,
            present=present,
        )
        told = self._told_before(found, [alias for alias in aliases if not describes(alias)])
        if told is not None and met in (SEVERAL, self.canvas.root(told)):
            return told
        if met is None or met is SEVERAL:
            return self._of_another_type(found) or self._new(found)
        return met

    def find_the_owner(self, found: Sequence[FoundNode]) -> None:
        """Who was met before the owner's address was known, and writes from it, is the owner."""
        for node in self._who_writes_from(found[0].addresses if found else ()):
            if self._is_only_read(node) and may_be(node.name, [found[0].name]):
                merge(self.canvas, owner_node(self.canvas, self.known), node)

    def _who_writes_from(self, addresses: Iterable[str]) -> list[Node]:
        """Besides the owner."""
        ids = {self.known.by_address.get(email_key(each) or "") for each in addresses}
        nodes = [self.known.nodes[id] for id in ids if id is not None]
        return [node for node in nodes if not node.is_owner]

    def _is_only_read(self, node: Node) -> bool:
        """Of whom somebody has said who it is, nobody else decides."""
        self.canvas.load([node.id])
        told = (t for t in self.canvas.told.values() if self.canvas.root(t.node) == node.id)
        return all(t.source is not None for t in told)

    def unless_denied(self, found: FoundNode, id: str) -> str:
        """Somebody may have said of this node that it is not called so."""
        node = self.canvas.node(self.canvas.root(id))
        if node is None or found.is_owner or found.name in node.names:
            return id
        self.canvas.load([id])
        own = [t for t in self.canvas.told.values() if t.source is None]
        said = [t for t in own if self._are_one(t.node, id)]
        return self._new(found) if is_denied(found.name, said) else id

    def _of_another_type(self, found: FoundNode) -> str | None:
        """What this source takes for a Person, say, is an Entity by somebody's word."""
        key, known = key_of(found.name), self.known.by_key
        types = [type for type in NodeType if type is not found.type]
        called = [id for type in types for id in known.get((type, key), ())]
        self.canvas.load(called)
        told_so = [id for id in called if self._was_told_as(found.type, key, id)]
        return told_so[0] if len(told_so) == 1 else None

    def _was_told_as(self, type: NodeType, key: str, id: str) -> bool:
        told = (t for t in self.canvas.told.values() if (t.type, t.key) == (type, key))
        return any(self._are_one(t.node, id) for t in told)

    def _told_before(self, found: FoundNode, names: Iterable[str]) -> str | None:
        """Whom this source meant by these names before. Nodes that were merged or split since then
        are still the ones that it speaks of, whoever else could be meant by now."""
        keys = {key_of(name) for name in names}
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
        node = self.canvas.node(self.canvas.root(id))
        return node is not None and (node.purge_at is None or not self.heard.speaks_of(found))

    def _new(self, found: FoundNode) -> str:
        """Its fields are folded from what is told of it."""
        canvas = self.canvas
        key = key_of(found.name)
        if known := self.others.called(found.type, found.subtype, key):
            return known
        for node in canvas.changed_nodes.values():
            if (node.type, node.subtype, node.key) == (found.type, found.subtype, key):
                return node.id
        node = Node(
            id=PREFIX + canvas.desk.new_id(),
            user_id=canvas.scope.name,
            type=found.type,
            subtype=found.subtype,
            name=found.name,
            key=key,
            created_by=canvas.by,
            created_at=canvas.at,
            updated_at=canvas.at,
        )
        canvas.put(node)
        return node.id

    # ——— what is told ———

    def tell(self, found: Extracted, places: Sequence[str]) -> set[str]:
        """The ids of all that this source tells now."""
        nodes = found.nodes
        told = [self._tell_node(node, id) for node, id in zip(nodes, places, strict=True)]
        present = [id if told[place] else None for place, id in enumerate(places)]
        words = [words_of_node(node) for node in nodes]
        words += [words_of_edge(edge, nodes) for edge in found.edges]
        told += self._tell_edges(found, present)
        words += [words_of_note(note, nodes) for note in found.notes]
        told += [self._tell_note(note, nodes, self._about(note, present)) for note in found.notes]
        for what, telling in zip(words, told, strict=True):
            self.out.note(what, telling)
        return {id for id in told if id is not None}

    def _is_out(self, words: Iterable[str], places: Iterable[Place]) -> bool:
        """It was taken out by hand, and no new sentence tells it."""
        return self.out.has(words) and not any(map(self.heard.is_new, places))

    def _mine(self, told: Iterable[Told]) -> Iterator[Told]:
        """What this source is known to tell."""
        return (each for each in told if each.source and each.source.id == self.source.id)

    def _tell_node(self, found: FoundNode, node: str) -> str | None:
        telling = NodeTelling(
            id="",
            node=node,
            source=replace(self.source, passage=found.passages[0] if found.passages else None),
            by=self.canvas.by,
            recorded_at=self.canvas.at,
            type=found.type,
            name=found.name,
            key=key_of(found.name),
            subtype=found.subtype,
            aliases=found.aliases,
            addresses=found.addresses,
            description=found.description,
            confidence=found.confidence,
        )
        for known in self.told:
            same = replace(telling, id=known.id, node=known.node, recorded_at=known.recorded_at)
            if same == known and self._are_one(node, known.node):
                return known.id
        is_out = self.out.has(words_of_node(found)) and not self.heard.speaks_of(found)
        if is_out and not self._tells_of(node):
            return None
        telling = replace(telling, id=self.canvas.desk.new_id())
        self.canvas.tell(telling)
        self.told.append(telling)
        return telling.id

    def _tells_of(self, node: str) -> bool:
        """In other words than now, perhaps: with more said, a name is read otherwise."""
        return any(self._are_one(telling.node, node) for telling in self.told)

    def _are_one(self, one: str, other: str) -> bool:
        """By now: the one may speak for the other."""
        return self.canvas.root(one) == self.canvas.root(other)

    def _tell_edges(self, found: Extracted, present: Sequence[str | None]) -> Iterator[str | None]:
        """What was told before stays as it is. What is said elsewhere now, or in other words, with
        a fuller name or of one of two who were split, takes the place of what was told."""
        telling = {
            place: TellingAgain(self._as_telling(edge, a, b), self._is_edge_out(edge, found.nodes))
            for place, edge in enumerate(found.edges)
            if (a := present[edge.a]) and (b := present[edge.b]) and a != b
        }
        mine = list(self._mine(self.canvas.related.values()))
        before = told_before([*telling.values()], mine, self._common_ends)
        ids = self._ids_in_order([found.edges[place] for place in telling])
        told = map(self._tell_edge, telling.values(), before, ids)
        by_place = dict(zip(telling, told, strict=True))
        return map(by_place.get, range(len(found.edges)))

    def _ids_in_order(self, edges: Sequence[FoundEdge]) -> list[str]:
        """Of what one source says the later word counts, so ids are in the order of its text."""
        in_order = sorted(range(len(edges)), key=lambda at: edges[at].place)
        ids = sorted(self.canvas.desk.new_id() for _ in edges)
        return [id for _, id in sorted(zip(in_order, ids, strict=True))]

    def _is_edge_out(self, edge: FoundEdge, nodes: Sequence[FoundNode]) -> bool:
        return self._is_out(words_of_edge(edge, nodes), (edge.place, *edge.repeated))

    def _tell_edge(self, again: TellingAgain, known: EdgeTelling | None, id: str) -> str | None:
        telling = again.telling
        if known is not None and self._common_ends(telling, known) == 2:
            telling = reworded(known, telling)
        elif known is None and again.is_out:
            return None
        else:
            telling = replace(telling, id=id)
        self.canvas.relate(telling)
        return telling.id

    def _common_ends(self, one: EdgeTelling, other: EdgeTelling) -> int:
        return self._are_one(one.a, other.a) + self._are_one(one.b, other.b)

    def _as_telling(self, found: FoundEdge, a: str, b: str) -> EdgeTelling:
        said = self.said_at.get(found.passage, self.source.said_at)
        return EdgeTelling(
            id="",
            edge="",
            a=a,
            b=b,
            type=found.type,
            source=replace(self.source, passage=found.passage),
            by=self.canvas.by,
            recorded_at=self.canvas.at,
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
        speakers = {self.canvas.root(id) for id in nodes if id is not None}
        for edge in self.canvas.edges.values():
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
        mine = [n for n in self._mine(self.canvas.notes.values()) if n.content == found.content]
        for known in mine:
            if self._are_one(known.about, about):
                source = replace(self.source, passage=found.passage)
                if known.source != source:  # it stands elsewhere now
                    self.canvas.note(replace(known, source=source))
                return known.id
        if self._is_out(words_of_note(found, nodes), [found.place]):
            return None
        for known in mine:
            if known.source and known.source.passage == found.passage:
                self.canvas.note(replace(known, about=about))  # of one of two who were split
                return known.id
        ends = expiry(found.lifetime, said)
        if ends is not None and ends <= self.canvas.at:
            return None
        note = Note(
            id=OF_NOTES + self.canvas.desk.new_id(),
            about=about,
            content=found.content,
            added_by=self.canvas.by,
            date_added=self.canvas.at,
            expires_at=ends,
            source=replace(self.source, passage=found.passage),
        )
        self.canvas.note(note)
        return note.id
