"""Who the user is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.book.requests import page_after, thread_name
from commonplace.book.verbs.handle import MAX_K, Handle
from commonplace.model import check
from commonplace.recall.proposals import OpenProposal, list_proposals
from commonplace.remember.consent import Proposed, claim, propose
from commonplace.remember.profile import (
    Profile,
    ProfileChange,
    add_note,
    read_profile,
    set_field,
)
from commonplace.remember.proposals import Decided, accept, decline


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

    def propose(
        self,
        name: str,
        value: Any,
        *,
        confidence: float | None = None,
        reason: str | None = None,
        evidence: Sequence[str] | None = None,
        source_id: str | None = None,
        memory_id: str | None = None,
        thread: str | None = None,
    ) -> Proposed:
        """Say what a field of the profile should be. By an agent it waits 7 days for the owner;
        tone and goals_add apply after two independent signals, or one insight (a confidence) of
        0.8. By the owner it is set. What rests on a source or a memory is erased with it."""
        said = claim(
            name,
            value,
            confidence=confidence,
            reason=reason,
            evidence=evidence,
            source_id=None if source_id is None else check.id(source_id, "source_id"),
            memory_id=None if memory_id is None else check.id(memory_id, "memory_id"),
            thread=thread_name(thread),
        )
        return propose(self._desk, self.principal, said)

    def proposals(self, *, limit: int = 50, after: str | None = None) -> Sequence[OpenProposal]:
        """What others would have the profile say, the oldest first: beside what it says now, with
        who, why and until when."""
        most = check.integer(limit, "limit", 1, MAX_K)
        return list_proposals(self._desk, self.principal, most, page_after(after))

    def accept(self, id: str, *, thread: str | None = None) -> Decided:
        """Let the profile say what was proposed; other values for the same field are declined.
        The owner alone can."""
        return accept(self._desk, self.principal, check.id(id), thread_name(thread))

    def decline(self, id: str, *, thread: str | None = None) -> Decided:
        """Leave the profile as it is. The owner alone can."""
        return decline(self._desk, self.principal, check.id(id), thread_name(thread))
