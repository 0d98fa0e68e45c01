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
        """Show the user's profile: fields and notes."""
        return read_profile(self._desk, self.principal)

    def profile_set(self, name: str, value: Any) -> ProfileChange:
        """Set a profile field.

        For example preferred_name, pronouns, city, language, tone, goals."""
        return set_field(self._desk, self.principal, name, value)

    def profile_note(self, text: str) -> ProfileChange:
        """Add a note to the profile.

        Its id is profile:N."""
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
        """Propose a value for a profile field.

        A proposal of an agent waits 7 days for the owner; tone and goals_add are applied after two
        independent signals, or one with a confidence of 0.8. A proposal of the owner is applied at
        once. A value that is based on a source or a memory is erased with it."""
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
        """List open profile proposals, oldest first.

        Each with the current value, who proposed it, why, and until when it is open."""
        most = check.integer(limit, "limit", 1, MAX_K)
        return list_proposals(self._desk, self.principal, most, page_after(after))

    def accept(self, id: str, *, thread: str | None = None) -> Decided:
        """Accept a profile proposal.

        Other proposals for the same field are declined. Owner only."""
        return accept(self._desk, self.principal, check.id(id), thread_name(thread))

    def decline(self, id: str, *, thread: str | None = None) -> Decided:
        """Decline a profile proposal.

        The profile stays unchanged. Owner only."""
        return decline(self._desk, self.principal, check.id(id), thread_name(thread))
