"""API keys: rights and expiry of a key; tokens.

A token is `cpk_OWNER.ID.SECRET`: the first two parts locate its row, the last is 256 random bits.
The store keeps only a digest of the whole token text: base64 has several encodings of one value,
and only the issued one may authenticate.
"""

from __future__ import annotations

import binascii
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any

from commonplace.model.access.principal import Principal, Scope

TOKEN_PREFIX = "cpk_"  # recognised by people and secret scanners
SECRET_BYTES = 32
_TOKEN = re.compile(r"cpk_([A-Za-z0-9_-]{1,1200})\.([A-Za-z0-9-]{1,64})\.[A-Za-z0-9_-]{43}")
_NO_LOCATION = (Scope.of_the_store(), "")  # where a malformed token is looked up


class KeyState(StrEnum):
    """Shown in the owner's list; the bearer of a rejected key does not learn it."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The rights of a token. Contains neither the token nor its digest."""

    id: str
    user_id: str | None  # None: of the store; an admin key, which reads no memory, or a service key
    label: str  # given by the owner
    agent: str | None = None  # None: the owner's own key
    read_only: bool = False
    cleared: bool = False
    may_resolve: bool = False
    team: str | None = None
    service: bool = False  # acts for the user whom each request names
    users: tuple[str, ...] = ()  # of a service key: only these; empty: all
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None  # to the day

    @property
    def scope(self) -> Scope:
        return key_scope(self.user_id)

    @property
    def is_admin(self) -> bool:
        return self.user_id is None and not self.service

    def may_act_for(self, user_id: str) -> bool:
        if self.service:
            return not self.users or user_id in self.users
        return user_id == self.user_id

    @property
    def rights(self) -> tuple[str, ...]:
        """The names of its flags that are set."""
        return tuple(n for n in ("read_only", "cleared", "may_resolve") if getattr(self, n))

    @property
    def life(self) -> timedelta | None:
        """Its lifetime from creation; None: until it is revoked."""
        return None if self.expires_at is None else self.expires_at - self.created_at

    def state_at(self, now: datetime) -> KeyState:
        if self.revoked_at is not None:
            return KeyState.REVOKED
        ended = self.expires_at is not None and self.expires_at <= now
        return KeyState.EXPIRED if ended else KeyState.VALID

    def is_valid(self, now: datetime) -> bool:
        return self.state_at(now) is KeyState.VALID

    def was_used_on(self, day: datetime) -> bool:
        return self.last_used_at is not None and self.last_used_at.date() >= day.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKey(Key):
    """A key as its owner sees it."""

    state: KeyState


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey(ShownKey):
    """The only answer that holds a token."""

    token: str = field(repr=False)


def show_key(key: Key, now: datetime) -> ShownKey:
    return ShownKey(**_key_fields(key), state=key.state_at(now))


def show_new_key(key: Key, token: str, now: datetime) -> NewKey:
    return NewKey(**_key_fields(key), state=key.state_at(now), token=token)


def _key_fields(key: Key) -> dict[str, Any]:
    return {each.name: getattr(key, each.name) for each in fields(Key)}


# ——— principal ———


def principal_of(key: Key, user_id: str) -> Principal:
    """The only place where a key becomes a principal. The categories file adds what an agent may
    see."""
    if not key.may_act_for(user_id):
        raise ValueError("the key of an admin, or of another user")
    return Principal(
        user_id,
        agent=key.agent,
        cleared=key.cleared,
        may_resolve=key.may_resolve,
        read_only=key.read_only,
        team=key.team,
        key=key.id,
        until=key.expires_at,
        service=key.service,
    )


def key_scope(user_id: str | None) -> Scope:
    return Scope.of_the_store() if user_id is None else Scope.of_user(user_id)


# ——— tokens ———


def build_token(key: Key, secret: str) -> str:
    owner = urlsafe_b64encode(key.scope.key.encode("utf-8")).decode("ascii").rstrip("=")
    return f"{TOKEN_PREFIX}{owner}.{key.id}.{secret}"


def locate_token(token: str) -> tuple[Scope, str]:
    """The owner and id to look up. A malformed token is looked up, too, where no key is, so that
    rejecting it takes the same work."""
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        return _NO_LOCATION
    owner, id = parts.groups()
    try:
        scope = urlsafe_b64decode(owner + "=" * (-len(owner) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return _NO_LOCATION
    return _NO_LOCATION if "\x00" in scope else (Scope(scope), id)


def token_digest(token: str) -> bytes:
    """A plain hash suffices for a random secret: 2²⁵⁶ values cannot be tried."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def matches_digest(token: str, digest: bytes | None) -> bool:
    """Compares in constant time, also when there is no digest to compare with."""
    known = token_digest("") if digest is None else digest
    return hmac.compare_digest(token_digest(token), known) and digest is not None
