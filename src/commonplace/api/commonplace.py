"""Commonplace (an open store) and User (one user's memory), and whole-graph access."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from commonplace.api.account import KeyVerbs, read_expiry, read_grace
from commonplace.api.embedders import (
    embedder_identity,
    given_embedder,
    load_measured_calibration,
    make_embedder,
    remember_folder,
    reset_calibration,
    save_calibration,
)
from commonplace.api.handle import Moment, Texts, optional_word
from commonplace.api.sources import MAX_EXTRACTED
from commonplace.api.user import User
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
from commonplace.language.llm.providers import ConnectedModels
from commonplace.language.text.detect import Script
from commonplace.lazy import lazy_imports
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

with lazy_imports(__name__):
    from commonplace.engine.context import EngineContext
    from commonplace.engine.graph.bulk import BulkItem, apply_bulk
    from commonplace.engine.graph.visible_graph import visible_graph
    from commonplace.engine.history.changes import load_delta
    from commonplace.engine.idempotency import IdempotentRequest, run_once
    from commonplace.engine.llm.usage import ModelUsageOfUser, report_usage_by_user
    from commonplace.engine.maintenance.jobs import bind_job_kinds, make_workers, work_once
    from commonplace.engine.maintenance.reembed import Reembedded, ReportProgress, reembed
    from commonplace.engine.maintenance.sleep.schedule import ensure_sleep_jobs
    from commonplace.engine.maintenance.tidy import scrub, tidy_team
    from commonplace.engine.maintenance.worker import (
        BackgroundWorker,
        TidySchedule,
        Worked,
        WorkerGroup,
    )
    from commonplace.engine.reading.on_request import ExtractedForAll, extract_for_all_users
    from commonplace.engine.teams.keys import (
        create_key,
        identify_key,
        list_keys,
        revoke_key,
        rotate_key,
    )

log = logging.getLogger("commonplace")

MAX_SERVICE_USERS = 1000  # named by one service key
MAX_TIDIED_ON_OPEN = 200  # scopes; the rest are tidied later


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The scripts for which the calibration was proved on held-out pairs."""

    embedder: str
    knots: Mapping[Script, Knots]
    proofs: Mapping[Script, CalibrationProof]


class Commonplace:
    """An open store. Use it as a context manager, or call `close`."""

    def __init__(self, engine: EngineContext, settings: Settings | None = None):
        self._engine = engine
        self._settings = settings
        self._kinds = bind_job_kinds(engine)
        self.tidy_schedule = TidySchedule(engine.clock, self.tidy_what_is_due)
        self._background = BackgroundWorker(self._workers)
        self._running_workers: list[WorkerGroup] = []

    def user(self, user_id: str, *, cleared: bool = False) -> User:
        """The handle of one user. With ``cleared``, lists and searches include sensitivity high."""
        return User(self._engine, Principal(validation.word(user_id, "user_id"), cleared=cleared))

    # ——— keys ———

    def authenticate(self, token: str, user_id: str | None = None) -> User:
        """The handle for a key, with exactly its rights. Call it for each request: a revoked or
        expired key is refused immediately. ``user_id``: whom a service key acts for; with another
        key, its own user."""
        return self.opened_by(self.identify(token), user_id)

    def identify(self, token: str) -> Key:
        """The valid key of a token, of a user, a service or an admin."""
        return identify_key(self._engine, token)

    def opened_by(self, key: Key, user_id: str | None = None) -> User:
        if key.is_admin:
            raise NotAllowed(
                "An admin key cannot read a memory.",
                remedy="Use an API key of the memory's owner, or a service key.",
            )
        return User(self._engine, principal_of(key, acting_user(key, user_id)))

    def keys_of(self, user_id: str, key: Key | None = None) -> KeyVerbs:
        """Access to a user's keys only, for an admin of the store."""
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

    def service_keys(self) -> Sequence[ShownKey]:
        """List service API keys."""
        return list_keys(self._engine, Scope.of_the_store(), service=True)

    def service_keys_create(
        self,
        label: str,
        *,
        users: Texts | None = None,
        for_agent: str | None = None,
        read_only: bool = False,
        cleared: bool = False,
        may_resolve: bool = False,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
    ) -> NewKey:
        """Create a service API key, which acts for many users.

        Each request names the user it acts for: over HTTP in the header Commonplace-User. users:
        only these; default: all users. The token is shown once."""
        named = [] if users is None else validation.several(users, "users", MAX_SERVICE_USERS)
        if users is not None and not named:
            raise InvalidInput("Give at least one user, or leave users out.", field="users")
        return create_key(
            self._engine,
            None,
            None,
            service=True,
            label=validation.word(label, "label"),
            users=tuple(dict.fromkeys(validation.word(each, "users") for each in named)),
            agent=optional_word(for_agent, "for_agent"),
            read_only=validation.flag(read_only, "read_only"),
            cleared=validation.flag(cleared, "cleared"),
            may_resolve=validation.flag(may_resolve, "may_resolve"),
            expires_at=read_expiry(ttl_days, expires_at, self._engine.clock()),
        )

    def service_keys_revoke(self, id: str) -> ShownKey:
        """Revoke a service API key immediately."""
        return revoke_key(self._engine, None, Scope.of_the_store(), validation.id(id), service=True)

    def service_keys_rotate(self, id: str, *, grace_minutes: float = 0) -> NewKey:
        """Replace a service API key by a new token.

        Same rights, users and lifetime. The old token ends at once, or after grace_minutes."""
        grace = timedelta(minutes=read_grace(grace_minutes))
        return rotate_key(
            self._engine, None, Scope.of_the_store(), validation.id(id), grace, service=True
        )

    def first_admin_key(self) -> NewKey | None:
        """Create an admin key at the first start of a server; None if there ever was one. Of
        several servers that start at once, one gets it."""
        if any(key.is_admin for key in self._engine.store.keys(Scope.of_the_store())):
            return None
        try:
            return create_key(self._engine, None, None, label="first", if_first=True)
        except StaleDecision:
            return None

    @property
    def embedder(self) -> Embedder:
        """The store's embedder: name, dimension, embed_queries, embed_passages."""
        return self._engine.embedder

    @property
    def connected_models(self) -> ConnectedModels | None:
        """Where surfaces make known the models of connected clients; None unless configured."""
        provider = self._engine.model.provider if self._engine.model else None
        return provider if isinstance(provider, ConnectedModels) else None

    @property
    def url(self) -> str:
        return self._engine.store.url

    def flush(self) -> None:
        """Wait until pending access records are written."""
        self._engine.access_log.flush()

    def ping(self) -> None:
        """Raise an error if the store cannot be read."""
        self._engine.store.fact("ready")

    def has_keys(self) -> bool:
        """True if any API key exists."""
        now = self._engine.clock()
        scopes = (Scope.of_the_store(), *self._engine.store.scopes())
        return any(key.is_valid(now) for scope in scopes for key in self._engine.store.keys(scope))

    def once(self, whose: User, asked: IdempotentRequest, do: Callable[[User], str]) -> str:
        """Call ``do`` once for each idempotency key. A repetition of the request by the same caller
        within a day returns the first answer."""
        return run_once(
            whose._engine,
            whose.principal,
            asked,
            lambda claim: do(User(whose._engine, whose._caller, whose._precondition, claim)),
        )

    def insisting(self, whose: User, insist: Callable[[], None]) -> User:
        """A handle with a precondition: ``insist`` is called in the transaction of each change and
        raises to prevent it."""
        return User(whose._engine, whose._caller, insist, whose._claim)

    def changes_after(self, whose: User, revision: int) -> Delta:
        """The changes since a revision that are visible to a handle. Moves no cursor."""
        return load_delta(self._engine, whose.principal, "", revision)

    def reembed(
        self, embedder: str | Embedder, *, progress: ReportProgress = lambda _: None
    ) -> Reembedded:
        """Recompute all vectors with another embedder.

        The old vectors stay in use until the new ones are complete; an interrupted run continues
        where it stopped. Afterwards open the store again."""
        if self.url == IN_MEMORY:
            raise BadSettings(
                "An in-memory store cannot change its embedder.",
                remedy="Open a new store with the embedder you want.",
                field="embedder",
            )
        model = (
            make_embedder(embedder, self._settings)
            if isinstance(embedder, str)
            else given_embedder(embedder)
        )
        embedder_identity(model)  # fail early
        self.flush()
        done = reembed(self._engine.store, model, progress, self._engine.clock())
        remember_folder(self._engine.store, model, self._engine.clock())
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
        """Reject a calibration that proves no script: it would replace a better one."""
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
            proofs = "; ".join(f"{script}: {proof}" for script, proof in found.proofs.items())
            raise InvalidInput(
                f"{model.name} disagrees with these pairs ({proofs}); nothing was stored.",
                remedy="Give pairs over the whole range from 0 to 1, or use another embedder.",
                field="lines",
            )
        return found

    # ——— background jobs ———

    def extract_all(self, *, at_most: int = 500) -> ExtractedForAll:
        """Extract the sources of all users of the store.

        Does what extract does, for every user."""
        return extract_for_all_users(
            self._engine,
            self._engine.store.scopes(),
            validation.integer(at_most, "at_most", 1, MAX_EXTRACTED),
        )

    def model_users(self, *, days: int = 30) -> Sequence[ModelUsageOfUser]:
        """Show what language models used for each user.

        Calls, tokens and, with model_prices, the cost; those who used most first."""
        most = validation.integer(days, "days", 1, validation.MAX_DAYS)
        return report_usage_by_user(self._engine, self._engine.store.scopes(), most)

    def work(self, *, once: bool = False) -> Worked:
        """Run background jobs for all users.

        Processes sources and late vectors; with a language model, reads turns and sources. Any
        number of workers can share a store; jobs of a worker that died are taken over. once: run
        the jobs that are due, and what a model has still to read, then stop."""
        if validation.flag(once, "once"):
            worked = work_once(self._engine)
            while self._background.wait_for_job():  # what it has claimed is due, too
                worked += work_once(self._engine)
            return worked
        workers = self._workers()
        self._running_workers.append(workers)
        try:
            return workers.run()
        finally:
            self._running_workers.remove(workers)

    def stop_work(self) -> None:
        """Stop `work` after the running jobs."""
        for workers in tuple(self._running_workers):
            workers.stop()

    def work_in_background(self) -> None:
        """Start to run the jobs of this process and abandoned ones, in threads."""
        self._engine.store.when_enqueued(self._background.wake)
        if self.connected_models is not None:
            self.connected_models.when_connected(self._background.wake)
        try:
            waits = self._engine.store.next_due(sorted(self._kinds)) is not None
        except StoreError as error:  # e.g. a database role that may not claim jobs
            log.warning("background jobs postponed: %s", error.code)
            return
        if waits:
            self._background.wake()

    def _workers(self) -> WorkerGroup:
        return make_workers(self._engine, self._kinds, self.tidy_schedule.run_if_due)

    # ——— maintenance ———

    def tidy_what_is_due(self) -> None:
        """Tidy each user's memory once a day, with or without a worker: what has ended. Live
        memories are ended by runs of sleep only; the next one, or the missed one, is queued."""
        due = self._engine.clock() - LIFETIMES.tidy_every
        for scope in self._engine.store.scopes(ScopeQuery(tidied_before=due))[:MAX_TIDIED_ON_OPEN]:
            try:
                self._tidy(scope)
            except CommonplaceError as error:  # one user's error must not prevent opening
                log.warning("tidy postponed: %s", error.code)
        scrub(self._engine)

    def _tidy(self, scope: Scope) -> None:
        if scope.is_team:
            tidy_team(self._engine, scope)
        elif scope.is_user:  # the store's own scope needs no tidying
            ensure_sleep_jobs(self._engine, scope)  # first: tidying is no use of the store
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


def acting_user(key: Key, named: str | None) -> str:
    """The user whom a request acts for. A name that the key may not use is refused, never ignored:
    the request would change another memory than its sender believes."""
    if named is None and key.user_id is not None:
        return key.user_id
    if named is None:
        raise MissingField(
            "Give the user to act for: this is a service key.",
            remedy="Over HTTP use the header Commonplace-User, on the command line --user NAME.",
            field="user",
        )
    user_id = validation.word(named, "user")
    if key.may_act_for(user_id):
        return user_id
    if key.service:
        raise NotAllowed(
            "This service key may not act for that user.",
            remedy="An admin creates one that may: `commonplace keys service`.",
            field="user",
        )
    raise NotAllowed(
        "This API key belongs to another user.",
        remedy="Leave the user out, or use a service key.",
        field="user",
    )


def load_visible_graph(user: User) -> GraphSnapshot:
    """The visible graph with current edges and live notes, oldest first. The owner's node, which is
    created with the first item, is left out until something is asserted about it."""
    engine, now = user._engine, user._engine.clock()
    snapshot = visible_graph(engine, user.principal).snapshot
    live = {
        id: sorted((note for note in notes if note.is_live(now)), key=_by_date_added)
        for id, notes in snapshot.notes.items()
    }
    current = replace(
        snapshot,
        edges={id: edge for id, edge in snapshot.edges.items() if edge.holds(NOW, now)},
        notes={id: tuple(notes) for id, notes in live.items() if notes},
    )
    own_scope = user.principal.own_scope
    shown = {
        id: node
        for id, node in current.nodes.items()
        if _is_described(engine, own_scope, current, node)
    }
    return replace(current, nodes=shown)


def _by_date_added(note: Note) -> tuple[datetime, str]:
    return note.date_added, note.id


def _is_described(engine: EngineContext, scope: Scope, snapshot: GraphSnapshot, node: Node) -> bool:
    if not node.is_owner or node.aliases or node.id in snapshot.notes:
        return True
    related = any(node.id in edge.ends for edge in snapshot.edges.values())
    return related or bool(engine.store.assertions(scope, AssertionQuery(nodes=[node.id])).nodes)


def apply_graph_edits(
    user: User, choose: Callable[[GraphSnapshot], Sequence[BulkItem]]
) -> Sequence[BulkItem]:
    """``choose``: computes the edits from the graph that is visible to the caller."""
    user._refuse_read_only_keys()
    return apply_bulk(user._engine, user._request, lambda: choose(load_visible_graph(user)))
