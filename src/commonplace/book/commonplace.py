"""An open store."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from commonplace.book.embedders import (
    identity_of,
    keep_calibration,
    make_embedder,
    measured_calibration,
)
from commonplace.book.user import User
from commonplace.desk import Desk
from commonplace.errors import BadSettings, CommonplaceError, EmbedderUnavailable, InvalidInput
from commonplace.language.detect import Script
from commonplace.language.models.calibrate import calibrate, pairs_from
from commonplace.language.models.embedder import Embedder, EmbedderDown, Knots, Proof
from commonplace.model import check
from commonplace.model.lifecycle import LIFETIMES
from commonplace.model.scope import Principal
from commonplace.settings import Settings
from commonplace.sleep.reembed import Reembedded, Report, reembed
from commonplace.sleep.tidy import scrub
from commonplace.store.address import MEMORY

log = logging.getLogger("commonplace")

TIDIED_WHEN_OPENED = 200  # scopes; the rest are tidied when they come up next


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Where the embedder's map held on the pairs it was not drawn from; elsewhere it is blind."""

    embedder: str
    knots: Mapping[Script, Knots]
    proofs: Mapping[Script, Proof]


class Commonplace:
    """An open store. Use it as a context manager, or call `close`."""

    def __init__(self, desk: Desk, settings: Settings | None = None):
        self._desk = desk
        self._settings = settings

    def user(self, user_id: str, *, cleared: bool = False) -> User:
        """The handle of one user. Cleared ones see sensitivity high in lists and searches."""
        return User(self._desk, Principal(check.word(user_id, "user_id"), cleared=cleared))

    @property
    def url(self) -> str:
        return self._desk.store.url

    def flush(self) -> None:
        """Wait until what was read is written down."""
        self._desk.books.flush()

    def reembed(self, embedder: str | Embedder, *, progress: Report = lambda _: None) -> Reembedded:
        """Make all vectors anew with another embedder. Everybody goes on working with the old
        ones until the new are complete; stopped, it goes on from there when run again. Then the
        store is opened with the new embedder."""
        if self.url == MEMORY:
            raise BadSettings(
                "A store in memory ends with its book, so it keeps its embedder.",
                remedy="Open another one with the embedder that you want.",
                field="embedder",
            )
        model = make_embedder(embedder, self._settings) if isinstance(embedder, str) else embedder
        identity_of(model)  # says what is wrong before anything is begun
        self.flush()
        done = reembed(self._desk.store, model, progress)
        measured_calibration(self._desk.store, model)
        return done

    def calibrate(self, lines: Iterable[str]) -> Calibrated:
        """Measure the embedder on pairs of texts that people judged, so that its cosines mean what
        the engine's thresholds say. Each line: {"a": "…", "b": "…", "similarity": 0 to 1}."""
        model = self._desk.embedder
        try:
            found = calibrate(model, pairs_from(lines))
        except EmbedderDown as error:
            raise EmbedderUnavailable(f"The embedder {model.name} is down: {error}.") from error
        if not found.proofs:
            raise InvalidInput(
                "Too few pairs: at least 40 of one script are needed.", field="lines"
            )
        whole = self._desk.calibration.with_measured(found)
        keep_calibration(self._desk.store, model, whole)
        self._desk = replace(self._desk, measured=whole)
        return Calibrated(model.name, dict(found.knots), dict(found.proofs))

    def tidy_what_is_due(self) -> None:
        """Once a day for each user, whether or not a worker runs."""
        due = self._desk.clock() - LIFETIMES.tidy_every
        for scope in self._desk.store.scopes(tidied_before=due)[:TIDIED_WHEN_OPENED]:
            owner = User(self._desk, Principal(scope.name, cleared=True))
            try:
                owner._tidy_without_compaction()
            except CommonplaceError as error:  # one user's trouble does not close the store
                log.warning("tidying has to wait: %s", error.code)
        scrub(self._desk)

    def close(self) -> None:
        self._desk.books.close()
        self._desk.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
