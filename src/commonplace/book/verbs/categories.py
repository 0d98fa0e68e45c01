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
        """List categories and the agents that may read them.

        Also how each category enters a context. Defined in the file that the setting `categories`
        names; changes apply at once."""
        return known_categories(self._desk, self.principal)

    def categories_explain(self, category: str) -> ExplainedCategory:
        """Show one category: contents, context mode, readers."""
        return explain_category(self._desk, self.principal, check.word(category, "category"))

    def categories_check(self, reader: str, category: str) -> CheckedCategory:
        """Check whether an agent may read a category.

        Names the line of the file that decides."""
        return check_category(
            self._desk,
            self.principal,
            check.word(reader, "reader"),
            check.word(category, "category"),
        )
