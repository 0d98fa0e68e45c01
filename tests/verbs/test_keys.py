"""Keys from making to ending: who comes in, as whom, with which rights, and until when."""

from __future__ import annotations

import json
import logging
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.engine.teams.keys import MAX_VALID_KEYS
from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    NotFound,
    Unauthenticated,
)
from commonplace.model.access.key import KeyState
from commonplace.store.queries import JournalQuery
from support.stores import all_rows


def states(me):
    listed = me.keys()
    return {key.label: str(key.state) for key in listed}


def refused(book, token):
    """As whoever holds it is told; the same for every reason."""
    with pytest.raises(Unauthenticated) as error:
        book.authenticate(token)
    return error.value.as_dict()


# ——— coming in ———


def test_key_authenticates_the_owner(book, me):
    me.remember("The lamp is green")
    made = me.keys_create("laptop")
    mine = book.authenticate(made.token)
    assert mine.recall("lamp").hits[0].text == "The lamp is green"
    assert mine.principal.is_owner
    assert book.user("bob").keys() == []


def test_agent_key_acts_only_as_that_agent(book, me):
    me.remember("I prefer tea over coffee")  # preferences, which a planner does not see
    planner = book.authenticate(me.keys_create("bot", for_agent="planner").token)
    assert planner.principal.agent == "planner"
    assert planner.recall("tea").is_empty
    with pytest.raises(NotAllowed):
        planner.agent("supervisor")
    with pytest.raises(NotAllowed):
        planner.query("tea", agent="supervisor")
    assert planner.agent("planner").principal.agent == "planner"
    assert planner.remember("Buy stamps").memory.agent_id == "planner"


def test_owner_key_acting_as_agent_gains_no_rights(book, me):
    me.remember("Diagnosis: anaemia", sensitivity="high", category="tasks")
    reader = book.authenticate(me.keys_create("laptop", read_only=True).token)
    planner = reader.agent("planner", may_resolve=True)
    assert not planner.list().memories
    with pytest.raises(NotAllowed):
        planner.remember("Anything")


@pytest.mark.parametrize("cleared", [False, True])
@pytest.mark.parametrize("agent", [None, "planner"])
def test_list_shows_sensitive_memories_only_to_cleared_keys(book, me, agent, cleared):
    id = me.remember("Diagnosis: anaemia", sensitivity="high", category="tasks").id
    key = me.keys_create("k", for_agent=agent, cleared=cleared)
    holder = book.authenticate(key.token)
    assert [memory.id for memory in holder.list().memories] == [id] * cleared
    if agent and not cleared:
        with pytest.raises(NotFound):
            holder.show(id)
    else:
        assert holder.show(id).memory.id == id


@pytest.mark.parametrize("may_resolve", [False, True])
def test_resolve_by_an_agent_key_requires_may_resolve(book, me, may_resolve):
    told = {"subject": "door code", "value": "1111"}
    me.remember(kind="kv", metadata=told, category="tasks")
    given = {**told, "value": "2222"}
    asked = me.remember(kind="kv", metadata=given, category="tasks").conflict
    key = me.keys_create("bot", for_agent="planner", may_resolve=may_resolve)
    planner = book.authenticate(key.token)
    if may_resolve:
        assert planner.resolve(asked, "override").is_override
    else:
        with pytest.raises(NotAllowed):
            planner.resolve(asked, "override")


# ——— ending ———


def test_key_expires_at_the_exact_instant(book, me, clock):
    by_days = me.keys_create("days", ttl_days=2)
    by_date = me.keys_create("date", expires_at=clock() + timedelta(days=2))
    for key in (by_days, by_date):
        clock.now = key.expires_at - timedelta(microseconds=1)
        book.authenticate(key.token)
        clock.now = key.expires_at
        refused(book, key.token)
    assert states(me) == {"days": "expired", "date": "expired"}


def test_keys_revoke_applies_to_every_open_store_at_once(open_book, book, me):
    other = open_book()
    key = me.keys_create("laptop")
    assert other.authenticate(key.token).principal.user_id == "ana"
    assert me.keys_revoke(key.id).state is KeyState.REVOKED
    assert refused(other, key.token) == refused(book, key.token)
    again = other.user("ana").keys_revoke(key.id)
    assert again == me.keys()[0]


def test_authenticate_gives_the_same_error_for_every_refused_token(book, me, clock):
    revoked, expired = me.keys_create("revoked"), me.keys_create("expired", ttl_days=1)
    book.authenticate(revoked.token)
    me.keys_revoke(revoked.id)
    clock.tick(days=1)
    unknown = revoked.token[:-1] + ("a" if revoked.token[-1] != "a" else "b")
    reasons = [revoked.token, expired.token, unknown, "cpk_", "", "words", 7, None]
    answers = [refused(book, token) for token in reasons]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["code"] == "unauthenticated"
    assert states(me) == {"revoked": "revoked", "expired": "expired"}


def test_keys_rotate_keeps_the_rights_and_ends_the_old_key(book, me, clock):
    old = me.keys_create("bot", for_agent="planner", cleared=True, read_only=True, ttl_days=10)
    clock.tick(days=4)
    new = me.keys_rotate(old.id)
    refused(book, old.token)
    holder = book.authenticate(new.token).principal
    assert (holder.agent, holder.cleared, holder.read_only) == ("planner", True, True)
    assert new.id != old.id
    assert new.expires_at == clock() + timedelta(days=10)
    with pytest.raises(InvalidInput, match="revoked already"):
        me.keys_rotate(old.id)


def test_keys_rotate_grace_period_never_extends_the_expiry(book, me, clock):
    old, short = me.keys_create("old"), me.keys_create("short", expires_at="2026-03-01T09:05")
    new = me.keys_rotate(old.id, grace_minutes=10)
    me.keys_rotate(short.id, grace_minutes=10)
    clock.tick(minutes=9)
    book.authenticate(old.token)
    book.authenticate(new.token)
    refused(book, short.token)
    clock.tick(minutes=1)
    refused(book, old.token)
    book.authenticate(new.token)


def test_keys_revoke_ends_a_key_in_the_grace_period(book, me):
    old = me.keys_create("old")
    me.keys_rotate(old.id, grace_minutes=10)
    me.keys_revoke(old.id)
    refused(book, old.token)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(data=st.data())
def test_authenticate_refuses_every_altered_token(book, me, data):
    """Cut, lengthened, one letter changed, parts of two tokens put together."""
    known = getattr(me, "_tokens", None)
    if known is None:
        made = [me.keys_create("a"), me.keys_create("b"), book.user("bob").keys_create("c")]
        known = me._tokens = [key.token for key in made]
    token, other = data.draw(st.permutations(known))[:2]
    at = data.draw(st.integers(0, len(token)))
    letter = data.draw(st.sampled_from("abcXYZ019-_.=+/ \x00é"))
    parts, others = token.split("."), other.split(".")
    mixed = [others[n] if data.draw(st.booleans()) else parts[n] for n in range(3)]
    changed = data.draw(
        st.sampled_from(
            [
                token[:at],
                token[at:],
                token[:at] + letter + token[at:],
                token[:at] + letter + token[at + 1 :],
                token.swapcase(),
                ".".join(mixed),
            ]
        )
    )
    if changed in known:
        assert book.authenticate(changed)
    else:
        refused(book, changed)


# ——— who may make keys ———


def test_keys_verbs_refuse_agents(book, me):
    key = me.keys_create("laptop")
    bot = me.keys_create("bot", for_agent="planner", cleared=True, may_resolve=True)
    for agent in (me.agent("planner"), book.authenticate(bot.token)):
        for call in (
            agent.keys,
            lambda agent=agent: agent.keys_create("mine"),
            lambda agent=agent: agent.keys_revoke(key.id),
            lambda agent=agent: agent.keys_rotate(key.id),
        ):
            with pytest.raises(NotAllowed):
                call()
    assert states(me) == {"laptop": "valid", "bot": "valid"}


def test_keys_revoke_and_rotate_of_a_foreign_key_answer_not_found(book, me):
    key = me.keys_create("laptop")
    bob = book.user("bob")
    for call in (bob.keys_revoke, bob.keys_rotate):
        with pytest.raises(NotFound) as error:
            call(key.id)
        with pytest.raises(NotFound) as unknown:
            call("nowhere")
        assert error.value.as_dict() == unknown.value.as_dict()
    book.authenticate(key.token)


def test_keys_create_by_a_key_grants_no_wider_rights_or_later_expiry(book, me, clock):
    plain = book.authenticate(me.keys_create("plain", ttl_days=5).token)
    seeing = me.keys_create("seeing", cleared=True)
    with pytest.raises(NotAllowed):
        plain.keys_create("more", cleared=True)
    with pytest.raises(NotAllowed):
        plain.keys_rotate(seeing.id)
    book.authenticate(seeing.token)
    ends = clock() + timedelta(days=5)
    assert plain.keys_create("same").expires_at == ends
    assert plain.keys_create("long", ttl_days=50).expires_at == ends
    assert plain.keys_create("short", ttl_days=1).expires_at < ends
    assert book.authenticate(seeing.token).keys_create("more", cleared=True).cleared


def test_keys_create_limits_the_number_of_valid_keys(book, me, monkeypatch):
    monkeypatch.setattr("commonplace.engine.teams.keys.MAX_VALID_KEYS", 2)
    assert MAX_VALID_KEYS > 2
    one = me.keys_create("one")
    me.keys_create("two")
    with pytest.raises(LimitReached):
        me.keys_create("three")
    me.keys_revoke(one.id)
    me.keys_create("three")


# ——— keys are no memory ———


def test_keys_change_no_revision_and_no_delta_header(book, me):
    me.remember("The lamp is green")
    me.changes("monday")
    revision, exported = me.revision, list(me.export())
    key = me.keys_create("laptop")
    me.keys_revoke(me.keys_rotate(key.id).id)
    book.authenticate(me.keys_create("third").token)
    book.flush()
    assert me.revision == revision
    assert me.changes("monday").header == ""
    kept = [line for line in me.export() if line not in exported]
    assert {json.loads(line)["op"] for line in kept} == {"grant", "revoke"}
    assert [line for line in kept if "laptop" in line or "cpk_" in line] == []


def test_journal_records_key_grants_for_the_owner_only(book, me):
    key = me.keys_create("laptop", cleared=True)
    book.keys_of("ana").keys_revoke(key.id)
    rows = me._engine.store.journal(me.principal.scope, JournalQuery(subject=key.id))
    told = [(row.actor, str(row.entry.op), row.entry.meta) for row in rows]
    assert told == [("user:ana", "grant", {"rights": ["cleared"]}), ("admin", "revoke", {})]
    assert [row["op"] for row in me.events(limit=10)] == ["revoke", "grant"]
    assert me.agent("planner").events(limit=10) == []


def test_key_last_used_at_is_written_once_a_day(book, me, clock, store_url):
    token = me.keys_create("laptop").token
    assert me.keys()[0].last_used_at is None
    book.authenticate(token)
    assert me.keys()[0].last_used_at == clock().replace(hour=0)
    rows = all_rows(store_url)
    clock.tick(hours=5)
    book.authenticate(token)
    book.flush()
    assert all_rows(store_url) == rows
    clock.tick(days=1)
    book.authenticate(token)
    assert me.keys()[0].last_used_at == clock().replace(hour=0)


def test_erase_user_deletes_keys_of_that_user_only(book, me):
    me.remember("The lamp is green")
    mine, his = me.keys_create("laptop"), book.user("bob").keys_create("laptop")
    book.authenticate(mine.token).erase_user()
    refused(book, mine.token)
    assert me.keys() == []
    book.authenticate(his.token)


def test_import_brings_no_keys(book, me):
    me.remember("The lamp is green")
    me.keys_create("laptop")
    copy = book.user("copy")
    copy.import_(list(me.export()))
    assert copy.keys() == []
    assert copy.list().memories


# ——— secrets stay secret ———


def test_key_token_appears_in_no_log_error_repr_export_or_row(book, me, caplog, store_url):
    caplog.set_level(logging.DEBUG)
    key = me.keys_create("laptop")
    secret = key.token.rpartition(".")[2]
    told = [repr(key), str(key), repr(book.identify(key.token))]
    told.append(repr(book.authenticate(key.token).principal))
    for wrong in (key.token + "x", key.token[:-1]):
        told.append(str(refused(book, wrong)))
    for call in (me.keys_revoke, me.keys_rotate):  # a token in the place of an id
        with pytest.raises(CommonplaceError) as error:
            call(key.token)
        told.append(str(error.value.as_dict()))
    me.keys_revoke(key.id)
    told += [str(refused(book, key.token)), str(me.doctor()), str(me.keys()), str(me.events())]
    told += [*me.export(), caplog.text, str(all_rows(store_url))]
    assert [text for text in told if secret in text] == []


def test_key_refuses_store_wide_doctor_and_verify_forget(book, me):
    """What looks at the whole store is for whoever has the store itself."""
    mine = book.authenticate(me.keys_create("laptop", cleared=True).token)
    with pytest.raises(NotAllowed):
        mine.doctor(all_users=True)
    with pytest.raises(NotAllowed):
        mine.verify_forget("a secret of bob's", files=True)
    assert mine.verify_forget("a secret of bob's").clean
    assert me.doctor(all_users=True)
