"""Observing conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book.observing import Observed, observe
from commonplace.book.requests import given, listed, optional_word
from commonplace.book.verbs.handle import MAX_BATCH, Moment
from commonplace.book.verbs.recalling import Recalling
from commonplace.errors import InvalidInput
from commonplace.model import check
from commonplace.model.heard import Heard, Role
from commonplace.recall.pack import Choice
from commonplace.recall.within import NONE


class Observing(Recalling):
    def observe(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        thread: str = "main",
        at: Moment | None = None,
        session: str | None = None,
        run_id: str | None = None,
        job_id: str | None = None,
    ) -> Observed:
        """Record one conversation turn and extract memories.

        Call it for each turn as it is said. The turn is stored in the thread's conversation, and at
        most three memories are extracted from it. The answer lists what was stored, what is held
        for a person, and what was skipped and why."""
        return self.observe_many([given(locals())])[0]

    def observe_many(self, turns: Sequence[str | Mapping[str, Any]]) -> Sequence[Observed]:
        """Record several conversation turns, in order.

        One transaction and one call to the embedder; one answer per turn."""
        heard = [self._heard(turn) for turn in listed(turns, MAX_BATCH, "turns")]
        return observe(self._desk, self.principal, heard, self._may_be_meant) if heard else []

    def _heard(self, turn: object) -> Heard:
        fields = {"text": turn} if isinstance(turn, str) else turn
        if not isinstance(fields, Mapping):
            raise InvalidInput("Each turn must be a text or a map of fields.", field="turns")
        check.known_fields(fields, _FIELDS, "A turn")
        told = {name: value for name, value in fields.items() if value is not None}
        return Heard(
            text=check.text(told.get("text", ""), "text"),
            thread=check.word(told.get("thread", "main"), "thread"),
            at=check.when(told["at"], "at") if "at" in told else self._desk.clock(),
            is_dated="at" in told,
            role=check.choice(_small(told.get("role", Role.USER)), "role", Role, {}),
            **{name: optional_word(told.get(name), name) for name in _WORDS},
        )

    def _may_be_meant(self, query: str) -> Choice:
        """Among memories: of a passage only its whole conversation could be forgotten."""
        return self._choice(query, "ids", sources=NONE)


def _small(role: object) -> object:
    """Frameworks write User, USER and user."""
    return role.strip().casefold() if isinstance(role, str) else role


_WORDS = ("speaker", "session", "run_id", "job_id")
_FIELDS = ("text", "role", "thread", "at", *_WORDS)
