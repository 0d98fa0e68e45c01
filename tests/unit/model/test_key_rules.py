"""The rules of keys: what a token says, what fits it, when it ends, whom it makes of its holder."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.access.key import (
    Key,
    KeyState,
    build_token,
    locate_token,
    matches_digest,
    principal_of,
    show_key,
    show_new_key,
    token_digest,
)
from commonplace.model.access.principal import Principal, Scope
from commonplace.operations.serialization import as_data
from support.clock import START

KEY = Key(id="5f0e-1", user_id="ana", label="laptop", created_at=START)
SECRET = "s" * 43
TOKEN = build_token(KEY, SECRET)
NOWHERE = (Scope.of_the_store(), "")
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.mark.parametrize("user", ["ana", "ana@example.com", "שרה", "a.b_c-d", "🦜" * 200, None])
def test_key_token_locates_its_key_and_is_url_safe(user):
    token = build_token(replace(KEY, user_id=user), SECRET)
    assert re.fullmatch(r"cpk_[\w.-]+", token, re.ASCII)
    assert locate_token(token) == (replace(KEY, user_id=user).scope, KEY.id)


@pytest.mark.parametrize(
    "garbled",
    [
        "",
        "cpk_",
        TOKEN[:-1],
        TOKEN + "s",
        TOKEN + "\n",
        TOKEN.replace("cpk_", "CPK_"),
        f"Bearer {TOKEN}",
        f"cpk_!!!!.{KEY.id}.{SECRET}",
        f"cpk_A.{KEY.id}.{SECRET}",  # no base64
        f"cpk__w.{KEY.id}.{SECRET}",  # no UTF-8
        f"cpk_dXNlcjoA.{KEY.id}.{SECRET}",  # a NUL byte
        "\ud800",
        "x" * 100_000,
    ],
)
def test_malformed_key_token_locates_nothing(garbled):
    assert locate_token(garbled) == NOWHERE
    assert not matches_digest(garbled, token_digest(TOKEN))


@given(st.text() | st.from_regex(r"cpk_[\w-]*\.[\w-]*\.[\w-]*", fullmatch=True))
def test_key_digest_matches_only_the_issued_token(text):
    locate_token(text)
    assert matches_digest(text, token_digest(TOKEN)) == (text == TOKEN)
    assert not matches_digest(text, None)


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from(URL_SAFE))
def test_key_digest_rejects_a_single_changed_character(place, letter):
    """Also where base64 would not notice: the last letter of a part has bits to spare."""
    changed = TOKEN[:place] + letter + TOKEN[place + 1 :]
    assert matches_digest(changed, token_digest(TOKEN)) == (changed == TOKEN)


def test_key_is_valid_until_expiry_or_revocation():
    ends = START + timedelta(days=1)
    key = replace(KEY, expires_at=ends)
    assert KEY.is_valid(START + timedelta(days=36_500))
    assert key.is_valid(ends - timedelta(microseconds=1))
    assert key.state_at(ends) is KeyState.EXPIRED
    assert replace(key, revoked_at=START).state_at(START) is KeyState.REVOKED
    assert replace(key, revoked_at=START).state_at(ends) is KeyState.REVOKED


def test_principal_of_a_key_has_exactly_its_rights():
    assert principal_of(KEY, "ana") == Principal("ana", key=KEY.id)
    ends = START + timedelta(days=1)
    whole = replace(
        KEY, agent="planner", read_only=True, cleared=True, may_resolve=True, expires_at=ends
    )
    assert principal_of(whole, "ana") == Principal(
        "ana",
        agent="planner",
        cleared=True,
        may_resolve=True,
        read_only=True,
        key=KEY.id,
        until=ends,
    )
    for other in (KEY, replace(KEY, user_id=None)):
        with pytest.raises(ValueError, match="of an admin, or of another user"):
            principal_of(other, "ben")


def test_principal_of_a_service_key_is_any_of_its_users():
    service = replace(KEY, user_id=None, service=True)
    for user in ("ana", "ben"):
        assert principal_of(service, user) == Principal(user, key=KEY.id, service=True)
    bounded = replace(service, users=("ana",))
    assert principal_of(bounded, "ana").user_id == "ana"
    with pytest.raises(ValueError, match="another user"):
        principal_of(bounded, "ben")


def test_admin_principal_is_no_owner_and_reads_no_category():
    admin = Principal("ana", admin=True, key="k")
    assert (admin.is_owner, admin.decides, admin.keeps_keys) == (False, False, True)
    assert admin.categories == frozenset()
    assert admin.actor == "admin"


def test_key_token_is_shown_once_and_never_in_repr():
    once, later = show_new_key(KEY, TOKEN, START), show_key(KEY, START)
    assert as_data(once)["token"] == TOKEN
    assert "token" not in as_data(later)
    assert "digest" not in as_data(later)
    assert as_data(later)["state"] == "valid"
    assert SECRET not in repr(once) + str(once) + repr(later)
