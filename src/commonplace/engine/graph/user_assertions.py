"""User assertions on nodes, relations and notes, without a source; merge and split."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, replace
from datetime import datetime
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

MAX_NAMES = 100  # of one kind, in one word: aliases, addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInput:
    """What is said of a node."""

    type: NodeType
    name: str
    is_named: bool = True  # False: it is only spoken of by that name, and stays called as it is
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # names and addresses that are not its
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 1.0
    sensitivity: Sensitivity = Sensitivity.NORMAL

    @property
    def key(self) -> str:
        return name_key(self.name) if self.is_named else ""


def create_node(
    work: GraphUnitOfWork, word: NodeInput, ttl_policy: TtlPolicy = TtlPolicy.DECAY
) -> Node:
    node = Node(
        id=NODE_PREFIX + work.engine.new_id(),
        user_id=work.scope.name,
        type=word.type,
        subtype=word.subtype,
        name=word.name,
        key=name_key(word.name),
        ttl_policy=ttl_policy,
        created_by=work.by,
        created_at=work.at,
        updated_at=work.at,
    )
    work.put(node)
    assert_node(work, node, word)
    return node


def assert_node(work: GraphUnitOfWork, node: Node, word: NodeInput) -> None:
    """Of each who says something the last word counts; those before are kept, for they were what
    was known then. The name that it had stays one of its names: whoever still says it means this
    node. What was said of it while it was guarded counts beside what is said openly."""
    mine = own_assertion(work, node, word.sensitivity)
    not_called = _denied_names(word, mine)
    aliases = word.aliases
    was_named = mine is not None and mine.key not in ("", word.key)
    if mine and was_named and mine.name not in (*aliases, *not_called):
        aliases = (*aliases, mine.name)
    just_now = mine is not None and mine.recorded_at == work.at
    work.tell(
        NodeAssertion(
            id=mine.id if mine and just_now else work.engine.new_id(),
            node=node.id,
            source=None,
            by=work.by,
            recorded_at=work.at,
            type=word.type,
            name=word.name,
            key=word.key,
            subtype=word.subtype,
            aliases=aliases,
            not_called=not_called,
            addresses=word.addresses,
            description=word.description,
            confidence=word.confidence,
            sensitivity=word.sensitivity,
        )
    )


def _denied_names(word: NodeInput, mine: NodeAssertion | None) -> tuple[str, ...]:
    """What it was said not to be called stays so, until it is given as a name again."""
    names = (word.name,) if word.is_named else ()
    given = {comparable_name(each) for each in (*names, *word.aliases, *word.addresses)}
    before = [
        name for name in (mine.not_called if mine else ()) if comparable_name(name) not in given
    ]
    names_not_its = tuple(dict.fromkeys((*before, *word.not_called)))
    _refuse_too_many(names_not_its, "names that are not its", "not_aliases")
    return names_not_its


def update_node_input(
    work: GraphUnitOfWork,
    node: Node,
    changes: Mapping[str, Any],
    spoken_of: str,
    sensitivity: Sensitivity | None = None,
) -> NodeInput:
    """What the caller said of it before, with ``changes``: fields of a NodeWord, of which names and
    addresses are added. ``spoken_of``: what they call it now."""
    guarded = sensitivity or node.sensitivity
    said = own_assertion(work, node, guarded)
    kept: dict[str, Any] = {"type": node.type, "subtype": node.subtype, "sensitivity": guarded}
    if changes.get("type", node.type) is not NodeType.ENTITY:
        if "subtype" in changes:
            raise InvalidInput("Only an Entity can have a type.", field="type")
        kept["subtype"] = ""
    if said is not None:
        kept["description"] = said.description
    listed = {field: _extend_list(said, field, changes) for field in ("aliases", "addresses")}
    named = {"is_named": True} if "name" in changes else _previous_name(node, said, spoken_of)
    word = NodeInput(**{**kept, **named, **changes, **listed})
    return _remove_denied(word, node, changes) if word.not_called else word


def _extend_list(
    said: NodeAssertion | None, field: str, changes: Mapping[str, Any]
) -> tuple[str, ...]:
    before: tuple[str, ...] = getattr(said, field) if said else ()
    listed = tuple(dict.fromkeys((*before, *changes.get(field, ()))))
    _refuse_too_many(listed, field, field)
    return listed


def _refuse_too_many(names: Sized, what: str, field: str) -> None:
    if len(names) > MAX_NAMES:
        raise TooLong(
            f"It would have {len(names):,} {what}; the limit is {MAX_NAMES}.", field=field
        )


def _previous_name(node: Node, said: NodeAssertion | None, spoken_of: str) -> dict[str, Any]:
    """The name that the speaker has given it. One that only sources tell is not theirs, and goes
    with these; so of those that they have not named it is kept by which name they speak of it."""
    if node.is_owner:
        return {"name": node.name}
    if said is not None and said.key:
        return {"name": said.name}
    before = said.name if said else ""
    return {"name": before or _known_spelling(node, spoken_of), "is_named": False}


def _known_spelling(node: Node, spoken_of: str) -> str:
    if spoken_of.startswith(NODE_PREFIX):
        return ""
    key = name_key(spoken_of)
    return next((name for name in node.names if name_key(name) == key), spoken_of)


def _remove_denied(word: NodeInput, node: Node, changes: Mapping[str, Any]) -> NodeInput:
    """In each spelling that it is known by."""
    keys = set(map(name_key, word.not_called))
    called = word.name if word.is_named else node.name
    if name_key(called) in keys:
        raise InvalidInput(
            f"{called!r} is the node's own name.",
            remedy="Give the new name in `name`.",
            field="not_aliases",
        )
    if keys & set(map(name_key, (*changes.get("aliases", ()), *changes.get("addresses", ())))):
        raise InvalidInput("The same name is in aliases and in not_aliases.", field="not_aliases")
    spelt = [each for each in (*node.names, *node.addresses) if name_key(each) in keys]
    return replace(
        word,
        name="" if name_key(word.name) in keys else word.name,
        aliases=tuple(name for name in word.aliases if name_key(name) not in keys),
        addresses=tuple(each for each in word.addresses if name_key(each) not in keys),
        not_called=tuple(dict.fromkeys((*word.not_called, *spelt))),
    )


def ensure_asserted(work: GraphUnitOfWork, node: Node, spoken_of: str) -> None:
    """Whoever says something about a node says, too, that it is there: it stays when the sources
    that told of it are gone."""
    if not node.is_owner and not _own_assertions(work, node):
        assert_node(work, node, update_node_input(work, node, {}, spoken_of))


def assert_relation(
    work: GraphUnitOfWork,
    a: Node,
    b: Node,
    type: str,
    *,
    spoken_of: tuple[str, str],
    description: str = "",
    attitude: int | None = None,
    proximity: int | None = None,
    confidence: float = 0.8,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    ends: bool = False,
    beside: bool = False,
    sensitivity: Sensitivity = Sensitivity.NORMAL,
) -> EdgeAssertion:
    """As guarded as what it is about: the relation that is known already, and either end.
    ``spoken_of``: what the two are called by whoever says so."""
    if a.id == b.id:
        raise InvalidInput("A node cannot have a relationship with itself.", field="to_node")
    ensure_asserted(work, a, spoken_of[0])
    ensure_asserted(work, b, spoken_of[1])
    assertion = EdgeAssertion(
        id=work.engine.new_id(),
        edge="",
        a=a.id,
        b=b.id,
        type=type,
        source=None,
        by=work.by,
        recorded_at=work.at,
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
    work.relate(assertion)
    return assertion


def attach_note(
    work: GraphUnitOfWork, about: Node | Edge, content: str, lifetime: NoteLifetime
) -> Note:
    made = Note(
        id=OF_NOTES + work.engine.new_id(),
        about=about.id,
        content=content,
        added_by=work.by,
        date_added=work.at,
        expires_at=note_expiry(lifetime, work.at),
        sensitivity=about.sensitivity,
    )
    work.note(made)
    return made


def _highest_sensitivity(*marks: Sensitivity) -> Sensitivity:
    return Sensitivity.HIGH if Sensitivity.HIGH in marks else Sensitivity.NORMAL


def own_assertion(
    work: GraphUnitOfWork, node: Node, sensitivity: Sensitivity
) -> NodeAssertion | None:
    """What whoever speaks now has said of it before, as guarded as it is now."""
    said = [t for t in _own_assertions(work, node) if t.sensitivity is sensitivity]
    mine = [t for t in said if t.by == work.by]
    return max(mine, key=lambda t: t.recorded_at, default=None)


def _own_assertions(work: GraphUnitOfWork, node: Node) -> list[NodeAssertion]:
    return [t for t in work.told.values() if t.node == node.id and t.source is None]
