"""Writing the recall log, off the answer's path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.desk import Desk
from commonplace.model.changes import Bookkeeping
from commonplace.model.recall_log import MAIN, Returned, Search, Turn
from commonplace.model.scope import Principal
from commonplace.recall.pack import Hit


def searched(verb: str, asked: str, hits: Iterable[Hit]) -> Search:
    """What one question was answered with; of hits that were explained also why. What is another's
    is not written down here, for its erasing would not reach it."""
    returned = [
        Returned(hit.id, hit.score, hit.why or "", dict(hit.parts or {}))
        for hit in hits
        if not hit.is_anothers
    ]
    return Search(verb, asked, tuple(returned))


def log_turn(
    desk: Desk,
    principal: Principal,
    searches: Sequence[Search],
    thread: str | None = None,
    turn: int | None = None,
) -> None:
    """One turn's searches together. Nothing where the log is off."""
    if not desk.recall_log or not searches:
        return
    now = desk.clock()
    noted = Turn(thread or MAIN, principal.agent, now, tuple(searches), turn)
    desk.books.later(Bookkeeping(principal.scope, now, turns=(noted,)))
