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
        """Decide whether a message needs a memory search.

        Returns the reasons and the search query, with follow-ups completed from the conversation
        and abbreviations expanded. Call it at the start of a turn, before recall."""
        return understanding(
            self._desk,
            self.principal,
            check.text(message, "message"),
            None if recent is None else turns_from(recent),
            thread_name(thread),
        )

    def abbreviations(self) -> Sequence[Abbreviation]:
        """List abbreviations that queries are expanded with.

        Built-in ones and the user's own; forget removes the user's own by id."""
        return list(abbreviations(self._desk, self.principal))

    def abbreviate(self, short: str, long: str) -> Abbreviated:
        """Define an abbreviation for queries.

        A short form with capitals matches only that spelling; one in lower case matches any case.
        """
        return abbreviate(self._desk, self.principal, short, long)


def turns_from(recent: object) -> list[Turn]:
    """From texts, or from maps of role and text; the oldest first."""
    if isinstance(recent, str | bytes | Mapping) or not isinstance(recent, Sequence):
        raise InvalidInput("recent must be a list of texts or maps.", field="recent")
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
