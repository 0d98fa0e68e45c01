"""What a tool refuses: with our code, message and remedy, as in Python; nothing is changed."""

import logging

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

import commonplace
from commonplace import User
from support.mcp_client import MODES, connected, server_for


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("mcp") / "memory.db")
    with commonplace.open(store, embedder="hashing") as book:
        yield book.user("ana")


@pytest.fixture(scope="module", params=MODES)
def client(request, user):
    with connected(server_for(user), mode=request.param) as client:
        yield client


REFUSED = {
    "an unknown argument": ("remember", {"content": "x", "colour": "red"}, "unknown_field"),
    "one that is not shown": ("remember", {"content": "x", "user_id": "bo"}, "unknown_field"),
    "one of another way": ("show", {"id": "x", "limit": 5}, "unknown_field"),
    "a missing one": ("observe", {}, "missing_field"),
    "one that a way needs": ("conflicts", {"conflict": "x"}, "missing_field"),
    "what belongs to nothing": ("conflicts", {"choice": "insert"}, "unknown_field"),
    "nothing but space": ("remember", {"content": "  "}, "bad_text"),
    "a NUL byte": ("remember", {"content": "a\0b"}, "bad_text"),
    "half a character": ("remember", {"content": "\ud800"}, "bad_text"),
    "half a character of a text": ("ingest", {"original": "\ud800"}, "bad_text"),
    "a text of nothing": ("ingest", {"original": " "}, "bad_text"),
    "a text that is too long": ("remember", {"content": "x" * 32_001}, "too_long"),
    "a number for text": ("remember", {"content": 5}, "invalid_input"),
    "text for a number": ("remember", {"content": "x", "importance": "high"}, "invalid_input"),
    "text for a list": ("remember", {"content": "x", "tags": "red"}, "invalid_input"),
    "a map for text": ("memory_query", {"query": {"a": 1}}, "invalid_input"),
    "a bad date": ("recall", {"query": "x", "as_of": "someday"}, "invalid_input"),
    "a bad choice": ("conflicts", {"conflict": "x", "choice": "maybe"}, "invalid_input"),
    "an unknown filter": ("recall", {"query": "x", "filters": {"a": 1}}, "unknown_field"),
    "an unknown id": ("show", {"id": "nowhere"}, "not_found"),
    "an unknown conflict": ("conflicts", {"conflict": "x", "choice": "insert"}, "not_found"),
    "no id to restore": ("forget", {"undo": True}, "missing_field"),
    "another user": ("memory_query", {"query": "x", "filters": {"user_id": "bo"}}, "not_found"),
}


@pytest.mark.parametrize(("tool", "arguments", "code"), REFUSED.values(), ids=REFUSED)
def test_mcp_tool_refuses_bad_arguments_with_code_and_remedy(client, user, tool, arguments, code):
    before = user.revision
    told = client.refusal(tool, **arguments)
    assert told["code"] == code, told
    assert told["message"]
    assert told["remedy"]
    assert user.revision == before


def test_mcp_unknown_tool_is_a_protocol_error(client):
    with pytest.raises(MCPError) as refused:
        client.call("erase", ids=["x"])
    assert refused.value.code == types.INVALID_PARAMS


def test_mcp_unexpected_error_reveals_no_detail(client, monkeypatch, caplog):
    def fails(*given, **named):
        raise RuntimeError("xylophone")

    monkeypatch.setattr(User, "profile", fails)
    with caplog.at_level(logging.ERROR, logger="commonplace.mcp"):
        told = client.refusal("profile")
        with pytest.raises(MCPError) as refused:
            client.run(client.client.read_resource, "memory://profile")
    assert told["code"] == "error"
    assert "xylophone" not in str(told)
    assert "xylophone" not in str(refused.value.error)
    assert [record.getMessage() for record in caplog.records] == ["tool", "read"]


def test_mcp_server_keeps_serving_after_errors(client):
    assert client.data("show") is not None
