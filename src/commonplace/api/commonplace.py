"""Commonplace (an open store) and User (one user's memory), and whole-graph access."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Self

from commonplace.api.account import KeyVerbs, read_expiry
from commonplace.api.embedders import (
    embedder_identity,
    load_measured_calibration,
    make_embedder,
    reset_calibration,
    save_calibration,
)
from commonplace.api.handle import Moment
from commonplace.api.sources import MAX_EXTRACTED
from commonplace.api.user import User
from commonplace.engine.context import EngineContext
from commonplace.engine.graph.bulk import BulkItem
from commonplace.engine.graph.bulk import apply_bulk as say
from commonplace.engine.graph.extraction.extract import ExtractedForAll, extract_for_all_users
from commonplace.engine.graph.visible_graph import visible_graph
from commonplace.engine.history.changes import load_delta
from commonplace.engine.idempotency import IdempotentRequest, run_once
from commonplace.engine.maintenance.jobs import bind_job_kinds
from commonplace.engine.maintenance.reembed import Reembedded, ReportProgress, reembed
from commonplace.engine.maintenance.tidy import scrub, tidy_team
from commonplace.engine.maintenance.worker import BackgroundWorker, TidySchedule, Worked, Worker
from commonplace.engine.teams.keys import create_key, identify_key, list_keys, revoke_key
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
from commonplace.language.embedders.calibration import (
    MIN_PAIRS,
    CalibrationPair,
    calibrate,
    parse_pairs,
)
from commonplace.language.embedders.embedder import (
    Calibration,
    CalibrationProof,
    Embedder,
    EmbedderDown,
    Knots,
)
from commonplace.language.text.detect import Script
from commonplace.model import validation
from commonplace.model.access.key import Key, NewKey, ShownKey, principal_of
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.delta import Delta
from commonplace.model.graph.assertion import Note
from commonplace.model.graph.elements import Node
from commonplace.model.graph.snapshot import GraphSnapshot
from commonplace.model.memory.lifecycle import LIFETIMES, NOW
from commonplace.settings import Settings
from commonplace.store.address import IN_MEMORY
from commonplace.store.queries import AssertionQuery, ScopeQuery

log = logging.getLogger("commonplace")

MAX_TIDIED_ON_OPEN = 200  # scopes; the rest are tidied when they come up next


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Where the embedder's map held on the pairs it was not drawn from; elsewhere it is blind."""

    embedder: str
    knots: Mapping[Script, Knots]
    proofs: Mapping[Script, CalibrationProof]


class Commonplace:
    """An open store. Use it as a context manager, or call `close`."""

    def __init__(self, engine: EngineContext, settings: Settings | None = None):
        self._engine = engine
        self._settings = settings
        self._kinds = bind_job_kinds(engine)
        self.night = TidySchedule(engine.clock, self.tidy_what_is_due)
        self._background = BackgroundWorker(self._worker)
        self._running_workers: list[Worker] = []

    def user(self, user_id: str, *, cleared: bool = False) -> User:
        """The handle of one user. Cleared ones see sensitivity high in lists and searches."""
        return User(self._engine, Principal(validation.word(user_id, "user_id"), cleared=cleared))

    # ——— keys ———

    def authenticate(self, token: str) -> User:
        """The handle of whoever comes with a key, with exactly the key's rights. Ask again for
        each request: a key that was revoked or has expired is refused from that moment on."""
        return self.opened_by(self.identify(token))

    def identify(self, token: str) -> Key:
        """The key that a token is of, while it is valid; an admin's, too."""
        return identify_key(self._engine, token)

    def opened_by(self, key: Key) -> User:
        if key.is_admin:
            raise NotAllowed(
                "An admin key cannot read a memory.", remedy="Use an API key of the memory's owner."
            )
        return User(self._engine, principal_of(key))

    def keys_of(self, user_id: str, key: Key | None = None) -> KeyVerbs:
        """A user's keys and nothing else of theirs, for whoever looks after the store."""
        name = validation.word(user_id, "user_id")
        return KeyVerbs(self._engine, Principal(name, admin=True, key=key.id if key else None))

    def admin_keys(self) -> Sequence[ShownKey]:
        """List admin API keys."""
        return list_keys(self._engine, Scope.of_the_store())

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
        ends = read_expiry(ttl_days, expires_at, self._engine.clock())
        return create_key(
            self._engine, None, None, label=validation.word(label, "label"), expires_at=ends
        )

    def admin_keys_revoke(self, id: str) -> ShownKey:
        """Revoke an admin API key immediately."""
        return revoke_key(self._engine, None, Scope.of_the_store(), validation.id(id))

    def first_admin_key(self) -> NewKey | None:
        """For a server that starts: an admin's key, where there never was one. Of several that
        start at once, one gets it."""
        if self._engine.store.keys(Scope.of_the_store()):
            return None
        try:
            return create_key(self._engine, None, None, label="first", if_first=True)
        except StaleDecision:
            return None

    @property
    def url(self) -> str:
        return self._engine.store.url

    def flush(self) -> None:
        """Wait until what was read is written down."""
        self._engine.access_log.flush()

    def ping(self) -> None:
        """Raises what is wrong where the store cannot be read."""
        self._engine.store.fact("ready")

    def has_keys(self) -> bool:
        """Is there anybody who could come with a key?"""
        now = self._engine.clock()
        scopes = (Scope.of_the_store(), *self._engine.store.scopes())
        return any(key.is_valid(now) for scope in scopes for key in self._engine.store.keys(scope))

    def once(self, whose: User, asked: IdempotentRequest, do: Callable[[User], str]) -> str:
        """Do it with the handle that is given to it, unless the same caller asked for the same
        with the same key within a day: then the answer is the first one's."""
        return run_once(
            whose._engine,
            whose.principal,
            asked,
            lambda claim: do(User(whose._engine, whose._asking, whose._precondition, claim)),
        )

    def insisting(self, whose: User, insist: Callable[[], None]) -> User:
        """A handle whose changes are made only while ``insist`` raises nothing: it is asked in the
        decision of each change, so that nobody changes anything in between."""
        return User(whose._engine, whose._asking, insist, whose._claim)

    def changes_after(self, whose: User, revision: int) -> Delta:
        """What a handle may hear of since a revision. No mark is moved."""
        return load_delta(self._engine, whose.principal, "", revision)

    def reembed(
        self, embedder: str | Embedder, *, progress: ReportProgress = lambda _: None
    ) -> Reembedded:
        """Recompute all vectors with another embedder.

        The old vectors stay in use until the new ones are complete; an interrupted run continues
        where it stopped. Afterwards open the store with the new embedder."""
        if self.url == IN_MEMORY:
            raise BadSettings(
                "An in-memory store cannot change its embedder.",
                remedy="Open a new store with the embedder you want.",
                field="embedder",
            )
        model = make_embedder(embedder, self._settings) if isinstance(embedder, str) else embedder
        embedder_identity(model)  # says what is wrong before anything is begun
        self.flush()
        done = reembed(self._engine.store, model, progress, self._engine.clock())
        load_measured_calibration(self._engine.store, model, self._engine.clock())
        return done

    def calibrate(self, lines: Iterable[str] | None = None, *, reset: bool = False) -> Calibrated:
        """Calibrate the embedder's similarity with rated pairs.

        Maps its cosines to the scale of the engine's thresholds. Each line: {"a": "…", "b": "…",
        "similarity": 0 to 1}. reset: use the embedder's own calibration."""
        model = self._engine.embedder
        if validation.flag(reset, "reset"):
            if lines is not None:
                raise InvalidInput("Give lines or reset, not both.", field="reset")
            reset_calibration(self._engine.store, model, self._engine.clock())
            self._engine.measured.calibration = None
            known = model.calibration
            return Calibrated(model.name, dict(known.knots), dict(known.proofs))
        if lines is None:
            raise MissingField("Give lines or reset.", field="lines")
        found = self._measure(parse_pairs(lines))
        whole = self._engine.calibration.with_measured(found)
        save_calibration(self._engine.store, model, whole, self._engine.clock())
        self._engine.measured.calibration = whole
        return Calibrated(model.name, dict(found.knots), dict(found.proofs))

    def _measure(self, pairs: Sequence[CalibrationPair]) -> Calibration:
        """Refused where it says nothing: it would outrank what is known already."""
        model = self._engine.embedder
        try:
            found = calibrate(model, pairs)
        except EmbedderDown as error:
            raise EmbedderUnavailable(f"The embedder {model.name} is down: {error}.") from error
        if not found.proofs:
            raise InvalidInput(
                f"Too few pairs: at least {MIN_PAIRS} of one script are needed.", field="lines"
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

    def extract_all(self, *, at_most: int = 500) -> ExtractedForAll:
        """Extract the sources of all users of the store.

        Does what extract does, for every user."""
        return extract_for_all_users(
            self._engine,
            self._engine.store.scopes(),
            validation.integer(at_most, "at_most", 1, MAX_EXTRACTED),
        )

    def work(self, *, once: bool = False) -> Worked:
        """Run background jobs for all users.

        Processes sources and late vectors. Any number of workers can share a store; jobs of a
        worker that died are taken over. once: run the jobs that are due, then stop."""
        worker = self._worker()
        if validation.flag(once, "once"):
            return worker.run_until_idle()
        self._running_workers.append(worker)
        try:
            return worker.run()
        finally:
            self._running_workers.remove(worker)

    def stop_work(self) -> None:
        """`work` ends as soon as the job that is under way is done."""
        for worker in tuple(self._running_workers):
            worker.stop()

    def work_in_background(self) -> None:
        """A thread does what this process causes, and what others left undone."""
        self._engine.store.when_enqueued(self._background.wake)
        try:
            waits = self._engine.store.next_due(sorted(self._kinds)) is not None
        except StoreError as error:  # a login that may not claim leaves it to those who may
            log.warning("background jobs postponed: %s", error.code)
            return
        if waits:
            self._background.wake()

    def _worker(self) -> Worker:
        return Worker(self._engine, self._kinds, when_idle=self.night.look)

    # ——— looking after it ———

    def tidy_what_is_due(self) -> None:
        """Once a day for each user, whether or not a worker runs."""
        due = self._engine.clock() - LIFETIMES.tidy_every
        for scope in self._engine.store.scopes(ScopeQuery(tidied_before=due))[:MAX_TIDIED_ON_OPEN]:
            try:
                self._tidy(scope)
            except CommonplaceError as error:  # one user's trouble does not close the store
                log.warning("tidy postponed: %s", error.code)
        scrub(self._engine)

    def _tidy(self, scope: Scope) -> None:
        if scope.is_team:
            tidy_team(self._engine, scope)
        elif scope.is_user:  # of the store itself there is nothing to tidy
            User(self._engine, Principal(scope.name, cleared=True))._tidy_without_compaction()

    def close(self) -> None:
        self.stop_work()
        self._background.close()
        self._engine.caches.close()
        self._engine.access_log.close()
        self._engine.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def load_visible_graph(whose: User) -> GraphSnapshot:
    """With the edges that hold and the notes that count, the oldest first. The owner is in it once
    something is told of them: their node comes with whatever somebody else puts in first."""
    engine, now = whose._engine, whose._engine.clock()
    snapshot = visible_graph(engine, whose.principal).snapshot
    live = {
        id: sorted((note for note in notes if note.is_live(now)), key=_by_date_added)
        for id, notes in snapshot.notes.items()
    }
    held = replace(
        snapshot,
        edges={id: edge for id, edge in snapshot.edges.items() if edge.holds(NOW, now)},
        notes={id: tuple(notes) for id, notes in live.items() if notes},
    )
    home = whose.principal.own_scope
    shown = {id: node for id, node in held.nodes.items() if _is_described(engine, home, held, node)}
    return replace(held, nodes=shown)


def _by_date_added(note: Note) -> tuple[datetime, str]:
    return note.date_added, note.id


def _is_described(engine: EngineContext, home: Scope, snapshot: GraphSnapshot, node: Node) -> bool:
    if not node.is_owner or node.aliases or node.id in snapshot.notes:
        return True
    related = any(node.id in edge.ends for edge in snapshot.edges.values())
    return related or bool(engine.store.assertions(home, AssertionQuery(nodes=[node.id])).nodes)


def apply_graph_edits(
    whose: User, chosen: Callable[[GraphSnapshot], Sequence[BulkItem]]
) -> Sequence[BulkItem]:
    """``chosen``: what there is to say, by all that the caller may see at this moment."""
    whose._refuse_read_only_keys()
    return say(whose._engine, whose._request, lambda: chosen(load_visible_graph(whose)))
