"""Categories, and who may see them."""

from __future__ import annotations

from commonplace.book.verbs.handle import Handle
from commonplace.model import check
from commonplace.recall.categories import (
    CheckedCategory,
    ExplainedCategory,
    KnownCategories,
    check_category,
    explain_category,
    known_categories,
)


class OfCategories(Handle):
    def categories(self) -> KnownCategories:
        """The categories, how each enters a context, and which agents may see it. The setting
        `categories` names the file that says so; a change of it takes effect at once."""
        return known_categories(self._desk, self.principal)

    def categories_explain(self, category: str) -> ExplainedCategory:
        """One category: how it enters a context, what is in it, and who may see it."""
        return explain_category(self._desk, self.principal, check.word(category, "category"))

    def categories_check(self, reader: str, category: str) -> CheckedCategory:
        """May this agent see that category? Says which line of the file decides."""
        return check_category(
            self._desk,
            self.principal,
            check.word(reader, "reader"),
            check.word(category, "category"),
        )
