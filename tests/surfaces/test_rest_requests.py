"""What a server answers: problems for whatever is wrong, pages, and states of one item."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import commonplace
from support.rest_server import PATIENCE, Visitor, running

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("rest") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(book):
    with running(book, serve_max_mb=0.2) as server:
        yield server


@pytest.fixture
def server(shared, book):
    return Visitor(shared, book)


def refused(answer, status, code, field=None):
    """A problem as RFC 9457 has it, with our code and something to do about it."""
    assert answer.headers["content-type"] == "application/problem+json", answer.body
    told = answer.data
    assert (answer.status, told["status"], told["code"]) == (status, status, code), told
    assert told["type"] == f"urn:commonplace:error:{code}"
    assert told["detail"]
    assert told["remedy"]
    assert field is None or told["field"] == field
    return told


# ——— what is wrong with a request ———

BODIES = {
    "no JSON": (b"{", "invalid_input"),
    "no object": (b"[1]", "invalid_input"),
    "no number": (b'{"content": "x", "confidence": NaN}', "invalid_input"),
    "endless number": (b'{"importance": ' + b"9" * 5000 + b"}", "invalid_input"),
    "a name twice": (b'{"content": "x", "content": "y"}', "invalid_input"),
    "nested": (b'{"metadata": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "invalid_input"),
    "no UTF-8": (b'{"content": "\xff"}', "bad_text"),
    "a NUL byte": (b'{"content": "a\\u0000b"}', "bad_text"),
    "half a character": (b'{"content": "\\ud800"}', "bad_text"),
    "nothing but space": (b'{"content": "  "}', "bad_text"),
    "an unknown field": (b'{"content": "x", "colour": "red"}', "unknown_field"),
    "a number for text": (b'{"content": 5}', "invalid_input"),
    "text for a number": (b'{"content": "x", "importance": "high"}', "invalid_input"),
    "a flag for a number": (b'{"content": "x", "importance": true}', "invalid_input"),
    "text for a list": (b'{"content": "x", "tags": "red"}', "invalid_input"),
    "too long": (json.dumps({"content": "x" * 32_001}).encode(), "too_long"),
    "a bad date": (b'{"content": "x", "expires_at": "soon"}', "invalid_input"),
    "nothing": (b"", "missing_field"),
}


@pytest.mark.parametrize("case", BODIES)
def test_rest_bad_body_is_a_problem_and_changes_nothing(server, case):
    body, code = BODIES[case]
    answer = server.ask("POST", "/v1/memories", headers=JSON, raw=body)
    refused(answer, 400, code)
    assert server.ask("GET", "/v1/memories").data["memories"] == []


QUERIES = {
    "limit=ten": ("invalid_input", "limit"),
    "limit=1&limit=2": ("invalid_input", "limit"),
    "limit=0": ("invalid_input", "limit"),
    "limit=1e3": ("invalid_input", "limit"),
    "forgotten=maybe": ("invalid_input", "forgotten"),
    "filters=red": ("invalid_input", "filters"),
    "filters=%7B%22colour%22%3A1%7D": ("unknown_field", None),
    "colour=red": ("unknown_field", "colour"),
    "after=nowhere": ("not_found", "after"),
    "kinds=poem": ("invalid_input", None),
    "as_of=someday": ("invalid_input", "as_of"),
}


@pytest.mark.parametrize("query", QUERIES)
def test_rest_bad_query_is_a_problem(server, query):
    code, field = QUERIES[query]
    status = 404 if code == "not_found" else 400
    refused(server.ask("GET", f"/v1/memories?{query}"), status, code, field)


def test_rest_body_must_have_the_json_media_type(server):
    """A form of another site could send plain text without asking a browser's leave."""
    for media_type in ("text/plain", "application/x-www-form-urlencoded"):
        answer = server.ask("POST", "/v1/memories", None, {"content-type": media_type}, raw=b"{}")
        refused(answer, 400, "invalid_input", "body")


def test_rest_refuses_a_too_large_request_with_or_without_length(server):
    large = json.dumps({"content": "x" * 300_000}).encode()
    refused(server.ask("POST", "/v1/memories", headers=JSON, raw=large), 413, "too_long", "body")
    pieces = (large[n : n + 4096] for n in range(0, len(large), 4096))
    answer = server.ask("POST", "/v1/memories", headers=JSON, raw=pieces)
    refused(answer, 413, "too_long", "body")


def test_rest_unknown_path_is_404_and_unknown_method_405(server):
    refused(server.ask("GET", "/v1/nowhere"), 404, "not_found", "path")
    answer = server.ask("PUT", "/v1/memories", {})
    refused(answer, 405, "invalid_input", "method")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    refused(server.ask("PATCH", "/v1/memories/x/history", {}), 405, "invalid_input", "method")
    refused(server.ask("OPTIONS", "/v1/recall"), 405, "invalid_input", "method")


def test_rest_unexpected_error_reveals_no_detail(server, monkeypatch):
    def fails(*arguments, **named):
        raise RuntimeError("secret words")

    monkeypatch.setattr(commonplace.User, "stats", fails)
    answer = server.ask("GET", "/v1/stats")
    told = refused(answer, 500, "error")
    assert "secret" not in json.dumps(told)
    assert answer.headers["request-id"]


# ——— files of the server are nobody's business ———


def test_rest_ingest_treats_a_server_path_as_text(server, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("The vault opens with 4711")
    kept = server.ask("POST", "/v1/sources", {"original": str(secret)})
    assert kept.status == 200
    shown = server.ask("GET", f"/v1/sources/{kept.data['id']}")
    assert b"4711" not in shown.body
    found = server.ask("POST", "/v1/recall", {"query": "vault opens 4711"})
    assert "4711" not in json.dumps(found.data["hits"])


def test_rest_ingest_accepts_a_raw_original(server):
    letter = b"From: Tal <t@x.org>\nSubject: Boiler\n\nThe plumber wants 340 shekels, in cash.\n"
    answer = server.ask(
        "POST", "/v1/sources?format=email&tags=home&tags=bills", raw=letter, headers={}
    )
    assert answer.status == 200, answer.body
    assert answer.data["source"]["tags"][:2] == ["home", "bills"]
    assert answer.data["source"]["title"] == "Boiler"


# ——— pages ———


def test_rest_list_pages_through_all_memories(server):
    sent = [server.ask("POST", "/v1/memories", {"content": f"Note number {n}"}) for n in range(5)]
    expected = [answer.data["id"] for answer in reversed(sent)]
    found, after = [], ""
    while after is not None:
        page = server.ask("GET", f"/v1/memories?limit=2{after and '&after=' + after}").data
        found += [memory["id"] for memory in page["memories"]]
        after = page["next"]
    assert found == expected


def test_rest_export_can_be_imported(server, shared, book):
    server.ask("POST", "/v1/memories", {"content": "The gate code is 1111"})
    lines = server.ask("GET", "/v1/export")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    other = Visitor(shared, book)
    sent = {"content-type": "application/x-ndjson"}
    answer = other.ask("POST", "/v1/import", headers=sent, raw=lines.body)
    assert answer.data["memories"] == 1, answer.body
    assert "1111" in other.ask("GET", "/v1/memories").data["memories"][0]["content"]


# ——— states of one item ———


@pytest.fixture
def item(server):
    id = server.ask("POST", "/v1/memories", {"content": "The gate code is 1111"}).data["id"]
    return f"/v1/memories/{id}"


def test_rest_if_none_match_answers_304_until_changed(server, item):
    first = server.ask("GET", item)
    etag = first.headers["etag"]
    again = server.ask("GET", item, headers={"if-none-match": f'"other", {etag}'})
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    server.ask("PATCH", item, {"importance": 5})
    changed = server.ask("GET", item, headers={"if-none-match": etag})
    assert changed.status == 200
    assert changed.headers["etag"] != etag


def test_rest_etag_is_unchanged_by_recall(server, item, book):
    etag = server.ask("GET", item).headers["etag"]
    assert server.ask("POST", "/v1/recall", {"query": "gate code"}).data["hits"]
    book.flush()
    assert server.ask("GET", item).headers["etag"] == etag


def test_rest_if_match_refuses_an_old_etag(server, item):
    etag = server.ask("GET", item).headers["etag"]
    assert server.ask("PATCH", item, {"importance": 5}, {"if-match": etag}).status == 200
    for method, body in (("PATCH", {"importance": 1}), ("DELETE", None)):
        answer = server.ask(method, item, body, {"if-match": etag})
        refused(answer, 412, "changed_meanwhile")
    assert server.ask("GET", item).data["memory"]["importance"] == 5
    assert server.ask("DELETE", item, headers={"if-match": "*"}).status == 200
    refused(server.ask("GET", item), 404, "not_found", "id")


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("PATCH", {"importance": 4}),
        ("PATCH", {"content": "The gate code is 2222"}),
        ("DELETE", None),
    ],
)
def test_rest_if_match_of_two_concurrent_writers_accepts_one(server, item, method, body):
    etag = server.ask("GET", item).headers["etag"]
    together = threading.Barrier(2)

    def change(_):
        together.wait(PATIENCE)
        return server.ask(method, item, body, {"if-match": etag}).status

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(change, range(2))) == [200, 412]


def test_rest_if_match_on_an_unknown_id_is_412(server):
    answer = server.ask("DELETE", "/v1/memories/nowhere", headers={"if-match": "*"})
    refused(answer, 412, "changed_meanwhile")


def test_rest_if_match_with_idempotency_key_replays_the_answer(server, item):
    """The same key and the same ETag: the item has changed since, by this very request."""
    etag = server.ask("GET", item).headers["etag"]
    sent = {"if-match": etag, "idempotency-key": "once"}
    first = server.ask("PATCH", item, {"importance": 4}, sent)
    again = server.ask("PATCH", item, {"importance": 4}, sent)
    assert (first.status, again.status, again.body) == (200, 200, first.body)


def test_rest_source_alias_is_accepted_as_id(server):
    """They may hold slashes and more."""
    sent = {"original": "Tal: Found the keys.", "external_id": "inbox/2026/7?x#y"}
    kept = server.ask("POST", "/v1/sources", {**sent, "origin": "gmail"}).data
    for name in (kept["id"], "gmail:inbox%2F2026%2F7%3Fx%23y"):
        answer = server.ask("GET", f"/v1/sources/{name}")
        assert answer.data["source"]["id"] == kept["id"], answer.body
        assert server.ask("GET", f"/v1/memories/{name}/history").status == 200
    refused(server.ask("GET", "/v1/sources/gmail:inbox/2026/7"), 404, "not_found", "path")


def test_rest_source_supports_delete_restore_history_and_erase(server):
    """Forgotten only as it was seen, brought back, erased; its life stays to be read until then."""
    kept = server.ask("POST", "/v1/sources", {"original": "Tal: Found the keys."}).data
    path = f"/v1/sources/{kept['id']}"
    etag = server.ask("GET", path).headers["etag"]
    refused(server.ask("DELETE", path, headers={"if-match": '"other"'}), 412, "changed_meanwhile")
    assert server.ask("DELETE", path, headers={"if-match": etag}).data["ids"] == [kept["id"]]
    refused(server.ask("GET", path), 404, "not_found", "id")
    assert server.ask("POST", f"{path}/restore").status == 200
    assert server.ask("GET", path).status == 200
    assert len(server.ask("GET", f"{path}/history").data) >= 3
    assert server.ask("POST", f"{path}/erase").status == 200
    refused(server.ask("GET", path), 404, "not_found", "id")


def test_rest_consent_lists_accepts_and_declines_proposals(server):
    def proposed(value):
        headers = {"commonplace-agent": "planner"}
        body = {"name": "city", "value": value}
        return server.ask("POST", "/v1/profile/proposals", body, headers).data["id"]

    first, second = proposed("Haifa"), proposed("Jaffa")
    assert {each["id"] for each in server.ask("GET", "/v1/consent").data} == {first, second}
    assert server.ask("GET", "/v1/consent").data == server.ask("GET", "/v1/profile/proposals").data
    assert server.ask("POST", f"/v1/consent/{second}/decline").status == 200
    assert server.ask("POST", f"/v1/consent/{first}/accept").status == 200
    assert server.ask("GET", "/v1/profile").data["fields"] == {"city": "Haifa"}


# ——— HEAD ———


def test_rest_head_answers_like_get_without_body(server):
    """Also where what would be sent has no end."""
    server.ask("POST", "/v1/memories", {"content": "The gate is green"})
    for path in (
        "/healthz",
        "/readyz",
        "/metrics",
        "/docs",
        "/v1/me",
        "/v1/memories",
        "/v1/nowhere",
    ):
        got, asked = (server.ask(method, path) for method in ("GET", "HEAD"))
        assert (asked.status, asked.body) == (got.status, b""), path
        assert asked.headers["content-type"] == got.headers["content-type"]
    stream = server.ask("HEAD", "/v1/changes/stream")
    assert (stream.status, stream.headers["content-type"]) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    assert server.ask("HEAD", "/v1/recall").status == 405


def test_rest_path_with_nul_is_refused(server):
    refused(server.ask("GET", "/v1/memories/a%00b"), 400, "bad_text", "path")
    refused(server.ask("GET", "/v1/memories/%00"), 400, "bad_text", "path")
    refused(server.ask("GET", "/v1/memories/a%2Fb"), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/memories"), ("GET", "/v1/memories"), ("POST", "/v1/keys")]
)
def test_rest_invalid_idempotency_key_is_refused_on_every_route(server, method, path):
    for given in ("", "  ", "x" * 256):
        answer = server.ask(method, path, headers={"idempotency-key": given})
        refused(answer, 400, "invalid_input", "idempotency-key")
