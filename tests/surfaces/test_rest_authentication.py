"""Who is let in, as whom, and what nobody from outside can reach."""

import pytest

import commonplace
from commonplace import settings
from commonplace.errors import BadSettings
from commonplace.surfaces.rest.server import make_server
from support.rest_server import running


@pytest.fixture
def book(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as opened:
        yield opened


@pytest.fixture
def ana(book):
    return book.user("ana")


def key(user, **rights):
    return user.keys_create("a key", **rights).token


@pytest.fixture
def loopback(book):
    with running(book) as server:
        yield server


@pytest.fixture
def server(book, ana):
    ana.keys_create("the first")
    with running(book, serve_keyless=False) as server:
        yield server


def test_rest_requires_a_valid_key(server):
    for given in ({}, {"authorization": "Basic YTpi"}, {"authorization": "Bearer "}):
        answer = server.ask("GET", "/v1/stats", headers=given)
        assert (answer.status, answer.data["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert server.ask("GET", "/v1/stats", key="cpk_none").status == 401


def test_rest_authenticates_before_validating_the_body(server):
    answer = server.ask("POST", "/v1/memories", {"colour": "red"})
    assert answer.data["code"] == "unauthenticated"


def test_rest_key_determines_the_user(server, book, ana):
    mine, his = key(ana), key(book.user("bob"))
    id = server.ask("POST", "/v1/memories", {"content": "Ana's diary"}, key=mine).data["id"]
    assert server.ask("GET", "/v1/me", key=his).data["user_id"] == "bob"
    assert server.ask("GET", "/v1/memories", key=his).data["memories"] == []
    unknown = server.ask("GET", "/v1/memories/nowhere", key=his).data
    theirs = server.ask("GET", f"/v1/memories/{id}", key=his).data
    assert theirs["detail"].replace(id, "nowhere") == unknown["detail"]
    assert {**theirs, "detail": ""} == {**unknown, "detail": ""}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/memories/{id}", None),
        ("GET", "/v1/memories/{id}/history", None),
        ("PATCH", "/v1/memories/{id}", {"importance": 5}),
        ("DELETE", "/v1/memories/{id}", None),
        ("POST", "/v1/memories/{id}/erase", {}),
        ("POST", "/v1/memories/{id}/restore", {}),
        ("POST", "/v1/forget", {"ids": ["{id}"]}),
        ("POST", "/v1/memories/merge", {"ids": ["{id}", "{id}2"]}),
        ("POST", "/v1/conflicts/{id}/resolve", {"choice": "insert"}),
        ("GET", "/v1/memories?after={id}", None),
        ("POST", "/v1/memory/query", {"query": "diary", "filters": {"user_id": "ana"}}),
    ],
)
def test_rest_id_of_another_user_is_answered_like_an_unknown_id(
    server, book, ana, method, path, body
):
    id = ana.remember("Ana's diary").id
    his = key(book.user("bob"))

    def asked(named):
        filled = {k: _named(v, named) for k, v in body.items()} if body is not None else None
        answer = server.ask(method, path.replace("{id}", named), filled, key=his)
        return answer.status, answer.body.decode().replace(named, "ID")

    assert asked(id) == asked("0" * 8 + id[8:])
    assert ana.show(id).memory.importance == 2


def _named(value, id):
    if isinstance(value, list):
        return [each.replace("{id}", id) for each in value]
    return value


@pytest.mark.parametrize(
    ("header", "value"),
    [("commonplace-user", "ana"), ("x-user-id", "ana"), ("x-forwarded-user", "ana")],
)
def test_rest_headers_cannot_change_the_user(server, book, ana, header, value):
    ana.remember("Ana's diary")
    his = key(book.user("bob"))
    answer = server.ask("GET", "/v1/memories", headers={header: value}, key=his)
    assert b"diary" not in answer.body
    # Our own header is refused; names that are not ours are headers like any other.
    assert answer.status == (403 if header == "commonplace-user" else 200)


def test_rest_agent_is_limited_by_key_or_header_and_cannot_widen(server, ana):
    ana.remember("I prefer tea over coffee")
    planner = key(ana, for_agent="planner")
    assert server.ask("GET", "/v1/memories", key=planner).data["memories"] == []
    narrowed = {"commonplace-agent": "planner"}
    assert server.ask("GET", "/v1/memories", headers=narrowed, key=key(ana)).data["memories"] == []
    widened = server.ask("GET", "/v1/me", headers={"commonplace-agent": "stylist"}, key=planner)
    assert (widened.status, widened.data["code"]) == (403, "not_allowed")


def test_rest_read_only_key_cannot_write(server, ana):
    reader = key(ana, read_only=True)
    assert server.ask("GET", "/v1/memories", key=reader).status == 200
    answer = server.ask("POST", "/v1/memories", {"content": "x"}, key=reader)
    assert (answer.status, answer.data["code"]) == (403, "not_allowed")


def test_rest_revoked_key_is_refused_at_once(server, ana):
    made = ana.keys_create("laptop")
    assert server.ask("GET", "/v1/stats", key=made.token).status == 200
    ana.keys_revoke(made.id)
    assert server.ask("GET", "/v1/stats", key=made.token).status == 401


def test_rest_admin_key_creates_keys_but_reads_no_memory(server, book):
    admin = book.admin_keys_create().token
    whose = {"commonplace-user": "carol"}
    made = server.ask("POST", "/v1/keys", {"label": "first"}, whose, key=admin)
    assert made.status == 200, made.body
    assert server.ask("GET", "/v1/me", key=made.data["token"]).data["user_id"] == "carol"
    assert server.ask("GET", "/v1/admin/keys", key=admin).status == 200
    for refused in (
        server.ask("GET", "/v1/memories", headers=whose, key=admin),
        server.ask("GET", "/v1/memories", key=admin),
        server.ask("GET", "/v1/admin/keys", key=made.data["token"]),
    ):
        assert (refused.status, refused.data["code"]) == (403, "not_allowed")


def test_rest_refuses_store_wide_parameters(server, ana):
    mine = key(ana)
    answer = server.ask("POST", "/v1/verify-forget", {"text": "x", "files": True}, key=mine)
    assert answer.data["code"] == "unknown_field"
    assert server.ask("GET", "/v1/doctor?all_users=true", key=mine).data["code"] == "unknown_field"


# ——— names and origins ———


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
def test_rest_refuses_foreign_hosts(book, host):
    """DNS rebinding: its name leads here, and its requests need no key."""
    with running(book) as server:
        answer = server.ask("GET", "/v1/memories", headers={"host": host})
        assert (answer.status, answer.data["code"]) == (421, "not_allowed")
        assert server.ask("GET", "/v1/memories", headers={"host": "localhost"}).status == 200


def test_rest_refuses_foreign_origins_and_sends_no_cors_headers(book):
    with running(book, serve_origins="https://app.example") as server:
        for origin in ("https://evil.example", "null"):
            sent = {"origin": origin}
            answer = server.ask("POST", "/v1/memories", {"content": "x"}, sent)
            assert (answer.status, answer.data["code"]) == (403, "not_allowed")
            assert not [name for name in answer.headers if name.startswith("access-control")]
        known = {"origin": "https://app.example"}
        assert server.ask("GET", "/v1/memories", headers=known).status == 200
        own = {"origin": server.url}
        assert server.ask("GET", "/v1/memories", headers=own).data["memories"] == []


# ——— where it may listen ———


@pytest.mark.parametrize("flags", [{"serve_host": "0.0.0.0"}, {"serve_keyless": False}])
def test_serve_requires_an_existing_key_when_open_to_others(book, flags):
    chosen = settings.load(flags, environment={})
    with pytest.raises(BadSettings) as refused:
        make_server(book, chosen)
    assert "commonplace keys create" in refused.value.remedy
    assert f"--store {book.url}" in refused.value.remedy
    book.user("ana").keys_create("laptop")
    assert make_server(book, chosen)


def test_serve_on_all_interfaces_requires_a_key(book, ana):
    ana.keys_create("laptop")
    with running(book, serve_host="0.0.0.0") as server:
        assert server.ask("GET", "/v1/memories").status == 401


def test_serve_with_a_public_name_requires_a_key(book, ana):
    with pytest.raises(BadSettings):
        make_server(book, settings.load({"serve_names": "memory.example"}, environment={}))
    ana.keys_create("laptop")
    with running(book, serve_names="memory.example") as server:
        for host in ("memory.example", "localhost"):
            assert server.ask("GET", "/v1/memories", headers={"host": host}).status == 401


def test_serve_behind_a_local_proxy_requires_a_key(loopback, ana):
    """Its requests come from this machine, and are not of this machine."""
    mine = key(ana)
    assert loopback.ask("GET", "/v1/memories").status == 200
    for sent in (
        {"x-forwarded-for": "203.0.113.7"},
        {"forwarded": "for=203.0.113.7"},
        {"host": "10.0.0.7"},
    ):
        for path in ("/v1/memories", "/v1/changes/stream", "/mcp"):
            refused = loopback.ask("GET", path, headers=sent)
            assert refused.status == 401
            assert b"unauthenticated" in refused.body
        assert loopback.ask("GET", "/v1/memories", headers=sent, key=mine).status == 200


def test_rest_keyless_caller_is_the_default_user_and_no_admin(loopback, book):
    assert loopback.ask("GET", "/v1/keys").status == 200
    assert loopback.ask("GET", "/v1/keys", headers={"commonplace-user": "ana"}).status == 200
    other = loopback.ask("GET", "/v1/keys", headers={"commonplace-user": "bob"})
    assert (other.status, other.data["code"]) == (401, "unauthenticated")
    for method, path in (
        ("GET", "/v1/admin/keys"),
        ("POST", "/v1/admin/keys"),
        ("DELETE", "/v1/admin/keys/x"),
    ):
        answer = loopback.ask(method, path)
        assert (answer.status, answer.data["code"]) == (403, "not_allowed")
        assert "commonplace keys admin" in answer.data["remedy"]
    assert book.admin_keys() == []


def test_rest_admin_must_name_the_user_of_keys(server, book):
    answer = server.ask("GET", "/v1/keys", key=book.admin_keys_create().token)
    assert (answer.status, answer.data["code"]) == (400, "missing_field")
    assert "Commonplace-User" in answer.data["remedy"]


# ——— how often ———


def test_rest_rate_limit_is_per_key(book, ana):
    mine, his = key(ana), key(book.user("bob"))
    with running(book, serve_keyless=False, serve_rate=1e-6) as server:
        assert server.ask("GET", "/v1/me", key=mine).status == 200
        answer = server.ask("GET", "/v1/me", key=mine)
        assert (answer.status, answer.data["code"]) == (429, "rate_limited")
        assert int(answer.headers["retry-after"]) > 0
        assert server.ask("GET", "/v1/me", key=his).status == 200


def test_rest_rate_limit_of_invalid_keys_does_not_affect_valid_keys(book, ana):
    mine = key(ana)
    with running(book, serve_keyless=False, serve_rate=1e-6) as server:
        assert server.ask("GET", "/v1/me", key="cpk_none").status == 401
        for made_up in ("cpk_none", "cpk_another", None):
            answer = server.ask("GET", "/v1/me", key=made_up)
            assert (answer.status, answer.data["code"]) == (429, "rate_limited")
        assert server.ask("GET", "/v1/me", key=mine).status == 200
        assert server.ask("GET", "/v1/me", key=mine).status == 429
