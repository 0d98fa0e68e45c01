"""An open store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from commonplace.book.embedders import (
    drop_calibration,
    identity_of,
    keep_calibration,
    make_embedder,
    measured_calibration,
)
from commonplace.book.extracting_all import ExtractedOfAll, extract_of_everybody
from commonplace.book.keys import create_key, identify, list_keys, revoke_key
from commonplace.book.once import Asked, once
from commonplace.book.user import User
from commonplace.book.verbs.extracting import MAX_EXTRACTED
from commonplace.book.verbs.handle import Moment
from commonplace.book.verbs.keys import OfKeys, end_of
from commonplace.book.work import kinds_of_work
from commonplace.desk import Desk
from commonplace.errors import (
    BadSettings,
    CommonplaceError,
    EmbedderUnavailable,
    InvalidInput,
    MissingField,
    NotAllowed,
    StaleDecision,
    StoreError,
)
from commonplace.language.detect import Script
from commonplace.language.models.calibrate import FEWEST_PAIRS, Pair, calibrate, pairs_from
from commonplace.language.models.embedder import Calibration, Embedder, EmbedderDown, Knots, Proof
from commonplace.model import check
from commonplace.model.delta import Delta
from commonplace.model.key import Key, NewKey, ShownKey, principal_of
from commonplace.model.lifecycle import LIFETIMES
from commonplace.model.scope import Principal, Scope
from commonplace.recall.changes import since_last_look
from commonplace.settings import Settings
from commonplace.sleep.background import Background
from commonplace.sleep.night import Night
from commonplace.sleep.reembed import Reembedded, Report, reembed
from commonplace.sleep.tidy import scrub
from commonplace.sleep.tidy_team import tidy_team
from commonplace.sleep.worker import Worked, Worker
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
        self._kinds = kinds_of_work(desk)
        self.night = Night(desk.clock, self.tidy_what_is_due)
        self._background = Background(self._worker)
        self._at_work: list[Worker] = []

    def user(self, user_id: str, *, cleared: bool = False) -> User:
        """The handle of one user. Cleared ones see sensitivity high in lists and searches."""
        return User(self._desk, Principal(check.word(user_id, "user_id"), cleared=cleared))

    # ——— keys ———

    def authenticate(self, token: str) -> User:
        """The handle of whoever comes with a key, with exactly the key's rights. Ask again for
        each request: a key that was revoked or has expired is refused from that moment on."""
        return self.opened_by(self.identify(token))

    def identify(self, token: str) -> Key:
        """The key that a token is of, while it is valid; an admin's, too."""
        return identify(self._desk, token)

    def opened_by(self, key: Key) -> User:
        if key.is_admin:
            raise NotAllowed(
                "An admin key cannot read a memory.", remedy="Use an API key of the memory's owner."
            )
        return User(self._desk, principal_of(key))

    def keys_of(self, user_id: str, key: Key | None = None) -> OfKeys:
        """A user's keys and nothing else of theirs, for whoever looks after the store."""
        name = check.word(user_id, "user_id")
        return OfKeys(self._desk, Principal(name, admin=True, key=key.id if key else None))

    def admin_keys(self) -> Sequence[ShownKey]:
        """List admin API keys."""
        return list_keys(self._desk, Scope.of_the_store())

    def admin_keys_create(
        self,
        label: str = "admin",
        *,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
    ) -> NewKey:
        """Create an admin API key.

        It manages the keys of any user, runs jobs and changes the embedder, but cannot read any
        memory. The token is shown once."""
        ends = end_of(ttl_days, expires_at, self._desk.clock())
        return create_key(self._desk, None, None, label=check.word(label, "label"), expires_at=ends)

    def admin_keys_revoke(self, id: str) -> ShownKey:
        """Revoke an admin API key immediately."""
        return revoke_key(self._desk, None, Scope.of_the_store(), check.id(id))

    def first_admin_key(self) -> NewKey | None:
        """For a server that starts: an admin's key, where there never was one. Of several that
        start at once, one gets it."""
        if self._desk.store.keys(Scope.of_the_store()):
            return None
        try:
            return create_key(self._desk, None, None, label="first", if_first=True)
        except StaleDecision:
            return None

    @property
    def url(self) -> str:
        return self._desk.store.url

    def flush(self) -> None:
        """Wait until what was read is written down."""
        self._desk.books.flush()

    def ping(self) -> None:
        """Raises what is wrong where the store cannot be read."""
        self._desk.store.fact("ready")

    def has_keys(self) -> bool:
        """Is there anybody who could come with a key?"""
        now = self._desk.clock()
        scopes = (Scope.of_the_store(), *self._desk.store.scopes())
        return any(key.is_valid(now) for scope in scopes for key in self._desk.store.keys(scope))

    def once(self, whose: User, asked: Asked, do: Callable[[User], str]) -> str:
        """Do it with the handle that is given to it, unless the same caller asked for the same
        with the same key within a day: then the answer is the first one's."""
        return once(whose._desk, whose.principal, asked, lambda desk: do(User(desk, whose._asking)))

    def insisting(self, whose: User, insist: Callable[[], None]) -> User:
        """A handle whose changes are made only while ``insist`` raises nothing: it is asked in the
        decision of each change, so that nobody changes anything in between."""
        return User(replace(whose._desk, insist=insist), whose._asking)

    def changes_after(self, whose: User, revision: int) -> Delta:
        """What a handle may hear of since a revision. No mark is moved."""
        return since_last_look(self._desk, whose.principal, "", revision)

    def reembed(self, embedder: str | Embedder, *, progress: Report = lambda _: None) -> Reembedded:
        """Recompute all vectors with another embedder.

        The old vectors stay in use until the new ones are complete; an interrupted run continues
        where it stopped. Afterwards open the store with the new embedder."""
        if self.url == MEMORY:
            raise BadSettings(
                "An in-memory store cannot change its embedder.",
                remedy="Open a new store with the embedder you want.",
                field="embedder",
            )
        model = make_embedder(embedder, self._settings) if isinstance(embedder, str) else embedder
        identity_of(model)  # says what is wrong before anything is begun
        self.flush()
        done = reembed(self._desk.store, model, progress)
        measured_calibration(self._desk.store, model)
        return done

    def calibrate(self, lines: Iterable[str] | None = None, *, reset: bool = False) -> Calibrated:
        """Calibrate the embedder's similarity with rated pairs.

        Maps its cosines to the scale of the engine's thresholds. Each line: {"a": "…", "b": "…",
        "similarity": 0 to 1}. reset: use the embedder's own calibration."""
        model = self._desk.embedder
        if check.flag(reset, "reset"):
            if lines is not None:
                raise InvalidInput("Give lines or reset, not both.", field="reset")
            drop_calibration(self._desk.store, model)
            self._desk.measured.calibration = None
            known = model.calibration
            return Calibrated(model.name, dict(known.knots), dict(known.proofs))
        if lines is None:
            raise MissingField("Give lines or reset.", field="lines")
        found = self._measure(pairs_from(lines))
        whole = self._desk.calibration.with_measured(found)
        keep_calibration(self._desk.store, model, whole)
        self._desk.measured.calibration = whole
        return Calibrated(model.name, dict(found.knots), dict(found.proofs))

    def _measure(self, pairs: Sequence[Pair]) -> Calibration:
        """Refused where it says nothing: it would outrank what is known already."""
        model = self._desk.embedder
        try:
            found = calibrate(model, pairs)
        except EmbedderDown as error:
            raise EmbedderUnavailable(f"The embedder {model.name} is down: {error}.") from error
        if not found.proofs:
            raise InvalidInput(
                f"Too few pairs: at least {FEWEST_PAIRS} of one script are needed.", field="lines"
            )
        if not found.knots:
            told = "; ".join(f"{script}: {proof}" for script, proof in found.proofs.items())
            raise InvalidInput(
                f"{model.name} disagrees with these pairs ({told}); nothing was stored.",
                remedy="Give pairs over the whole range from 0 to 1, or use another embedder.",
                field="lines",
            )
        return found

    # ——— work that is owed ———

    def extract_all(self, *, at_most: int = 500) -> ExtractedOfAll:
        """Extract the sources of all users of the store.

        Does what extract does, for every user."""
        return extract_of_everybody(self._desk, check.integer(at_most, "at_most", 1, MAX_EXTRACTED))

    def work(self, *, once: bool = False) -> Worked:
        """Run background jobs for all users.

        Processes sources and late vectors. Any number of workers can share a store; jobs of a
        worker that died are taken over. once: run the jobs that are due, then stop."""
        worker = self._worker()
        if check.flag(once, "once"):
            return worker.run_until_idle()
        self._at_work.append(worker)
        try:
            return worker.run()
        finally:
            self._at_work.remove(worker)

    def stop_work(self) -> None:
        """`work` ends as soon as the job that is under way is done."""
        for worker in tuple(self._at_work):
            worker.stop()

    def work_in_background(self) -> None:
        """A thread does what this process causes, and what others left undone."""
        self._desk.store.when_enqueued(self._background.wake)
        try:
            waits = self._desk.store.next_due(sorted(self._kinds)) is not None
        except StoreError as error:  # a login that may not claim leaves it to those who may
            log.warning("background jobs postponed: %s", error.code)
            return
        if waits:
            self._background.wake()

    def _worker(self) -> Worker:
        return Worker(self._desk, self._kinds, when_idle=self.night.look)

    # ——— looking after it ———

    def tidy_what_is_due(self) -> None:
        """Once a day for each user, whether or not a worker runs."""
        due = self._desk.clock() - LIFETIMES.tidy_every
        for scope in self._desk.store.scopes(tidied_before=due)[:TIDIED_WHEN_OPENED]:
            try:
                self._tidy(scope)
            except CommonplaceError as error:  # one user's trouble does not close the store
                log.warning("tidy postponed: %s", error.code)
        scrub(self._desk)

    def _tidy(self, scope: Scope) -> None:
        if scope.is_team:
            tidy_team(self._desk, scope)
        elif scope.is_user:  # of the store itself there is nothing to tidy
            User(self._desk, Principal(scope.name, cleared=True))._tidy_without_compaction()

    def close(self) -> None:
        self.stop_work()
        self._background.close()
        self._desk.made.close()
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
