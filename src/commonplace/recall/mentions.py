"""One hop from the best hits: which documents they mention by title, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.desk import Desk
from commonplace.model.reach import Reading
from commonplace.model.titles import mentioned
from commonplace.recall.fuse import WEIGHTS
from commonplace.recall.rank import Ranked
from commonplace.store.index import ScopeIndex

MENTIONING = 5  # the best, whose mentions of titles are followed


def texts_of(desk: Desk, best: Sequence[Ranked]) -> list[tuple[Ranked, str]]:
    """The passages among them, with what they say."""
    passages = [each for each in best if each.is_passage]
    units: dict[Reading, list[int]] = {}
    for each in passages:
        units.setdefault(each.reading, []).append(each.unit)
    found = {
        (reading, unit): passage.text
        for reading, wanted in units.items()
        for unit, passage in desk.store.passages(reading.scope, wanted).items()
    }
    return [(each, found.get((each.reading, each.unit), "")) for each in passages]


def lifts_in(
    index: ScopeIndex, texts: Iterable[tuple[Ranked, str]], highest: float
) -> dict[int, float]:
    """By how much slots of this index are lifted; the better the hit that mentions them, the
    more."""
    lifts: dict[int, float] = {}
    for each, text in texts:
        by = WEIGHTS.of("title") * each.score / highest
        own = each.id.partition("#")[0]
        for key in mentioned(text, index.titles):
            for source in index.titles[key] - {own}:
                for slot in index.sources[source].slots:
                    lifts[slot] = max(lifts.get(slot, 0.0), by)
    return lifts
