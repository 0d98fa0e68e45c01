"""What every verb starts from: whose memory it is, and who asks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from commonplace.desk import Desk
from commonplace.errors import NotAllowed
from commonplace.model.scope import Principal

MAX_K = 1000
MAX_BATCH = 1000

Texts = str | Sequence[str]
Moment = str | datetime


class Handle:
    def __init__(self, desk: Desk, principal: Principal):
        self._desk = desk
        self.principal = principal

    def _owner_only(self, what: str) -> None:
        """An agent could learn from it of what it may not see."""
        if not self.principal.is_owner:
            raise NotAllowed(f"Only the owner may {what}.")


def several(texts: Texts) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
