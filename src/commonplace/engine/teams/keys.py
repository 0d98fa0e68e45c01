"""API keys: identify, list, create, revoke, rotate."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from commonplace.engine.context import EngineContext, RequestContext
from commonplace.engine.transaction import apply_changeset, run_transaction
from commonplace.errors import InvalidInput, LimitReached, NotAllowed, NotFound, Unauthenticated
from commonplace.model.access.key import (
    SECRET_BYTES,
    Key,
    NewKey,
    ShownKey,
    build_token,
    locate_token,
    matches_digest,
    show_key,
    show_new_key,
    token_digest,
)
from commonplace.model.access.principal import Principal, Scope
from commonplace.model.access.team import AddKey, ChangeKey
from commonplace.model.changeset import Bookkeeping, Changeset, ChangesetStep
from commonplace.model.journal import Entry, JournalNode, Op

MAX_VALID_KEYS = 1000  # per owner


def identify_key(engine: EngineContext, token: object) -> Key:
    """The key of a token. It is read from the database each time, so that a revoked key fails at
    once. The error does not say what is wrong with the token."""
    given = token if isinstance(token, str) else ""
    now = engine.clock()
    found = engine.store.keys(*locate_token(given))
    key, digest = next(iter(found.items()), (None, None))
    if not matches_digest(given, digest) or key is None or not key.is_valid(now):
        raise Unauthenticated("Invalid, expired or revoked API key.")
    if not key.was_used_on(now):
        engine.access_log.record_later(Bookkeeping(key.scope, now, used_keys=(key.id,)))
    return key


def list_keys(engine: EngineContext, scope: Scope, *, service: bool = False) -> list[ShownKey]:
    """The admin keys of the store, and its service keys, are separate lists."""
    engine.access_log.flush()  # pending updates of last_used_at
    now = engine.clock()
    return [show_key(key, now) for key in engine.store.keys(scope) if key.service == service]


def create_key(
    engine: EngineContext,
    request: RequestContext | None,
    user_id: str | None,
    *,
    if_first: bool = False,
    **rights: Any,
) -> NewKey:
    """Without a request: by the process that opened the store."""
    by = request.principal if request else None
    now = engine.clock()
    requested = Key(id=engine.new_id(), user_id=user_id, created_at=now, **rights)
    key = _limit_to_own_rights(by, requested)
    if sum(each.is_valid(now) for each in engine.store.keys(key.scope)) >= MAX_VALID_KEYS:
        raise LimitReached(
            f"Too many valid API keys: the limit is {MAX_VALID_KEYS}.",
            remedy="Revoke some of them first.",
        )
    token, step = _grant_step(key, if_first)
    apply_changeset(engine, request, _key_changeset(key.scope, now, by, step))
    return show_new_key(key, token, now)


def revoke_key(
    engine: EngineContext,
    request: RequestContext | None,
    scope: Scope,
    id: str,
    *,
    service: bool = False,
) -> ShownKey:
    """Takes effect at once, in all processes. A key that is revoked already is unchanged."""
    by = request.principal if request else None
    now = engine.clock()

    def decide() -> tuple[Changeset, Key]:
        key = _find_key(engine, scope, id, service)
        if key.revoked_at is not None:
            return _key_changeset(scope, now, by), key
        revoked = replace(key, revoked_at=now)
        return _key_changeset(scope, now, by, _end_step(key, revoked)), revoked

    return show_key(run_transaction(engine, request, decide)[1], now)


def rotate_key(
    engine: EngineContext,
    request: RequestContext | None,
    scope: Scope,
    id: str,
    grace: timedelta,
    *,
    service: bool = False,
) -> NewKey:
    """A new key with the same rights and the same lifetime. The old key ends at once, or after the
    grace period if it does not expire earlier."""
    by = request.principal if request else None
    now = engine.clock()
    new_id = engine.new_id()

    def decide() -> tuple[Changeset, tuple[Key, str]]:
        old = _find_key(engine, scope, id, service)
        if not old.is_valid(now):
            raise InvalidInput(
                f"This key is {old.state_at(now)} already.",
                remedy="Create a new one.",
                field="id",
            )
        until = now + old.life if old.life else None
        renewed = replace(old, id=new_id, created_at=now, expires_at=until, last_used_at=None)
        new = _limit_to_own_rights(by, renewed)
        token, step = _grant_step(new)
        return _key_changeset(
            scope, now, by, step, _end_step(old, _end_after_grace(old, now, grace))
        ), (new, token)

    _, (new, token) = run_transaction(engine, request, decide)
    return show_new_key(new, token, now)


def _end_after_grace(old: Key, now: datetime, grace: timedelta) -> Key:
    if not grace:
        return replace(old, revoked_at=now)
    return replace(old, expires_at=min(now + grace, old.expires_at or now + grace))


def _limit_to_own_rights(by: Principal | None, key: Key) -> Key:
    """A caller with a key cannot create a key with more rights or a later expiry than their own."""
    if by is None or by.key is None or by.admin:
        return key
    if key.cleared and not by.cleared:
        raise NotAllowed("A key that is not cleared cannot create a cleared key.", field="cleared")
    if by.team not in (None, key.team):
        raise NotAllowed("A key for one team can only create keys for that team.", field="team")
    if by.until is None or (key.expires_at is not None and key.expires_at <= by.until):
        return key
    return replace(key, expires_at=by.until)


def _grant_step(key: Key, if_first: bool = False) -> tuple[str, AddKey]:
    token = build_token(key, secrets.token_urlsafe(SECRET_BYTES))
    meta = {"rights": list(key.rights)} if key.rights else {}
    entry = Entry(op=Op.GRANT, node=JournalNode.API, subject=key.id, meta=meta)
    return token, AddKey(key, token_digest(token), entry, if_first)


def _end_step(before: Key, after: Key) -> ChangeKey:
    return ChangeKey(before, after, Entry(op=Op.REVOKE, node=JournalNode.API, subject=after.id))


def _key_changeset(
    scope: Scope, at: datetime, by: Principal | None, *steps: ChangesetStep
) -> Changeset:
    return Changeset(scope, at, by.actor if by else "admin", steps)


def _find_key(engine: EngineContext, scope: Scope, id: str, service: bool) -> Key:
    found = [key for key in engine.store.keys(scope, id) if key.service == service]
    if not found:  # do not echo the id: it may be a token, by mistake
        raise NotFound("No API key with this id.", remedy="See `commonplace keys`.", field="id")
    return found[0]
