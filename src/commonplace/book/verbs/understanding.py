"""What a message asks for, and what the user's abbreviations stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonplace.book.requests import thread_name
from commonplace.book.verbs.handle import Handle
from commonplace.errors import InvalidInput, TooLong
from commonplace.language.asking.turns import Turn
from commonplace.model import check
from commonplace.model.abbreviation import Abbreviation
from commonplace.recall.understanding import Understanding, understanding
from commonplace.recall.vocabulary import abbreviations
from commonplace.remember.abbreviate import Abbreviated, abbreviate

MAX_TURNS = 1000
_FIELDS = ("role", "text")


class Understands(Handle):
    def understand(
        self,
        message: str,
        *,
        recent: Sequence[str] | Sequence[Mapping[str, str]] | None = None,
        thread: str | None = None,
    ) -> Understanding:
        """What a message asks for: whether memory has to be searched, with reasons, and the query
        for it, follow-ups filled from the conversation and abbreviations written out. For the
        start of a turn, before recall."""
        return understanding(
            self._desk,
            self.principal,
            check.text(message, "message"),
            None if recent is None else turns_from(recent),
            thread_name(thread),
        )

    def abbreviations(self) -> Sequence[Abbreviation]:
        """What short forms stand for in a query: those shipped, and the user's own, which forget
        removes by their ids."""
        return list(abbreviations(self._desk, self.principal))

    def abbreviate(self, short: str, long: str) -> Abbreviated:
        """Say what a short form stands for. Written with capitals it is met only so; in small
        letters in any case."""
        return abbreviate(self._desk, self.principal, short, long)


def turns_from(recent: object) -> list[Turn]:
    """From texts, or from maps of role and text; the oldest first."""
    if isinstance(recent, str | bytes | Mapping) or not isinstance(recent, Sequence):
        raise InvalidInput("recent must be a list of texts, or of maps.", field="recent")
    if len(recent) > MAX_TURNS:
        raise TooLong(f"recent holds at most {MAX_TURNS} turns.", field="recent")
    return [_turn(each) for each in recent]


def _turn(given: Any) -> Turn:
    if isinstance(given, str):
        return Turn(check.text(given, "recent"))
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"A turn is a text or a map of role and text, not {type(given).__name__}.",
            field="recent",
        )
    check.known_fields(given, _FIELDS, "A turn")
    role = given.get("role")
    who = None if role is None else check.word(role, "recent").lower()
    return Turn(check.text(given.get("text"), "recent"), who)
