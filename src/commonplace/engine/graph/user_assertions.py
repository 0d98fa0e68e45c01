"""User assertions: what owners and agents state about nodes and relations, without a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.graph.names import name_key
from commonplace.engine.graph.unit_of_work import GraphUnitOfWork
from commonplace.errors import InvalidInput, TooLong
from commonplace.model.graph.assertion import NOTE_PREFIX as OF_NOTES
from commonplace.model.graph.assertion import (
    EdgeAssertion,
    NodeAssertion,
    Note,
    NoteLifetime,
    note_expiry,
)
from commonplace.model.graph.elements import NODE_PREFIX, Edge, Node
from commonplace.model.graph.types import NodeType, comparable_name
from commonplace.model.memory.kinds import TtlPolicy
from commonplace.model.memory.memory import Sensitivity

MAX_NAMES = 100  # aliases, or addresses, of one assertion


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInput:
    """The fields of a user assertion about a node."""

    type: NodeType
    name: str
    is_named: bool = True  # False: the name only refers to the node and does not rename it
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # rejected names and addresses
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 1.0
    sensitivity: Sensitivity = Sensitivity.NORMAL

    @property
    def key(self) -> str:
        return name_key(self.name) if self.is_named else ""


def create_node(
    work: GraphUnitOfWork, node_input: NodeInput, ttl_policy: TtlPolicy = TtlPolicy.DECAY
) -> Node:
    node = Node(
        id=NODE_PREFIX + work.engine.new_id(),
        user_id=work.scope.name,
        type=node_input.type,
        subtype=node_input.subtype,
        name=node_input.name,
        key=name_key(node_input.name),
        ttl_policy=ttl_policy,
        created_by=work.by,
        created_at=work.at,
        updated_at=work.at,
    )
    work.put(node)
    assert_node(work, node, node_input)
    return node


def assert_node(work: GraphUnitOfWork, node: Node, node_input: NodeInput) -> None:
    """Add an assertion. Of each author the latest counts; earlier ones are kept for ``known_at``.
    The previous name becomes an alias. An author's sensitive and normal assertions are separate."""
    previous = own_assertion(work, node, node_input.sensitivity)
    not_called = _rejected_names(node_input, previous)
    aliases = node_input.aliases
    was_renamed = previous is not None and previous.key not in ("", node_input.key)
    if previous and was_renamed and previous.name not in (*aliases, *not_called):
        aliases = (*aliases, previous.name)
    is_same_moment = previous is not None and previous.recorded_at == work.at
    work.put_assertion(
        NodeAssertion(
            id=previous.id if previous and is_same_moment else work.engine.new_id(),
            node=node.id,
            source=None,
            by=work.by,
            recorded_at=work.at,
            type=node_input.type,
            name=node_input.name,
            key=node_input.key,
            subtype=node_input.subtype,
            aliases=aliases,
            not_called=not_called,
            addresses=node_input.addresses,
            description=node_input.description,
            confidence=node_input.confidence,
            sensitivity=node_input.sensitivity,
        )
    )


def _rejected_names(node_input: NodeInput, previous: NodeAssertion | None) -> tuple[str, ...]:
    """A rejected name stays rejected until it is given as a name again."""
    names = (node_input.name,) if node_input.is_named else ()
    given = {comparable_name(each) for each in (*names, *node_input.aliases, *node_input.addresses)}
    still_rejected = [
        name
        for name in (previous.not_called if previous else ())
        if comparable_name(name) not in given
    ]
    rejected = tuple(dict.fromkeys((*still_rejected, *node_input.not_called)))
    _refuse_too_many(rejected, "rejected names", "not_aliases")
    return rejected


def update_node_input(
    work: GraphUnitOfWork,
    node: Node,
    changes: Mapping[str, Any],
    referred_to_as: str,
    sensitivity: Sensitivity | None = None,
) -> NodeInput:
    """The caller's previous assertion with ``changes``: fields of a NodeInput. Given aliases and
    addresses are added. ``referred_to_as``: the name or id that the caller used."""
    level = sensitivity or node.sensitivity
    previous = own_assertion(work, node, level)
    defaults: dict[str, Any] = {"type": node.type, "subtype": node.subtype, "sensitivity": level}
    if changes.get("type", node.type) is not NodeType.ENTITY:
        if "subtype" in changes:
            raise InvalidInput("Only an Entity can have a type.", field="type")
        defaults["subtype"] = ""
    if previous is not None:
        defaults["description"] = previous.description
    listed = {field: _extend_list(previous, field, changes) for field in ("aliases", "addresses")}
    named = (
        {"is_named": True} if "name" in changes else _previous_name(node, previous, referred_to_as)
    )
    node_input = NodeInput(**{**defaults, **named, **changes, **listed})
    return _remove_rejected(node_input, node, changes) if node_input.not_called else node_input


def _extend_list(
    previous: NodeAssertion | None, field: str, changes: Mapping[str, Any]
) -> tuple[str, ...]:
    before: tuple[str, ...] = getattr(previous, field) if previous else ()
    listed = tuple(dict.fromkeys((*before, *changes.get(field, ()))))
    _refuse_too_many(listed, field, field)
    return listed


def _refuse_too_many(names: Sized, what: str, field: str) -> None:
    if len(names) > MAX_NAMES:
        raise TooLong(
            f"It would have {len(names):,} {what}; the limit is {MAX_NAMES}.", field=field
        )


def _previous_name(
    node: Node, previous: NodeAssertion | None, referred_to_as: str
) -> dict[str, Any]:
    """The name that the caller gave the node before. A name that only sources assert must go with
    them, so without an own name only the name that the caller used is stored."""
    if node.is_owner:
        return {"name": node.name}
    if previous is not None and previous.key:
        return {"name": previous.name}
    before = previous.name if previous else ""
    return {"name": before or _known_spelling(node, referred_to_as), "is_named": False}


def _known_spelling(node: Node, referred_to_as: str) -> str:
    if referred_to_as.startswith(NODE_PREFIX):
        return ""
    key = name_key(referred_to_as)
    return next((name for name in node.names if name_key(name) == key), referred_to_as)


def _remove_rejected(node_input: NodeInput, node: Node, changes: Mapping[str, Any]) -> NodeInput:
    """Remove rejected names in every spelling that the node has."""
    keys = set(map(name_key, node_input.not_called))
    name = node_input.name if node_input.is_named else node.name
    if name_key(name) in keys:
        raise InvalidInput(
            f"{name!r} is the node's own name.",
            remedy="Give the new name in `name`.",
            field="not_aliases",
        )
    if keys & set(map(name_key, (*changes.get("aliases", ()), *changes.get("addresses", ())))):
        raise InvalidInput("The same name is in aliases and in not_aliases.", field="not_aliases")
    spellings = [each for each in (*node.names, *node.addresses) if name_key(each) in keys]
    return replace(
        node_input,
        name="" if name_key(node_input.name) in keys else node_input.name,
        aliases=tuple(name for name in node_input.aliases if name_key(name) not in keys),
        addresses=tuple(each for each in node_input.addresses if name_key(each) not in keys),
        not_called=tuple(dict.fromkeys((*node_input.not_called, *spellings))),
    )


def ensure_asserted(work: GraphUnitOfWork, node: Node, referred_to_as: str) -> None:
    """Statements about a node also assert the node itself, so that it stays when its sources are
    erased."""
    if not node.is_owner and not _own_assertions(work, node):
        assert_node(work, node, update_node_input(work, node, {}, referred_to_as))


def assert_relation(
    work: GraphUnitOfWork,
    a: Node,
    b: Node,
    type: str,
    *,
    referred_to_as: tuple[str, str],
    description: str = "",
    attitude: int | None = None,
    proximity: int | None = None,
    confidence: float = 0.8,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    ends: bool = False,
    beside: bool = False,
    sensitivity: Sensitivity = Sensitivity.NORMAL,
    known: Iterable[Edge] = (),
) -> EdgeAssertion:
    """As sensitive as ``sensitivity`` or either end. ``referred_to_as``: the names or ids that the
    caller used for the two. ``known``: the graph's edges, than which it is recorded later, also
    after the clock was set back."""
    if a.id == b.id:
        raise InvalidInput("A node cannot have a relationship with itself.", field="to_node")
    ensure_asserted(work, a, referred_to_as[0])
    ensure_asserted(work, b, referred_to_as[1])
    assertion = EdgeAssertion(
        id=work.engine.new_id(),
        edge="",
        a=a.id,
        b=b.id,
        type=type,
        source=None,
        by=work.by,
        recorded_at=moment_after(_touching(known, {a.id, b.id}), work.at),
        valid_from=valid_from or work.at,
        valid_to=valid_to,
        ends=ends,
        beside=beside,
        attitude=attitude,
        proximity=proximity,
        description=description,
        confidence=confidence,
        sensitivity=_highest_sensitivity(sensitivity, a.sensitivity, b.sensitivity),
    )
    work.put_relation(assertion)
    return assertion


def _touching(known: Iterable[Edge], ends: set[str]) -> Iterable[Edge]:
    return (edge for edge in known if not ends.isdisjoint(edge.ends))


def moment_after(edges: Iterable[Edge], at: datetime) -> datetime:
    """After the clock was set back, what is told last still counts as told last."""
    newest = max((edge.recorded_at for edge in edges), default=at)
    return at if newest <= at else newest + timedelta(microseconds=1)


def attach_note(
    work: GraphUnitOfWork, about: Node | Edge, content: str, lifetime: NoteLifetime
) -> Note:
    note = Note(
        id=OF_NOTES + work.engine.new_id(),
        about=about.id,
        content=content,
        added_by=work.by,
        date_added=work.at,
        expires_at=note_expiry(lifetime, work.at),
        sensitivity=about.sensitivity,
    )
    work.put_note(note)
    return note


def _highest_sensitivity(*marks: Sensitivity) -> Sensitivity:
    return Sensitivity.HIGH if Sensitivity.HIGH in marks else Sensitivity.NORMAL


def own_assertion(
    work: GraphUnitOfWork, node: Node, sensitivity: Sensitivity
) -> NodeAssertion | None:
    """The author's latest assertion about a node, of this sensitivity."""
    own = [t for t in _own_assertions(work, node) if t.sensitivity is sensitivity]
    by_author = [t for t in own if t.by == work.by]
    return max(by_author, key=lambda t: t.recorded_at, default=None)


def _own_assertions(work: GraphUnitOfWork, node: Node) -> list[NodeAssertion]:
    return [t for t in work.node_assertions.values() if t.node == node.id and t.source is None]
