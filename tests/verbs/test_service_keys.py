"""Service keys: made by an admin, they act for the user that a request names, and for no other."""

from datetime import timedelta

import pytest

from commonplace.api import IdempotentRequest
from commonplace.api.commonplace import MAX_SERVICE_USERS
from commonplace.errors import (
    CommonplaceError,
    InvalidInput,
    MissingField,
    NotAllowed,
    NotFound,
    TooLong,
    Unauthenticated,
)
from commonplace.model.access.key import KeyState


def test_service_key_acts_for_the_user_who_is_named(book):
    token = book.service_keys_create("backend").token
    book.authenticate(token, "ana").remember("Ana keeps bees")
    book.authenticate(token, "bob").remember("Bob keeps goats")
    assert [memory.content for memory in book.user("ana").list().memories] == ["Ana keeps bees"]
    (stored,) = book.user("bob").list().memories
    assert [row["actor"] for row in book.user("bob").history(stored.id)] == ["user:bob"]


def test_service_key_must_name_a_user(book):
    token = book.service_keys_create("backend").token
    with pytest.raises(MissingField) as error:
        book.authenticate(token)
    assert error.value.field == "user"
    assert "Commonplace-User" in error.value.remedy


def test_service_key_with_a_list_refuses_every_other_user(book):
    book.user("carol").remember("Carol keeps a secret")
    token = book.service_keys_create("backend", users=["ana", "bob"]).token
    assert book.authenticate(token, "bob").principal.user_id == "bob"
    for other in ("carol", "Ana", "user:ana", "nobody"):
        with pytest.raises(NotAllowed) as error:
            book.authenticate(token, other)
        assert (error.value.code, error.value.field) == ("not_allowed", "user")
        assert "carol" not in error.value.message


@pytest.mark.parametrize("named", ["", "  ", "a\nb", "a\x00b", "\ud800", "x" * 201, 7])
def test_service_key_refuses_invalid_user_names(book, named):
    token = book.service_keys_create("backend").token
    with pytest.raises(CommonplaceError) as error:
        book.authenticate(token, named)
    assert error.value.field == "user"


def test_other_keys_may_name_only_their_own_user(book, me):
    token = me.keys_create("laptop").token
    assert book.authenticate(token, "ana").principal.user_id == "ana"
    with pytest.raises(NotAllowed, match="another user"):
        book.authenticate(token, "bob")
    with pytest.raises(NotAllowed, match="admin key"):
        book.authenticate(book.admin_keys_create().token, "ana")


def test_service_key_has_the_rights_of_other_keys(book):
    token = book.service_keys_create("backend", for_agent="planner", read_only=True).token
    planner = book.authenticate(token, "ana")
    assert (planner.principal.agent, planner.principal.read_only) == ("planner", True)
    with pytest.raises(NotAllowed):
        planner.remember("Anything")
    with pytest.raises(NotAllowed):
        planner.agent("another")
    secret = book.user("ana").remember("The gate code is 4711", sensitivity="high")
    for cleared in (False, True):
        key = book.service_keys_create("b", cleared=cleared)
        seen = book.authenticate(key.token, "ana").list().memories
        assert (secret.id in [memory.id for memory in seen]) is cleared


def test_service_key_manages_no_keys(book):
    acting = book.authenticate(book.service_keys_create("backend").token, "ana")
    mine = book.user("ana").keys_create("laptop")
    for managing in (
        acting.keys,
        lambda: acting.keys_create("more"),
        lambda: acting.keys_revoke(mine.id),
        lambda: acting.keys_rotate(mine.id),
    ):
        with pytest.raises(NotAllowed, match="service key"):
            managing()


def test_service_key_ends_when_it_is_revoked_or_expires(book, clock):
    revoked, expiring = book.service_keys_create("a"), book.service_keys_create("b", ttl_days=1)
    assert book.service_keys_revoke(revoked.id).state is KeyState.REVOKED
    clock.now = clock() + timedelta(days=1)
    for token in (revoked.token, expiring.token):
        with pytest.raises(Unauthenticated):
            book.authenticate(token, "ana")


def test_service_key_is_rotated_with_its_users(book):
    old = book.service_keys_create("backend", users="ana", for_agent="planner", cleared=True)
    new = book.service_keys_rotate(old.id)
    assert (new.users, new.agent, new.cleared, new.service) == (("ana",), "planner", True, True)
    with pytest.raises(Unauthenticated):
        book.authenticate(old.token, "ana")
    with pytest.raises(NotAllowed):
        book.authenticate(new.token, "bob")
    graceful = book.service_keys_rotate(new.id, grace_minutes=5)
    for token in (new.token, graceful.token):
        assert book.authenticate(token, "ana").principal.user_id == "ana"


def test_service_and_admin_keys_are_separate_lists(book):
    service, admin = book.service_keys_create("backend"), book.admin_keys_create("operations")
    assert [key.id for key in book.service_keys()] == [service.id]
    assert [key.id for key in book.admin_keys()] == [admin.id]
    with pytest.raises(NotFound):
        book.admin_keys_revoke(service.id)
    with pytest.raises(NotFound):
        book.service_keys_revoke(admin.id)
    with pytest.raises(NotFound):
        book.service_keys_rotate(admin.id)


def test_first_admin_key_is_made_also_beside_service_keys(book):
    book.service_keys_create("backend")
    assert book.first_admin_key() is not None
    assert book.first_admin_key() is None


@pytest.mark.parametrize(
    ("users", "error"),
    [([], InvalidInput), (["a"] * (MAX_SERVICE_USERS + 1), TooLong), ([""], InvalidInput)],
)
def test_service_key_refuses_a_bad_list_of_users(book, users, error):
    with pytest.raises(error) as refused:
        book.service_keys_create("backend", users=users)
    assert refused.value.field == "users"
    assert book.service_keys() == []


def test_idempotency_keys_are_separate_for_each_acting_user(book):
    key = book.service_keys_create("backend")
    asked = IdempotentRequest("order-1", "digest")

    def once(user_id):
        acting = book.opened_by(book.identify(key.token), user_id)
        return book.once(acting, asked, lambda me: me.remember(f"{user_id} keeps bees").id)

    first = once("ana")
    assert once("bob") != first
    assert once("ana") == first
    assert len(book.user("ana").list().memories) == 1


def test_erase_user_by_a_service_key_leaves_the_other_users_and_the_key(book):
    key = book.service_keys_create("backend", users=["ana", "bob"])
    for user_id in ("ana", "bob"):
        book.authenticate(key.token, user_id).remember(f"{user_id} keeps bees")
    book.authenticate(key.token, "ana").erase_user()
    assert book.user("ana").list().memories == ()
    assert len(book.authenticate(key.token, "bob").list().memories) == 1
