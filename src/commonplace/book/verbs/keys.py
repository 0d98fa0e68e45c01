"""Keys of one user: who may come in the owner's name, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from commonplace.book.keys import create_key, list_keys, revoke_key, rotate_key
from commonplace.book.requests import one_of, optional_word
from commonplace.book.verbs.handle import Handle, Moment
from commonplace.book.which_team import member_of
from commonplace.errors import InvalidInput, NotAllowed
from commonplace.model import check
from commonplace.model.key import NewKey, ShownKey

MAX_GRACE = 7 * 24 * 60  # minutes


class OfKeys(Handle):
    def keys(self) -> Sequence[ShownKey]:
        """List API keys.

        For each its agent, rights, expiry and last day of use. Tokens are shown only once, on
        creation."""
        self._keep_keys()
        return list_keys(self._desk, self.principal.scope)

    def keys_create(
        self,
        label: str,
        *,
        for_agent: str | None = None,
        read_only: bool = False,
        cleared: bool = False,
        may_resolve: bool = False,
        team: str | None = None,
        ttl_days: float | None = None,
        expires_at: Moment | None = None,
    ) -> NewKey:
        """Create an API key for the owner or one agent.

        The token is shown once. team: the key reaches the sources of that team only."""
        self._keep_keys()
        wanted = optional_word(team, "team")
        mine = None if wanted is None else member_of(self._desk, self.principal, wanted)
        return create_key(
            self._desk,
            self.principal,
            self.principal.user_id,
            label=check.word(label, "label"),
            agent=optional_word(for_agent, "for_agent"),
            read_only=check.flag(read_only, "read_only"),
            cleared=check.flag(cleared, "cleared"),
            may_resolve=check.flag(may_resolve, "may_resolve"),
            team=mine and mine.team_id,
            expires_at=end_of(ttl_days, expires_at, self._desk.clock()),
        )

    def keys_revoke(self, id: str) -> ShownKey:
        """Revoke an API key immediately.

        In every process that serves this store."""
        self._keep_keys()
        self._for_the_whole_person("end keys")
        return revoke_key(self._desk, self.principal, self.principal.scope, check.id(id))

    def keys_rotate(self, id: str, *, grace_minutes: float = 0) -> NewKey:
        """Replace an API key by a new token.

        Same rights and lifetime. The old token ends at once, or after grace_minutes."""
        self._keep_keys()
        self._for_the_whole_person("make keys anew")
        grace = check.number(grace_minutes, "grace_minutes", 0, MAX_GRACE)
        scope = self.principal.scope
        return rotate_key(self._desk, self.principal, scope, check.id(id), timedelta(minutes=grace))

    def _keep_keys(self) -> None:
        if not self.principal.keeps_keys:
            raise NotAllowed("Only the owner may manage API keys.")


def end_of(ttl_days: float | None, expires_at: Moment | None, now: datetime) -> datetime | None:
    one_of(ttl_days=ttl_days, expires_at=expires_at)
    if ttl_days is not None:
        field = "ttl_days"
        ends = now + timedelta(days=check.number(ttl_days, field, 0, check.MAX_DAYS))
    elif expires_at is not None:
        field = "expires_at"
        ends = check.when(expires_at, field)
    else:
        return None
    if ends <= now:
        raise InvalidInput("The key would be expired already.", field=field)
    return ends
