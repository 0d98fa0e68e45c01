"""Graph diff: recompute nodes from their assertions and emit the changeset steps.

No two active nodes may have the same type, subtype and key. So nodes are computed in an order, and
a name that becomes free is given to a node that had to take another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.engine.context import EngineContext
from commonplace.engine.graph.edge_diff import EdgeChange, diff_edges
from commonplace.engine.graph.names import name_key
from commonplace.engine.graph.stories.embedded_stories import has_new_text
from commonplace.engine.graph.stories.story_diff import diff_stories
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork, ensure_owner
from commonplace.errors import StoreCorrupt
from commonplace.model.changeset import ChangesetStep
from commonplace.model.delta import DERIVED
from commonplace.model.graph.assertion import NodeAssertion, Note, is_sensitive
from commonplace.model.graph.elements import Edge, Mentioned, Node
from commonplace.model.graph.node_fold import FoldedNode, add_mention, fold_node
from commonplace.model.graph.steps import (
    PutEdge,
    PutNode,
    PutNote,
    PutStory,
    RemoveEdge,
    RemoveNode,
    RemoveNotes,
)
from commonplace.model.graph.types import NodeType
from commonplace.model.journal import Entry, Event, JournalNode, Op
from commonplace.model.memory.memory import Sensitivity

MAX_SEARCHED_NOTES = 1000  # characters of notes in a node's search text
IsTaken = Callable[[NodeType, str, str], bool]


def diff_graph(
    work: GraphUnitOfWork,
    *,
    ended: Event = Event.DELETE,
    moved: Event | None = None,
    place: JournalNode = JournalNode.HOTPATH,
    is_derived: bool = False,
) -> tuple[ChangesetStep, ...]:
    """``ended``: the journal event of items without any assertion left; ``moved``: of items that
    are hidden or shown again. ``is_derived``: the change follows from one of a memory; only that
    one is reported. Edges are removed before their nodes and put after them."""
    if work.adds_anything:
        ensure_owner(work)
    diff = _GraphDiff(work, ended, moved, place)
    if is_derived:
        diff.meta = DERIVED
    put_nodes, removed_nodes = diff.nodes()
    put_edges, removed_edges = diff.edges()
    put_nodes += diff.ends_described_otherwise(put_nodes)
    removed = {step.id for step in removed_nodes} | {step.id for step in removed_edges}
    put_notes, removed_notes = diff.notes(removed)
    stories = diff_stories(work, put_nodes, removed_nodes, ended)
    embedded = _embed_steps(work.engine, [*stories.nodes, *put_edges, *stories.put])
    return (
        *removed_notes,
        *removed_edges,
        *removed_nodes,
        *stories.removed,
        *embedded,
        *put_notes,
    )


class _GraphDiff:
    def __init__(
        self, work: GraphUnitOfWork, ended: Event, moved: Event | None, place: JournalNode
    ) -> None:
        self.work, self.place = work, place
        self.meta: Mapping[str, Any] = {}  # of each journal entry
        self.events = {
            Op.CREATE: Event.ADD,
            Op.UPDATE: moved or Event.UPDATE,
            Op.DELETE: ended,
        }
        self.nodes_after: dict[str, Node] = {}  # by id
        self.removed_ids: set[str] = set()
        self.changed_assertions = list(work.changed_assertions())
        self.removed_assertions = list(work.removed_assertions())
        self.noted_items = {note.about for note in (*work.changed_notes(), *work.removed_notes())}
        new_notes = [note for note in work.changed_notes() if note.id not in work.before]
        self.new_notes = {note.about for note in new_notes if not is_sensitive(note)}
        self.worn = self._worn_items()
        self.ends_of_changed: set[str] = set()  # nodes at edges that ended, or are removed

    def _worn_items(self) -> set[str]:
        """Nodes about which something was changed or removed that was known before: a description
        that a night wrote may rest on it."""
        work = self.work
        now: dict[str, NodeAssertion | Note] = {**work.node_assertions, **work.notes}
        worn = set(work.changed_nodes)
        for id, before in work.before.items():
            if isinstance(before, NodeAssertion | Note) and _says_otherwise(before, now.get(id)):
                worn.add(before.node if isinstance(before, NodeAssertion) else before.about)
        return worn

    # ——— nodes ———

    def nodes(self) -> tuple[list[PutNode], list[RemoveNode]]:
        work = self.work
        touched = {assertion.node for assertion in work.touched_assertions()}
        touched |= set(work.changed_nodes) | {id for id in self.noted_items if work.node(id)}
        roots = {work.root(id) for id in touched} | {self._root_before(id) for id in touched}
        put: list[PutNode] = []
        removed: list[RemoveNode] = []
        for root in sorted((r for r in roots if work.root(r) == r), key=self._fold_order):
            self._fold_group(root, put, removed)
        self._reassign_names(self._released_names(removed), put, removed)
        return put, removed

    def _released_names(self, removed: Sequence[RemoveNode]) -> list[tuple[NodeType, str]]:
        """The names that nodes lost with removed assertions. A node that is only hidden keeps its
        name."""
        self.removed_ids = {step.id for step in removed}
        roots = dict.fromkeys(
            self._root_before(assertion.node) for assertion in self.removed_assertions
        )
        nodes = [node for root in roots if (node := self.work.nodes.get(root))]
        return [(node.type, node.key) for node in nodes if self._has_released_name(node)]

    def _has_released_name(self, before: Node) -> bool:
        after = self.nodes_after.get(before.id)
        return before.id in self.removed_ids or (after is not None and after.key != before.key)

    def _reassign_names(
        self, names: list[tuple[NodeType, str]], put: list[PutNode], removed: list[RemoveNode]
    ) -> None:
        """Give each name to a node that has it as an alias and could not take it. That may release
        another name."""
        while names:
            type, key = names.pop()
            for id in self.work.known.by_key.get((type, key), ()):
                self.work.load([id])
                if not self._may_take_name(id, key):
                    continue
                members = self.work.group(id)
                put[:] = [step for step in put if step.after.id not in members]
                removed[:] = [step for step in removed if step.id not in members]
                self._fold_group(id, put, removed)
                before = self.work.nodes[id]
                if self._has_released_name(before):
                    names.append((before.type, before.key))

    def _may_take_name(self, id: str, key: str) -> bool:
        """Each node changes its name at most once, so that steps can be ordered without two nodes
        having one name at any time."""
        before = self.work.nodes.get(id)
        if (
            before is None
            or before.is_owner
            or before.key == key
            or self._has_released_name(before)
        ):
            return False
        return any(
            self.work.root(assertion.node) == id for assertion in self.work.node_assertions.values()
        )

    def _fold_order(self, root: str) -> tuple[bool, bool, str]:
        """Existing roots first: they keep their name or release it. A new owner comes before other
        new nodes, because the owner's name is fixed by the profile."""
        before, node = self.work.nodes.get(root), self.work.node(root)
        is_new = before is None or before.merged_into is not None
        return is_new, node is None or not node.is_owner, root

    def _root_before(self, id: str) -> str:
        node = self.work.nodes.get(id)
        return node.merged_into if node and node.merged_into else id

    def _fold_group(self, root: str, put: list[PutNode], removed: list[RemoveNode]) -> None:
        """Recompute a root and the nodes that are merged into it."""
        work = self.work
        node = work.node(root)
        if node is None:
            return
        members = work.group(root)
        if extended := self._with_added_mention(node, members):
            put += self._put(extended, members)
            return
        work.load([root])
        assertions = [
            assertion for assertion in work.node_assertions.values() if assertion.node in members
        ]
        asserted = {assertion.node for assertion in assertions}
        for member in (work.node(id) for id in members if id != root):
            if member is not None and member.id not in asserted:
                removed.append(RemoveNode(member.id, self._entry(Op.DELETE, member)))
            elif member is not None and member != work.nodes.get(member.id):
                put += self._put(member, [member.id])
        if assertions or node.is_owner:
            after = self._fold_or_hide(node, assertions)
            put += self._put(self._with_description(after, assertions, members), members)
        elif root in work.nodes:
            removed.append(RemoveNode(root, self._entry(Op.DELETE, node)))

    def _fold_or_hide(self, node: Node, assertions: Sequence[NodeAssertion]) -> Node:
        """A node whose sources are all forgotten is hidden and computed from them, so that it keeps
        no text of an erased source."""
        folded = self._fold(node.id, assertions)
        if folded is not None or node.is_owner:
            return apply_fold(node, folded)
        hidden = self._fold(node.id, [replace(assertion, stands=True) for assertion in assertions])
        return apply_fold(node, hidden).evolve(stands=False)

    def _with_description(
        self, after: Node, assertions: Sequence[NodeAssertion], members: Sequence[str]
    ) -> Node:
        """A description that a night wrote stays as long as all that was known then, and until a
        user writes one. Otherwise the asserted one is taken, and the night writes again."""
        before = self.work.nodes.get(after.id)
        loaded = (each for each in self.work.before.values() if isinstance(each, NodeAssertion))
        asserted = {each.description for each in loaded}
        if before is None or not before.description or before.description in asserted:
            return after
        if any(each.source is None and each.description for each in assertions):
            return after
        if self.worn.isdisjoint(members) and after.id not in self.ends_of_changed:
            return after.evolve(description=before.description)
        return after.evolve(is_dirty=True)

    def _fold(self, root: str, assertions: Sequence[NodeAssertion]) -> FoldedNode | None:
        return fold_node(assertions, self._is_taken(root), root, name_key)

    def _with_added_mention(self, node: Node, members: Sequence[str]) -> Node | None:
        """The node with one mention added, if that is all that changes; avoids loading its
        assertions."""
        work = self.work
        if work.is_loaded(node.id) or members != [node.id] or node.id in self.worn:
            return None
        new = [t for t in self.changed_assertions if t.node == node.id]
        return add_mention(node, new[0]) if len(new) == 1 else None

    def _put(self, after: Node, members: Sequence[str]) -> list[PutNode]:
        work = self.work
        before = work.nodes.get(after.id)
        after = replace(after, is_dirty=after.is_dirty or after.id in self.new_notes)
        changed = tuple(t for t in self.changed_assertions if t.node in members)
        removed = tuple(t.id for t in self.removed_assertions if t.node in members)
        self.nodes_after[after.id] = after
        if before == after and not changed and not removed and after.id not in self.noted_items:
            return []
        if before is not None:
            after = replace(after, updated_at=work.at, version=before.version + 1)
            self.nodes_after[after.id] = after
        text = node_search_text(after, self._notes_on(after))
        op = Op.CREATE if before is None else Op.UPDATE
        return [PutNode(before, after, self._entry(op, after), text, None, changed, removed)]

    def _is_taken(self, root: str) -> IsTaken:
        """Whether another node has the name, before this decision or by it."""
        taken = {(n.type, n.subtype, n.key): n.id for n in self.nodes_after.values() if n.stands}

        def is_taken(type: NodeType, subtype: str, key: str) -> bool:
            known = self.work.known.by_primary_name(type, subtype, key)
            # It may be renamed or removed by this decision.
            before = (
                known if known not in self.nodes_after and known not in self.removed_ids else None
            )
            other = taken.get((type, subtype, key)) or before
            return other is not None and self.work.root(other) != root

        return is_taken

    def ends_described_otherwise(self, put: list[PutNode]) -> list[PutNode]:
        """Nodes with a description that a night wrote, and an edge that ended or is removed."""
        more: list[PutNode] = []
        for id in sorted(self.ends_of_changed - self.removed_ids):
            node = self.work.nodes.get(id)
            if node is None or not node.description or node.merged_into:
                continue
            if id not in self.nodes_after:
                self._fold_group(id, more, [])
                continue
            for place, step in enumerate(put):
                if step.after.id == id:
                    put[place] = replace(step, after=replace(step.after, is_dirty=True))
        return more

    # ——— edges ———

    def edges(self) -> tuple[list[PutEdge], list[RemoveEdge]]:
        work = self.work
        diff = diff_edges(work, self._type_of)
        changed = [(each.before, each.after) for each in diff.edges if each.before]
        changed += [
            (work.edges[id], edge) for id, edge in work.changed_edges.items() if id in work.edges
        ]
        ended = [edge for edge, after in changed if _holds_otherwise(edge, after)]
        self.ends_of_changed = {end for edge in (*ended, *diff.removed) for end in edge.ends}
        put = [self._put_edge(each) for each in diff.edges if self._has_changed(each)]
        handled = {each.after.id for each in diff.edges} | {edge.id for edge in diff.removed}
        for id in sorted((self.noted_items | work.changed_edges.keys()) - handled):
            if edge := work.edges.get(id):
                put.append(self._put_edge(EdgeChange(edge, work.changed_edges.get(id, edge))))
        removed = [RemoveEdge(edge.id, self._entry(Op.DELETE, edge)) for edge in diff.removed]
        return put, removed

    def _type_of(self, id: str) -> NodeType:
        node = self.nodes_after.get(id) or self.work.node(id)
        if node is None:
            raise StoreCorrupt(f"The store is damaged: an edge ends at {id}, which is not there.")
        return node.type

    def _has_changed(self, each: EdgeChange) -> bool:
        same = each.before == each.after and not each.assertions and not each.removed_assertions
        return not same or each.after.id in self.noted_items

    def _put_edge(self, each: EdgeChange) -> PutEdge:
        after = each.after.evolve(
            is_dirty=each.after.is_dirty or each.after.id in self.new_notes,
            updated_at=self.work.at,
            version=each.before.version + 1 if each.before else 1,
        )
        text = after.search_text(" ".join(self._notes_on(after)))
        op = Op.UPDATE if each.before else Op.CREATE
        entry = self._entry(op, after)
        if each.before == each.after and any(t.keeps_ended for t in each.assertions):
            entry = replace(entry, meta=DERIVED)  # it is as it was: nothing to report
        return PutEdge(
            each.before, after, entry, text, None, each.assertions, each.removed_assertions
        )

    # ——— notes ———

    def notes(self, removed_ids: set[str]) -> tuple[list[PutNote], list[RemoveNotes]]:
        """Notes on removed items are removed with them, without a step."""
        work = self.work
        put = [
            PutNote(note, self._entry(Op.UPDATE, note))
            for note in work.changed_notes()
            if note.about not in removed_ids
        ]
        removed = [note for note in work.removed_notes() if note.about not in removed_ids]
        return put, [RemoveNotes((note.id,), self._entry(Op.DELETE, note)) for note in removed]

    def _notes_on(self, item: Node | Edge) -> list[str]:
        """Search text is visible to all who may see the item: sensitive notes are left out, unless
        the item itself is sensitive."""
        notes = [note for note in self.work.notes.values() if note.about == item.id]
        is_item_sensitive = item.sensitivity is Sensitivity.HIGH
        shown = [note for note in notes if is_item_sensitive or not is_sensitive(note)]
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
            meta=self.meta,
        )

    def _category(self, item: Node | Edge | Note) -> str | None:
        """An edge, and a note on it, has the category of the edge's first node."""
        if isinstance(item, Node):
            return item.category
        about = item if isinstance(item, Edge) else self.work.edges.get(item.about)
        node = self.work.node(about.a if about else "" if isinstance(item, Edge) else item.about)
        return node.category if node else None


def _says_otherwise(before: NodeAssertion | Note, after: NodeAssertion | Note | None) -> bool:
    names = ["stands", "sensitivity", "source"]
    if isinstance(before, NodeAssertion):
        names += ["node", "name", "not_called"]
    return after is None or any(getattr(before, each) != getattr(after, each) for each in names)


def _holds_otherwise(before: Edge, after: Edge) -> bool:
    return any(
        getattr(before, name) != getattr(after, name)
        for name in ("type", "ends", "valid_to", "stands", "purge_at", "sensitivity")
    )


def apply_fold(node: Node, folded: FoldedNode | None) -> Node:
    """The owner's name comes from the profile, and the owner's node is always active."""
    if node.is_owner and (folded is None or folded.sensitivity is Sensitivity.HIGH):
        return node.evolve(aliases=(), addresses=(), description="", mentioned=Mentioned())
    if folded is None:
        return node.evolve(stands=False)
    if node.is_owner:
        return node.evolve(
            aliases=tuple(name for name in (folded.name, *folded.aliases) if name != node.name),
            addresses=folded.addresses,
            description=folded.description,
            mentioned=folded.mentioned,
        )
    return node.evolve(
        **{name: getattr(folded, name) for name in FoldedNode.__slots__}, stands=True
    )


def node_search_text(node: Node, notes: Iterable[str]) -> str:
    names = ". ".join(dict.fromkeys(node.names))
    words = (names, node.description, " ".join(notes)[:MAX_SEARCHED_NOTES])
    return "\n".join(word for word in words if word)


def _newest_first(note: Note) -> tuple[float, str]:
    return -note.date_added.timestamp(), note.id


def _embed_steps(
    engine: EngineContext, steps: Sequence[PutNode | PutEdge | PutStory]
) -> list[PutNode | PutEdge | PutStory]:
    """One embedder call for all new texts."""
    texts = [_new_text(step) for step in steps]
    new = [text for text in texts if text is not None]
    vectors = engine.embed_passages(new) if new else None
    if vectors is None:
        return list(steps)
    rows = iter(vectors)
    return [
        step if text is None else replace(step, vector=next(rows).astype("<f4").tobytes())
        for step, text in zip(steps, texts, strict=True)
    ]


def _new_text(step: PutNode | PutEdge | PutStory) -> str | None:
    if isinstance(step, PutStory):
        return step.after.search_text if has_new_text(step) else None
    return step.text
