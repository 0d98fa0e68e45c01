"""Who the user is."""

from __future__ import annotations

from typing import Any

from commonplace.book.verbs.handle import Handle
from commonplace.remember.profile import (
    Profile,
    ProfileChange,
    add_note,
    read_profile,
    set_field,
)


class OfTheProfile(Handle):
    def profile(self) -> Profile:
        """Who the user is: the fields and notes of the profile."""
        return read_profile(self._desk, self.principal)

    def profile_set(self, name: str, value: Any) -> ProfileChange:
        """Set a field of the profile (preferred_name, pronouns, city, language, tone, goals …)."""
        return set_field(self._desk, self.principal, name, value)

    def profile_note(self, text: str) -> ProfileChange:
        """Add a note to the profile; its id is profile:N."""
        return add_note(self._desk, self.principal, text)
