"""Ways to tell a value, and to look at the questions that come of it."""

from __future__ import annotations

from typing import Any

from commonplace.api import User
from commonplace.engine.memories.inbox import OpenConflict
from commonplace.engine.memories.remember import Remembered


def tell(me: User, value: object, subject: str = "door code", **more: Any) -> Remembered:
    """A value of a subject."""
    return me.remember(kind="kv", metadata={"subject": subject, "value": value}, **more)


def tell_of(me: User, name: str, **fields: Any) -> Remembered:
    """A person; what is no field of a contact is a field of the memory."""
    of_contact = ("phone", "email", "role", "description")
    metadata = {n: fields.pop(n) for n in of_contact if n in fields}
    return me.remember(
        kind="contact", metadata={"name": name, **metadata, **fields.pop("metadata", {})}, **fields
    )


def asked(me: User) -> OpenConflict:
    """The only open question."""
    (question,) = me.conflicts()
    return question


def values(me: User) -> list[object]:
    """What the live values of subjects are."""
    return sorted((m.metadata["value"] for m in me.list(kinds="kv").memories), key=str)


def sides(question: OpenConflict) -> tuple[list[str], list[str]]:
    return [side.id for side in question.standing], [side.id for side in question.held]
