"""Each right of a key against each operation of the table."""

from __future__ import annotations

import pytest

import commonplace
from commonplace.api import KeyVerbs
from commonplace.api.handle import READ_VERBS
from commonplace.errors import CommonplaceError, MissingField, NotAllowed, Unauthenticated
from commonplace.operations.table import BY_NAME, OPERATIONS, Effect, ParameterShape
from support.clock import Clock

OF_USERS = [operation for operation in OPERATIONS if not operation.of_the_store]
OF_THE_STORE = [operation for operation in OPERATIONS if operation.of_the_store]
OF_KEYS = [operation for operation in OF_USERS if operation.verb in vars(KeyVerbs)]
KINDS = {
    "owner": {},
    "owner, read-only": {"read_only": True},
    "owner, cleared": {"cleared": True},
    "agent": {"for_agent": "planner"},
    "agent, read-only": {"for_agent": "planner", "read_only": True},
    "agent, with all rights": {"for_agent": "planner", "cleared": True, "may_resolve": True},
    "agent, with all rights, read-only": {
        "for_agent": "planner",
        "cleared": True,
        "may_resolve": True,
        "read_only": True,
    },
}
ANYTHING = {
    ParameterShape.TEXT: "x",
    ParameterShape.TEXTS: ["x"],
    ParameterShape.INTEGER: 1,
    ParameterShape.MAPS: ["x"],
    ParameterShape.VALUE: "x",
    ParameterShape.LINES: (),
    ParameterShape.ORIGINAL: "x",
}


@pytest.fixture(scope="module", params=("sqlite", "postgres"))
def world(request, tmp_path_factory):
    """One key of each kind; erasing is never got through with."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("rights") / "memory.db")
    else:
        url = request.getfixturevalue("postgres").database()
    with commonplace.open(url, embedder="hashing", clock=Clock()) as book:
        me = book.user("ana")
        me.remember("The lamp is green")
        tokens = {kind: me.keys_create(kind, **rights).token for kind, rights in KINDS.items()}
        yield book, {**tokens, "admin": book.admin_keys_create().token}
    if request.param == "postgres":
        request.getfixturevalue("postgres").give_back(url)


def needed(operation):
    return {each.name: ANYTHING[each.shape] for each in operation.parameters if each.required}


def refusal(operation, whose):
    """Why it is not allowed; None when it is, whatever becomes of it."""
    try:
        answer = operation.call(whose, needed(operation))
        list(answer) if hasattr(answer, "__next__") else answer
    except NotAllowed as error:
        return error.message
    except CommonplaceError:
        return None
    return None


@pytest.mark.parametrize("operation", OF_USERS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if "read-only" in kind])
def test_api_key_read_only_refuses_every_writing_operation(world, operation, kind):
    book, tokens = world
    told = refusal(operation, operation.opened_with(book, tokens[kind]))
    reads = operation.effect is Effect.READ
    assert (told == "This API key is read-only.") == (not reads)
    if kind.startswith("owner"):
        assert (told is None) == reads


@pytest.mark.parametrize(
    "operation", [each for each in OF_USERS if each.owner_only], ids=lambda each: each.name
)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("agent")])
def test_api_key_of_an_agent_refuses_owner_only_operations(world, operation, kind):
    book, tokens = world
    assert refusal(operation, operation.opened_with(book, tokens[kind]))


WIPING = ("erase-user",)  # which would end the table


@pytest.mark.parametrize(
    "operation",
    [each for each in OF_USERS if each.name not in WIPING],
    ids=lambda operation: operation.name,
)
@pytest.mark.parametrize("kind", ["owner", "owner, cleared"])
def test_api_key_of_an_owner_allows_every_user_operation(world, operation, kind):
    book, tokens = world
    assert refusal(operation, operation.opened_with(book, tokens[kind])) is None


@pytest.mark.parametrize("operation", OF_THE_STORE, ids=lambda operation: operation.name)
def test_api_key_of_an_admin_is_required_for_store_operations(world, operation):
    book, tokens = world
    assert operation.opened_with(book, tokens["admin"]) is book
    for kind in KINDS:
        with pytest.raises(NotAllowed):
            operation.opened_with(book, tokens[kind])
    with pytest.raises(Unauthenticated):
        operation.opened_with(book, tokens["admin"] + "x")


@pytest.mark.parametrize("operation", OF_USERS, ids=lambda operation: operation.name)
def test_api_key_of_an_admin_opens_key_operations_only(world, operation):
    book, tokens = world
    if operation in OF_KEYS:
        opened = operation.opened_with(book, tokens["admin"], "carla")
        assert type(opened) is KeyVerbs
        assert refusal(operation, opened) is None
        with pytest.raises(MissingField):
            operation.opened_with(book, tokens["admin"])
    else:
        for user in (None, "ana"):
            with pytest.raises(NotAllowed):
                operation.opened_with(book, tokens["admin"], user)


def test_api_key_refuses_the_memory_of_another_user(world):
    book, tokens = world
    recall = BY_NAME["recall"]
    assert recall.opened_with(book, tokens["owner"], "ana").principal.user_id == "ana"
    with pytest.raises(NotAllowed):
        recall.opened_with(book, tokens["owner"], "bob")
    with pytest.raises(NotAllowed):
        book.authenticate(tokens["admin"])


def test_api_key_of_an_admin_creates_user_keys_with_any_rights(world):
    book, tokens = world
    create = BY_NAME["keys create"]
    opened = create.opened_with(book, tokens["admin"], "dora")
    made = create.call(opened, {"label": "first", "cleared": True})
    dora = book.authenticate(made.token)
    assert dora.principal.cleared
    (listed,) = dora.keys()
    assert (listed.label, listed.id) == ("first", made.id)


def test_read_verbs_equal_the_read_operations_of_the_table():
    """`agent` is no operation: it narrows a handle, and changes nothing."""
    reads = {operation.verb for operation in OF_USERS if operation.effect is Effect.READ}
    assert reads == READ_VERBS - {"agent"}


def test_first_admin_key_is_created_once(tmp_path):
    url = str(tmp_path / "memory.db")
    with (
        commonplace.open(url, embedder="hashing") as one,
        commonplace.open(url, embedder="hashing") as other,
    ):
        key = one.first_admin_key()
        assert one.first_admin_key() is other.first_admin_key() is None
        assert other.identify(key.token).is_admin
        one.admin_keys_revoke(key.id)
        with pytest.raises(Unauthenticated):
            other.identify(key.token)
        assert one.first_admin_key() is None, "whoever revokes the last one makes the next by hand"
        assert [str(each.state) for each in one.admin_keys()] == ["revoked"]


def test_doctor_all_users_ignores_the_owner_of_admin_keys(tmp_path):
    url = str(tmp_path / "memory.db")
    with commonplace.open(url, embedder="hashing") as book:
        book.admin_keys_create()
    with commonplace.open(url, embedder="hashing") as book:
        book.user("ana").remember("The lamp is green")
        assert all(finding.ok for finding in book.user("ana").doctor(all_users=True))
