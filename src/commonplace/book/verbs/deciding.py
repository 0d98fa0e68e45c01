"""What a person decides."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.book.requests import page_after, thread_name
from commonplace.book.verbs.handle import MAX_K, Handle
from commonplace.model import check
from commonplace.model.conflict import Choice as Decided
from commonplace.recall import conflicts as inbox
from commonplace.recall.conflicts import Question
from commonplace.remember.resolve import Resolved, resolve


class Deciding(Handle):
    def conflicts(
        self, *, limit: int = 50, after: str | None = None, alternatives: bool = False
    ) -> Sequence[Question]:
        """List open conflicts, oldest first.

        Each with its current and held values, evidence and dates. alternatives: include values that
        sources contradict."""
        most = check.integer(limit, "limit", 1, MAX_K)
        others = check.flag(alternatives, "alternatives")
        return inbox.conflicts(self._desk, self.principal, most, others, page_after(after))

    def resolve(
        self,
        conflict: str,
        choice: str,
        *,
        target: str | None = None,
        held: str | None = None,
        thread: str | None = None,
    ) -> Resolved:
        """Resolve a conflict: override, insert or dismiss.

        override: the held value replaces the target (undo with restore). insert: keep both.
        dismiss: keep the current value."""
        return resolve(
            self._desk,
            self.principal,
            check.word(conflict, "conflict"),
            check.choice(choice, "choice", Decided, {}),
            None if target is None else check.word(target, "target"),
            None if held is None else check.word(held, "held"),
            thread_name(thread),
        )
