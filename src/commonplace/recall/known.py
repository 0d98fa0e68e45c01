"""What is known before a query is understood: who takes part in what may be read, and by which
abbreviations the asker's words are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from commonplace.desk import Desk
from commonplace.model.memory import Sensitivity
from commonplace.model.reach import Reading
from commonplace.model.scope import Principal
from commonplace.recall.vocabulary import Stamp, stamp_of
from commonplace.store.index import ScopeIndex


def known_before(
    desk: Desk, principal: Principal, readings: Sequence[Reading]
) -> tuple[Collection[str], Stamp]:
    """People of every reading; abbreviations are a matter of one's own."""
    people: dict[str, None] = {}
    stamp = Stamp()
    with desk.index.holding(readings) as indexes:
        for reading, index in zip(readings, indexes, strict=True):
            if reading.is_own:
                people |= dict.fromkeys(index.people)
                stamp = stamp_of(index, desk, principal)
            else:
                people |= dict.fromkeys(_openly_in(index))
    return people, stamp


def _openly_in(index: ScopeIndex) -> Iterator[str]:
    """Whom a source names that is not sensitive: of the others nobody else may know."""
    for name, sources in index.people.items():
        if any(index.sources[id].told.sensitivity != Sensitivity.HIGH for id in sources):
            yield name
