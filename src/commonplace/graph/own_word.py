"""What somebody says of the graph themself: a node, a relation, a note. No source stands behind it,
so nothing but their own word takes it away."""

from __future__ import annotations

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
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # names that are not its
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 1.0
    sensitivity: Sensitivity = Sensitivity.NORMAL


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
    if mine and mine.key != key_of(word.name) and mine.name not in (*aliases, *not_called):
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
            key=key_of(word.name),
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
    given = {alike(name) for name in (word.name, *word.aliases)}
    before = [name for name in (mine.not_called if mine else ()) if alike(name) not in given]
    names = tuple(dict.fromkeys((*before, *word.not_called)))
    if len(names) > MOST_NAMES:
        raise TooLong(
            f"It would have {len(names):,} names that are not its; the limit is {MOST_NAMES}.",
            field="not_aliases",
        )
    return names


def changed_word(canvas: Canvas, node: Node, changes: dict[str, Any]) -> NodeWord:
    """What the caller said of it before, but for ``changes``: fields of a NodeWord."""
    kept = ("type", "subtype", "name", "sensitivity")
    fields = {each: getattr(node, each) for each in kept}
    if said := own_word(canvas, node, node.sensitivity):
        fields |= {each: getattr(said, each) for each in ("aliases", "addresses", "description")}
    if changes.get("type", node.type) is not NodeType.ENTITY:
        if "subtype" in changes:
            raise InvalidInput("Only an Entity has a type of its own.", field="type")
        fields["subtype"] = ""
    word = NodeWord(**{**fields, **changes})
    return _without_denied(word, node, changes) if word.not_called else word


def _without_denied(word: NodeWord, node: Node, changes: dict[str, Any]) -> NodeWord:
    """In each spelling that it is known by."""
    keys = set(map(key_of, word.not_called))
    if key_of(word.name) in keys:
        raise InvalidInput(
            f"{word.name!r} is what it is called.",
            remedy="Say with name what it is called instead.",
            field="not_aliases",
        )
    if keys & set(map(key_of, changes.get("aliases", ()))):
        raise InvalidInput("A name is given, and taken away.", field="not_aliases")
    spelt = [name for name in node.names if key_of(name) in keys]
    return replace(
        word,
        aliases=tuple(name for name in word.aliases if key_of(name) not in keys),
        not_called=tuple(dict.fromkeys((*word.not_called, *spelt))),
    )


def vouch_for(canvas: Canvas, node: Node) -> None:
    """Whoever says something about a node says, too, that it is there: it stays when the sources
    that told of it are gone."""
    if not node.is_owner and not _own_words(canvas, node):
        word = NodeWord(
            type=node.type, name=node.name, subtype=node.subtype, sensitivity=node.sensitivity
        )
        say_of(canvas, node, word)


def relate(
    canvas: Canvas,
    a: Node,
    b: Node,
    type: str,
    *,
    description: str = "",
    attitude: int | None = None,
    proximity: int | None = None,
    confidence: float = 0.8,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    ends: bool = False,
    sensitivity: Sensitivity = Sensitivity.NORMAL,
) -> EdgeTelling:
    """As guarded as what it is about: the relation that is known already, and either end."""
    if a.id == b.id:
        raise InvalidInput("A node has no relationship with itself.", field="to_node")
    vouch_for(canvas, a)
    vouch_for(canvas, b)
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
