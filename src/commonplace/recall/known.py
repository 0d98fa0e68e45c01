"""What is known before a query is understood: who takes part in what may be read, and by which
abbreviations the asker's words are read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from commonplace.desk import Desk
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.recall.vocabulary import Stamp, stamp_of


def known_before(
    desk: Desk, principal: Principal, readings: Sequence[Reading]
) -> tuple[Collection[str], Stamp]:
    """People of every reading; abbreviations are a matter of one's own."""
    with desk.index.holding(readings) as indexes:
        people = dict.fromkeys(name for index in indexes for name in index.people)
        for reading, index in zip(readings, indexes, strict=True):
            if reading.is_own:
                return people, stamp_of(index, desk, principal)
    return people, Stamp()
