"""What an agent tells in a category that its allowlist does not name."""

from __future__ import annotations

from commonplace.desk import Desk, visibility_of
from commonplace.model.scope import Principal


def unseen_by_its_teller(desk: Desk, principal: Principal, category: str) -> tuple[str, ...]:
    """Said beforehand, since the agent would look for it in vain. It depends on the file of
    categories alone, and so tells nothing of what is there."""
    if principal.agent is None or visibility_of(principal).admits_category(category):
        return ()
    allowlist = desk.categories().allowlist_of(principal.agent).agent
    return (
        f"The allowlist {allowlist!r} of {principal.agent} does not name the category "
        f"{category!r}: the owner sees what is told there, {principal.agent} does not see it "
        "again. The file of categories can name it.",
    )
