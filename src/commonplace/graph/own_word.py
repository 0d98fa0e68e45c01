"""What somebody says of the graph themself: a node, a relation, a note. No source stands behind it,
so nothing but their own word takes it away."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace.errors import InvalidInput, TooLong
from commonplace.graph.canvas import Canvas
from commonplace.graph.known import key_of
from commonplace.model.graph.edge import Edge
from commonplace.model.graph.naming import alike
from commonplace.model.graph.node import PREFIX, Node
from commonplace.model.graph.note import PREFIX as OF_NOTES
from commonplace.model.graph.note import Lifetime, Note, expiry
from commonplace.model.graph.telling import EdgeTelling, NodeTelling
from commonplace.model.graph.words import NodeType
from commonplace.model.memory import Sensitivity
from commonplace.model.ttl_policy import TtlPolicy

MOST_NAMES = 100  # of one kind, in one word: aliases, addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWord:
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
        return key_of(self.name) if self.is_named else ""


def new_node(canvas: Canvas, word: NodeWord, ttl_policy: TtlPolicy = TtlPolicy.DECAY) -> Node:
    node = Node(
        id=PREFIX + canvas.desk.new_id(),
        user_id=canvas.scope.name,
        type=word.type,
        subtype=word.subtype,
        name=word.name,
        key=key_of(word.name),
        ttl_policy=ttl_policy,
        created_by=canvas.by,
        created_at=canvas.at,
        updated_at=canvas.at,
    )
    canvas.put(node)
    say_of(canvas, node, word)
    return node


def say_of(canvas: Canvas, node: Node, word: NodeWord) -> None:
    """Of each who says something the last word counts; those before are kept, for they were what
    was known then. The name that it had stays one of its names: whoever still says it means this
    node. What was said of it while it was guarded counts beside what is said openly."""
    mine = own_word(canvas, node, word.sensitivity)
    not_called = _not_called(word, mine)
    aliases = word.aliases
    was_named = mine is not None and mine.key not in ("", word.key)
    if mine and was_named and mine.name not in (*aliases, *not_called):
        aliases = (*aliases, mine.name)
    just_now = mine is not None and mine.recorded_at == canvas.at
    canvas.tell(
        NodeTelling(
            id=mine.id if mine and just_now else canvas.desk.new_id(),
            node=node.id,
            source=None,
            by=canvas.by,
            recorded_at=canvas.at,
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


def _not_called(word: NodeWord, mine: NodeTelling | None) -> tuple[str, ...]:
    """What it was said not to be called stays so, until it is given as a name again."""
    names = (word.name,) if word.is_named else ()
    given = {alike(each) for each in (*names, *word.aliases, *word.addresses)}
    before = [name for name in (mine.not_called if mine else ()) if alike(name) not in given]
    names_not_its = tuple(dict.fromkeys((*before, *word.not_called)))
    _refuse_too_many(names_not_its, "names that are not its", "not_aliases")
    return names_not_its


def changed_word(
    canvas: Canvas,
    node: Node,
    changes: Mapping[str, Any],
    spoken_of: str,
    sensitivity: Sensitivity | None = None,
) -> NodeWord:
    """What the caller said of it before, with ``changes``: fields of a NodeWord, of which names and
    addresses are added. ``spoken_of``: what they call it now."""
    guarded = sensitivity or node.sensitivity
    said = own_word(canvas, node, guarded)
    kept: dict[str, Any] = {"type": node.type, "subtype": node.subtype, "sensitivity": guarded}
    if changes.get("type", node.type) is not NodeType.ENTITY:
        if "subtype" in changes:
            raise InvalidInput("Only an Entity can have a type.", field="type")
        kept["subtype"] = ""
    if said is not None:
        kept["description"] = said.description
    listed = {field: _with_more(said, field, changes) for field in ("aliases", "addresses")}
    named = {"is_named": True} if "name" in changes else _named_before(node, said, spoken_of)
    word = NodeWord(**{**kept, **named, **changes, **listed})
    return _without_denied(word, node, changes) if word.not_called else word


def _with_more(said: NodeTelling | None, field: str, changes: Mapping[str, Any]) -> tuple[str, ...]:
    before: tuple[str, ...] = getattr(said, field) if said else ()
    listed = tuple(dict.fromkeys((*before, *changes.get(field, ()))))
    _refuse_too_many(listed, field, field)
    return listed


def _refuse_too_many(names: Sized, what: str, field: str) -> None:
    if len(names) > MOST_NAMES:
        raise TooLong(
            f"It would have {len(names):,} {what}; the limit is {MOST_NAMES}.", field=field
        )


def _named_before(node: Node, said: NodeTelling | None, spoken_of: str) -> dict[str, Any]:
    """The name that the speaker has given it. One that only sources tell is not theirs, and goes
    with these; so of those that they have not named it is kept by which name they speak of it."""
    if node.is_owner:
        return {"name": node.name}
    if said is not None and said.key:
        return {"name": said.name}
    before = said.name if said else ""
    return {"name": before or _as_spelt(node, spoken_of), "is_named": False}


def _as_spelt(node: Node, spoken_of: str) -> str:
    if spoken_of.startswith(PREFIX):
        return ""
    key = key_of(spoken_of)
    return next((name for name in node.names if key_of(name) == key), spoken_of)


def _without_denied(word: NodeWord, node: Node, changes: Mapping[str, Any]) -> NodeWord:
    """In each spelling that it is known by."""
    keys = set(map(key_of, word.not_called))
    called = word.name if word.is_named else node.name
    if key_of(called) in keys:
        raise InvalidInput(
            f"{called!r} is the node's own name.",
            remedy="Give the new name in `name`.",
            field="not_aliases",
        )
    if keys & set(map(key_of, (*changes.get("aliases", ()), *changes.get("addresses", ())))):
        raise InvalidInput("The same name is in aliases and in not_aliases.", field="not_aliases")
    spelt = [each for each in (*node.names, *node.addresses) if key_of(each) in keys]
    return replace(
        word,
        name="" if key_of(word.name) in keys else word.name,
        aliases=tuple(name for name in word.aliases if key_of(name) not in keys),
        addresses=tuple(each for each in word.addresses if key_of(each) not in keys),
        not_called=tuple(dict.fromkeys((*word.not_called, *spelt))),
    )


def vouch_for(canvas: Canvas, node: Node, spoken_of: str) -> None:
    """Whoever says something about a node says, too, that it is there: it stays when the sources
    that told of it are gone."""
    if not node.is_owner and not _own_words(canvas, node):
        say_of(canvas, node, changed_word(canvas, node, {}, spoken_of))


def relate(
    canvas: Canvas,
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
) -> EdgeTelling:
    """As guarded as what it is about: the relation that is known already, and either end.
    ``spoken_of``: what the two are called by whoever says so."""
    if a.id == b.id:
        raise InvalidInput("A node cannot have a relationship with itself.", field="to_node")
    vouch_for(canvas, a, spoken_of[0])
    vouch_for(canvas, b, spoken_of[1])
    telling = EdgeTelling(
        id=canvas.desk.new_id(),
        edge="",
        a=a.id,
        b=b.id,
        type=type,
        source=None,
        by=canvas.by,
        recorded_at=canvas.at,
        valid_from=valid_from or canvas.at,
        valid_to=valid_to,
        ends=ends,
        beside=beside,
        attitude=attitude,
        proximity=proximity,
        description=description,
        confidence=confidence,
        sensitivity=_highest(sensitivity, a.sensitivity, b.sensitivity),
    )
    canvas.relate(telling)
    return telling


def note(canvas: Canvas, about: Node | Edge, content: str, lifetime: Lifetime) -> Note:
    made = Note(
        id=OF_NOTES + canvas.desk.new_id(),
        about=about.id,
        content=content,
        added_by=canvas.by,
        date_added=canvas.at,
        expires_at=expiry(lifetime, canvas.at),
        sensitivity=about.sensitivity,
    )
    canvas.note(made)
    return made


def _highest(*marks: Sensitivity) -> Sensitivity:
    return Sensitivity.HIGH if Sensitivity.HIGH in marks else Sensitivity.NORMAL


def own_word(canvas: Canvas, node: Node, sensitivity: Sensitivity) -> NodeTelling | None:
    """What whoever speaks now has said of it before, as guarded as it is now."""
    said = [t for t in _own_words(canvas, node) if t.sensitivity is sensitivity]
    mine = [t for t in said if t.by == canvas.by]
    return max(mine, key=lambda t: t.recorded_at, default=None)


def _own_words(canvas: Canvas, node: Node) -> list[NodeTelling]:
    return [t for t in canvas.told.values() if t.node == node.id and t.source is None]
