"""A server on loopback asks for its token: nobody gets in through a proxy, a page or a guess."""

import os
import re
import stat

import pytest

import commonplace
from commonplace.errors import Unauthenticated
from commonplace.surfaces.rest.local_token import LocalToken, load_token, obtain_token, token_file
from commonplace.surfaces.rest.routes import ROUTES
from support.mcp_client import over_http
from support.rest_server import running
from support.served import Served

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
# As nginx sends it with `proxy_pass http://127.0.0.1:8765;` and nothing else.
AS_NGINX = {"host": "127.0.0.1:8765", "connection": "close"}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("token") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        opened.user("ana").remember("The gate code is 4711")
        yield opened


@pytest.fixture(scope="module")
def server(book):
    with running(book, serve_rate=0) as server:
        yield server


@pytest.fixture
def cookie(server):
    return {"cookie": f"commonplace_{server.port}={server.token}"}


# ——— without the token ———


@pytest.mark.parametrize("path", ["/v1/export", "/v1/memories", "/v1/changes/stream", "/v1/me"])
def test_local_token_is_required_behind_a_proxy_in_default_form(server, path):
    answer = server.ask("GET", path, headers=AS_NGINX, token=False)
    assert (answer.status, answer.data["code"]) == (401, "unauthenticated")
    assert f"tokens/{server.port}" in answer.data["remedy"]
    assert b"4711" not in answer.body


def test_local_token_is_required_by_every_route(server):
    for route in ROUTES:
        path = re.sub(r"{\w+}", "x", route.in_full())
        body = None if route.takes_query else {}
        assert server.ask(route.method, path, body, token=False).status == 401, route
    for method in ("GET", "POST", "DELETE"):
        for path in ("/mcp", "/mcp/reference-memory"):
            answer = server.ask(method, path, {}, JSON, token=False)
            assert (answer.status, b"tokens/" in answer.body) == (401, True)


def test_local_token_is_required_for_metrics_but_not_for_health_and_documentation(server):
    assert server.ask("GET", "/metrics", token=False).status == 401
    assert server.ask("GET", "/metrics").status == 200
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs", "/"):
        assert server.ask("GET", path, token=False).status == 200


def test_local_token_refusal_does_not_name_the_account(server, data_folder):
    answer = server.ask("GET", "/v1/me", token=False)
    assert str(data_folder) not in answer.body.decode()


@pytest.mark.parametrize("given", ["cpl_", "cpl_wrong", "cpk_none", "é", ""])
def test_local_token_wrong_values_are_refused(server, given):
    named = f"commonplace_{server.port}"
    for headers in ({"authorization": f"Bearer {given}"}, {"cookie": f"{named}={given}"}):
        sent = {name: value.encode() for name, value in headers.items()}
        assert server.ask("GET", "/v1/me", headers=sent, token=False).status == 401
    assert server.ask("GET", f"/?token={given.encode().hex()}", token=False).status == 401


def test_local_token_is_not_accepted_through_a_proxy(server, cookie):
    for proxied in ({"x-forwarded-for": "203.0.113.7"}, {"host": "10.0.0.7"}):
        assert server.ask("GET", "/v1/me", headers=proxied).status == 401
        assert server.ask("GET", "/v1/me", headers=cookie | proxied, token=False).status == 401
        page = server.ask("GET", f"/?token={server.token}", headers=proxied, token=False)
        assert (page.status, "set-cookie" in page.headers) == (401, False)


def test_local_token_of_one_server_opens_no_other(server, tmp_path):
    with (
        commonplace.open(str(tmp_path / "other.db"), embedder="hashing") as second,
        running(second) as other,
    ):
        assert other.token != server.token
        assert other.ask("GET", "/v1/me", key=server.token).status == 401


def test_local_token_is_refused_where_keys_are_required(book):
    book.user("ana").keys_create("laptop")
    with running(book, serve_keyless=False) as strict:
        held = strict.server.server_context.token.value
        assert strict.ask("GET", "/v1/me", key=held).status == 401
        assert "set-cookie" not in strict.ask("GET", f"/?token={held}").headers


# ——— with it ———


def test_local_token_opens_rest_and_mcp_by_header(server):
    assert server.ask("GET", "/v1/me").data["user_id"] == "ana"
    with over_http(server.url, server.token) as client:
        assert "4711" in str(client.data("memory_query", query="gate code"))


def test_local_token_in_the_address_becomes_a_cookie_and_leaves_the_address(server):
    answer = server.ask("GET", f"/?token={server.token}", token=False)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert {each.lower() for each in attributes} == {"httponly", "path=/", "samesite=strict"}
    assert b"gate code" in server.ask(
        "GET", "/v1/export", headers={"cookie": cookie}, token=False
    ).body.replace(b"\\u0020", b" ")


def test_local_token_cookie_may_change_something_only_from_a_page_of_the_server(server, cookie):
    written = {"content": "The shed is locked"}
    own = {"origin": server.url}
    for sent, status in (
        ({}, 403),
        ({"origin": "http://127.0.0.1:1"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, 403),
        (own, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
    ):
        answer = server.ask("POST", "/v1/memories", written, cookie | sent, token=False)
        assert answer.status == status, sent
    assert server.ask("POST", "/mcp", {}, JSON | cookie, token=False).status == 403


def test_local_token_is_found_by_the_client(server):
    with commonplace.connect(server.url) as me:
        assert me.principal.user_id == "ana"
    with (
        commonplace.connect(server.url, "cpl_other") as stranger,
        pytest.raises(Unauthenticated),
    ):
        stranger.list()


def test_local_token_is_in_no_log_line(server, book, caplog):
    with caplog.at_level("DEBUG"):
        server.ask("GET", f"/?token={server.token}", token=False)
        server.ask("GET", "/v1/me")
        server.ask("GET", f"/v1/memories?token={server.token}")
        server.ask("GET", f"/{server.token}")
    assert caplog.records
    assert server.token not in caplog.text


# ——— its file ———


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


def test_local_token_file_is_private_and_outlives_the_server(home):
    token = obtain_token(8765)
    path = home / "commonplace" / "tokens" / "8765"
    assert path == token_file(8765)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.read_text().strip() == token.value == load_token(8765)
    assert obtain_token(8765) == token
    assert obtain_token(8766).value != token.value
    assert len(token.value) > 40
    assert token.value not in repr(token)


def test_local_token_file_that_others_can_read_is_replaced(home):
    token = obtain_token(8765)
    os.chmod(token_file(8765), 0o644)
    assert load_token(8765) is None
    renewed = obtain_token(8765)
    assert renewed.value != token.value
    assert stat.S_IMODE(token_file(8765).stat().st_mode) == 0o600


def test_local_token_that_cannot_be_written_lasts_for_one_start(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    token = obtain_token(8765)
    assert not token.is_stored
    assert "printed" in token.place
    token.remove()


def test_local_token_comparison_accepts_only_the_whole_token():
    token = LocalToken("cpl_abc", 1)
    assert token.equals("cpl_abc")
    assert not any(token.equals(each) for each in ("", "cpl_ab", "cpl_abcd", "\ud800"))


def test_serve_prints_the_address_with_the_token_and_keeps_it_over_restarts(tmp_path, home):
    store = str(tmp_path / "served.db")
    with Served(store) as first:
        assert f"{first.url}/?token={first.token}" in first.who
        assert load_token(first.port) == first.token
        assert first.ask("GET", "/v1/me", token=False).status == 401
        first.ask("GET", f"/?token={first.token}")
        assert first.token not in first.complaints
        port = first.port
        first.tell_to_stop()
        assert first.exit_code() == 0
    assert load_token(port) is None, "a port that was chosen at random is not used again"
    with Served(store, port=port) as second:
        token = second.token
    with Served(store, port=port) as third:
        assert third.token == token
        assert third.ask("GET", "/v1/me").status == 200
