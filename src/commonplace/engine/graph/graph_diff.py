"""Graph diff: fold nodes from their assertions again and emit the steps that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.edge_diff import EdgeChange, diff_edges
from commonplace.engine.graph.names import name_key
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, ensure_owner
from commonplace.model.changeset import ChangesetStep
from commonplace.model.graph.assertion import NodeAssertion, Note, is_sensitive
from commonplace.model.graph.elements import Edge, Mentioned, Node
from commonplace.model.graph.node_fold import FoldedNode, add_mention, fold_node
from commonplace.model.graph.steps import (
    PutEdge,
    PutNode,
    PutNote,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
)
from commonplace.model.graph.types import NodeType
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.journal import JournalNode as Place
from commonplace.model.memory.memory import Sensitivity

MAX_SEARCHED_NOTES = 1000  # characters of notes that a node is found by
IsTaken = Callable[[NodeType, str, str], bool]


def diff_graph(
    work: GraphUnitOfWork,
    *,
    ended: Event = Event.DELETE,
    moved: Event | None = None,
    place: Place = Place.HOTPATH,
) -> tuple[ChangesetStep, ...]:
    """``ended``: how the journal tells of what nothing tells of any more; ``moved``: of what goes
    out of sight, or comes back. Edges go before their nodes, and come after them. Whatever comes,
    its owner is there, too."""
    if work.adds_anything:
        ensure_owner(work)
    loom = _GraphDiff(work, ended, moved, place)
    put_nodes, gone_nodes = loom.nodes()
    put_edges, gone_edges = loom.edges()
    gone = {step.id for step in gone_nodes} | {step.id for step in gone_edges}
    put_notes, gone_notes = loom.notes(gone)
    embedded = _embed_steps(work.engine, [*put_nodes, *put_edges])
    return (*gone_notes, *gone_edges, *gone_nodes, *embedded, *put_notes)


class _GraphDiff:
    def __init__(
        self, work: GraphUnitOfWork, ended: Event, moved: Event | None, place: Place
    ) -> None:
        self.work, self.place = work, place
        self.events = {
            Op.CREATE: Event.ADD,
            Op.UPDATE: moved or Event.UPDATE,
            Op.DELETE: ended,
        }
        self.standing: dict[str, Node] = {}  # as they will be, by id
        self.left: set[str] = set()  # those that are gone
        self.changed = list(work.changed_assertions())
        self.gone = list(work.removed_assertions())
        self.noted = {note.about for note in (*work.other_notes(), *work.gone_notes())}
        new = [note for note in work.other_notes() if note.id not in work.before]
        self.new_notes = {note.about for note in new if not is_sensitive(note)}

    # ——— nodes ———

    def nodes(self) -> tuple[list[PutNode], list[RemoveNode]]:
        work = self.work
        touched = {assertion.node for assertion in work.touched_assertions()}
        touched |= set(work.changed_nodes) | {id for id in self.noted if work.node(id)}
        roots = {work.root(id) for id in touched} | {self._root_before(id) for id in touched}
        put: list[PutNode] = []
        gone: list[RemoveNode] = []
        for root in sorted((r for r in roots if work.root(r) == r), key=self._whose_turn):
            self._group(root, put, gone)
        self._hand_on(self._names_left(gone), put, gone)
        return put, gone

    def _names_left(self, gone: Sequence[RemoveNode]) -> list[tuple[NodeType, str]]:
        """By those of whom less is told than before. A name that is only out of sight, with what is
        forgotten, is kept for them."""
        self.left = {step.id for step in gone}
        roots = dict.fromkeys(self._root_before(assertion.node) for assertion in self.gone)
        told_of = [node for root in roots if (node := self.work.nodes.get(root))]
        return [(node.type, node.key) for node in told_of if self._has_left(node)]

    def _has_left(self, before: Node) -> bool:
        after = self.standing.get(before.id)
        return before.id in self.left or (after is not None and after.key != before.key)

    def _hand_on(
        self, names: list[tuple[NodeType, str]], put: list[PutNode], gone: list[RemoveNode]
    ) -> None:
        """To those who are called so, too, and had to be called otherwise; who leave a name then,
        perhaps, to others."""
        while names:
            type, key = names.pop()
            for id in self.work.known.by_key.get((type, key), ()):
                self.work.load([id])
                if not self._may_take(id, key):
                    continue
                members = self.work.group(id)
                put[:] = [step for step in put if step.after.id not in members]
                gone[:] = [step for step in gone if step.id not in members]
                self._group(id, put, gone)
                before = self.work.nodes[id]
                if self._has_left(before):
                    names.append((before.type, before.key))

    def _may_take(self, id: str, key: str) -> bool:
        """Each takes another name once at most: who took the one that they left comes after them,
        since no two have one name at any time."""
        before = self.work.nodes.get(id)
        if before is None or before.is_owner or before.key == key or self._has_left(before):
            return False
        return any(self.work.root(told.node) == id for told in self.work.told.values())

    def _whose_turn(self, root: str) -> tuple[bool, bool, str]:
        """Who spoke for themself before comes first: they keep their name, or leave it free. An
        owner who is new comes before all else that is: they are called what they call themself."""
        before, node = self.work.nodes.get(root), self.work.node(root)
        is_new = before is None or before.merged_into is not None
        return is_new, node is None or not node.is_owner, root

    def _root_before(self, id: str) -> str:
        node = self.work.nodes.get(id)
        return node.merged_into if node and node.merged_into else id

    def _group(self, root: str, put: list[PutNode], gone: list[RemoveNode]) -> None:
        """A node, and those that it speaks for."""
        work = self.work
        node = work.node(root)
        if node is None:
            return
        members = work.group(root)
        if more := self._with_one_more(node, members):
            put += self._put(more, members)
            return
        work.load([root])
        told = [assertion for assertion in work.told.values() if assertion.node in members]
        alive = {assertion.node for assertion in told}
        for member in (work.node(id) for id in members if id != root):
            if member is not None and member.id not in alive:
                gone.append(RemoveNode(member.id, self._entry(Op.DELETE, member)))
            elif member is not None and member != work.nodes.get(member.id):
                put += self._put(member, [member.id])
        if told or node.is_owner:
            put += self._put(self._as_told(node, told), members)
        elif root in work.nodes:
            gone.append(RemoveNode(root, self._entry(Op.DELETE, node)))

    def _as_told(self, node: Node, told: Sequence[NodeAssertion]) -> Node:
        """One of which only forgotten sources tell is hidden, and made of what those say: no word
        of an erased one stays in it until they come back."""
        folded = self._folded(node.id, told)
        if folded is not None or node.is_owner:
            return apply_fold(node, folded)
        hidden = self._folded(node.id, [replace(assertion, stands=True) for assertion in told])
        return apply_fold(node, hidden).evolve(stands=False)

    def _folded(self, root: str, told: Sequence[NodeAssertion]) -> FoldedNode | None:
        return fold_node(told, self._is_taken(root), root, name_key)

    def _with_one_more(self, node: Node, members: Sequence[str]) -> Node | None:
        """Where nothing happens to it but that a source that told nothing of it speaks of it."""
        work = self.work
        if work.is_loaded(node.id) or members != [node.id] or node.id in work.changed_nodes:
            return None
        new = [t for t in self.changed if t.node == node.id]
        return add_mention(node, new[0]) if len(new) == 1 else None

    def _put(self, after: Node, members: Sequence[str]) -> list[PutNode]:
        work = self.work
        before = work.nodes.get(after.id)
        after = replace(after, is_dirty=after.is_dirty or after.id in self.new_notes)
        told = tuple(t for t in self.changed if t.node in members)
        untold = tuple(t.id for t in self.gone if t.node in members)
        self.standing[after.id] = after
        if before == after and not told and not untold and after.id not in self.noted:
            return []
        if before is not None:
            after = replace(after, updated_at=work.at, version=before.version + 1)
            self.standing[after.id] = after
        text = node_search_text(after, self._notes_on(after))
        op = Op.CREATE if before is None else Op.UPDATE
        return [PutNode(before, after, self._entry(op, after), text, None, told, untold)]

    def _is_taken(self, root: str) -> IsTaken:
        """Whether another node has the name; by what is known, and by what is decided here."""
        here = {(n.type, n.subtype, n.key): n.id for n in self.standing.values() if n.stands}

        def is_taken(type: NodeType, subtype: str, key: str) -> bool:
            known = self.work.known.called(type, subtype, key)
            # It may be called otherwise now, or gone.
            before = known if known not in self.standing and known not in self.left else None
            other = here.get((type, subtype, key)) or before
            return other is not None and self.work.root(other) != root

        return is_taken

    # ——— edges ———

    def edges(self) -> tuple[list[PutEdge], list[RemoveEdge]]:
        work = self.work
        woven = diff_edges(work, self._type_of)
        put = [self._put_edge(each) for each in woven.edges if self._is_other(each)]
        met = {each.after.id for each in woven.edges} | {edge.id for edge in woven.gone}
        for id in sorted((self.noted | work.changed_edges.keys()) - met):
            if edge := work.edges.get(id):
                put.append(self._put_edge(EdgeChange(edge, work.changed_edges.get(id, edge))))
        gone = [RemoveEdge(edge.id, self._entry(Op.DELETE, edge)) for edge in woven.gone]
        return put, gone

    def _type_of(self, id: str) -> NodeType:
        node = self.standing.get(id) or self.work.node(id)
        if node is None:
            raise LookupError(f"an edge ends at {id}, which is not there")
        return node.type

    def _is_other(self, each: EdgeChange) -> bool:
        same = each.before == each.after and not each.told and not each.removed_assertions
        return not same or each.after.id in self.noted

    def _put_edge(self, each: EdgeChange) -> PutEdge:
        after = each.after.evolve(
            is_dirty=each.after.is_dirty or each.after.id in self.new_notes,
            updated_at=self.work.at,
            version=each.before.version + 1 if each.before else 1,
        )
        text = after.search_text(" ".join(self._notes_on(after)))
        op = Op.UPDATE if each.before else Op.CREATE
        entry = self._entry(op, after)
        return PutEdge(each.before, after, entry, text, None, each.told, each.removed_assertions)

    # ——— notes ———

    def notes(self, gone: set[str]) -> tuple[list[PutNote], list[RemoveNotes]]:
        """Those of what goes go with it."""
        work = self.work
        put = [
            PutNote(note, self._entry(Op.UPDATE, note))
            for note in work.other_notes()
            if note.about not in gone
        ]
        ended = [note for note in work.gone_notes() if note.about not in gone]
        return put, [RemoveNotes((note.id,), self._entry(Op.DELETE, note)) for note in ended]

    def _notes_on(self, item: Node | Edge) -> list[str]:
        """What a thing is found by is open to all who may see it: of guarded notes nothing, unless
        it is guarded itself."""
        noted = [note for note in self.work.notes.values() if note.about == item.id]
        guarded = item.sensitivity is Sensitivity.HIGH
        shown = [note for note in noted if guarded or not is_sensitive(note)]
        live = [note for note in shown if note.is_live(self.work.at)]
        return [note.content for note in sorted(live, key=_newest_first)]

    # ——— the journal ———

    def _entry(self, op: Op, item: Node | Edge | Note) -> Entry:
        ref = None if isinstance(item, Note) else item.ref
        return Entry(
            op=op,
            event=self.events[op],
            node=self.place,
            subject=item.about if isinstance(item, Note) else item.id,
            category=self._category(item),
            old_ref=ref if op is Op.DELETE else None,
            new_ref=ref if op is not Op.DELETE else None,
        )

    def _category(self, item: Node | Edge | Note) -> str | None:
        """Of an edge, and of what is noted on it, that of the end it begins at."""
        if isinstance(item, Node):
            return item.category
        about = item if isinstance(item, Edge) else self.work.edges.get(item.about)
        node = self.work.node(about.a if about else "" if isinstance(item, Edge) else item.about)
        return node.category if node else None


def apply_fold(node: Node, told: FoldedNode | None) -> Node:
    """The owner is called what they call themself, and is there whoever tells of them."""
    if node.is_owner and (told is None or told.sensitivity is Sensitivity.HIGH):
        return node.evolve(aliases=(), addresses=(), description="", mentioned=Mentioned())
    if told is None:
        return node.evolve(stands=False)
    if node.is_owner:
        return node.evolve(
            aliases=tuple(name for name in (told.name, *told.aliases) if name != node.name),
            addresses=told.addresses,
            description=told.description,
            mentioned=told.mentioned,
        )
    return node.evolve(**{name: getattr(told, name) for name in FoldedNode.__slots__}, stands=True)


def node_search_text(node: Node, notes: Iterable[str]) -> str:
    """What a node is found by."""
    names = ". ".join(dict.fromkeys(node.names))
    words = (names, node.description, " ".join(notes)[:MAX_SEARCHED_NOTES])
    return "\n".join(word for word in words if word)


def _newest_first(note: Note) -> tuple[float, str]:
    return -note.date_added.timestamp(), note.id


def _embed_steps(
    engine: EngineContext, steps: Sequence[PutNode | PutEdge]
) -> list[PutNode | PutEdge]:
    """One call to the embedder for all of them."""
    vectors = engine.embed([step.text or "" for step in steps]) if steps else None
    if vectors is None:
        return list(steps)
    return [
        replace(step, vector=vectors[place].astype("<f4").tobytes())
        for place, step in enumerate(steps)
    ]
