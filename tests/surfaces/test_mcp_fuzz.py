"""Calls that nobody would make: no crash, no trace, nothing of another; the server answers on."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError

import commonplace
from commonplace.errors import all_errors
from commonplace.surfaces.mcp.presentation import describe_tool
from commonplace.surfaces.mcp.tools import TOOLS
from support.mcp_client import MODES, connected, server_for
from support.rest_server import running

CODES = {error.code for error in all_errors()}
SECRET = "36-24-36"
SCHEMAS = {tool.name: describe_tool(tool) for tool in TOOLS}
VALID = {name: Draft202012Validator(tool.output_schema) for name, tool in SCHEMAS.items()}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("fuzz") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        opened.user("bo").remember(f"The safe opens with {SECRET}")
        yield opened


@pytest.fixture(scope="module", params=MODES)
def client(request, book):
    user = book.user(f"ana {request.param}")
    with connected(server_for(user), mode=request.param) as client:
        yield client


SOME = """x wifi 2026-01-01 nowhere source:x#1 none only override fact kv user tasks high
    /etc/passwd שלום category user_id importance_min"""
METHODS = """tools/call tools/list initialize ping resources/read prompts/get server/discover
    completion/complete notifications/cancelled x"""
NAMES = st.sampled_from([*SOME.split(), "", " ", "\0", "🙂" * 9])
WORDS = NAMES | st.just("\ud800")  # which the client can send as a value, and not as a name
NUMBERS = st.integers(-3, 9) | st.sampled_from([10**30, -1.5, 0.5, 1e308])
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


# What makes sense, so that calls also come through: by name, and else by type.
SENSE = {
    "kind": ["note", "fact", "kv", "event", "log"],
    "kinds": [["fact"], ["kv", "note"]],
    "role": ["user", "assistant"],
    "choice": ["override", "insert", "dismiss"],
    "return": ["bullets", "full"],
    "on_conflict": ["ask", "insert", "override"],
    "sensitivity": ["low", "normal", "high"],
    "metadata": [{}, {"subject": "door code", "value": "4411"}],
    "filters": [{}, {"importance_min": 2}, {"role": "user"}, {"pinned": False}],
    "sources": [["none"], ["only"]],
    "name": ["tone", "city", "goals_add", "preferred_name"],
    "format": ["text", "markdown"],
    "source_type": ["meeting", "email"],
    "context_type": ["planning", "phone-call"],
    "categories": [["profile"], ["tasks", "knowledge"]],
    "append": [False],
    "after": [None],
    **{name: ["2026-01-02", "2020-03-04T05:06:07Z"] for name in ("as_of", "date", "at")},
    **{name: ["2026-01-02"] for name in ("known_at", "valid_from")},
    **{name: ["2999-01-01"] for name in ("expires_at", "valid_to")},
}
OF_TYPE = {
    "string": ["wifi password", "Dana lives in Haifa", "שלום", "I am allergic to peanuts", "x"],
    "integer": [1, 2, 5],
    "number": [0.5, 1],
    "boolean": [True, False],
    "array": [["x"], ["one", "two"], []],
    "object": [{}],
}


def sensible(name, schema):
    return st.sampled_from(SENSE.get(name) or OF_TYPE.get(schema.get("type"), ["x"]))


def arguments_for(tool):
    """What is needed and a few more that make sense; or anything, under any name."""
    taken = tool.input_schema["properties"]
    needed = set(tool.input_schema.get("required", []))
    right = {name: sensible(name, schema) for name, schema in taken.items()}
    few = st.lists(st.sampled_from(sorted(taken)), max_size=3).flatmap(
        lambda more: st.fixed_dictionaries({name: right[name] for name in needed | set(more)})
    )
    wild = st.fixed_dictionaries(
        {}, optional={**{name: right[name] | ANYTHING for name in taken}, "colour": ANYTHING}
    )
    return few | few | wild


CALLS = st.sampled_from(sorted(SCHEMAS)).flatmap(
    lambda name: st.tuples(st.just(name), arguments_for(SCHEMAS[name]))
)


@settings(max_examples=120)
@given(call=CALLS)
def test_mcp_fuzz_tool_results_fit_the_schema_or_have_a_known_error_code(client, call):
    name, arguments = call
    result = client.unchecked(name, arguments)
    if result.is_error:
        told = result.meta["commonplace/error"]
        assert told["code"] in CODES - {"error"}, (told, arguments)
    else:
        VALID[name].validate(result.structured_content)
    assert SECRET not in str(result)


@settings(max_examples=40)
@given(name=NAMES | st.text(max_size=20), arguments=st.dictionaries(NAMES, ANYTHING, max_size=3))
def test_mcp_fuzz_unknown_tools_are_refused(client, name, arguments):
    with pytest.raises(MCPError):
        client.run(client.client.call_tool, name, arguments)


@settings(max_examples=40)
@given(
    uri=st.sampled_from(["memory://", "memory://memories/", "memory://sources/", ""]), rest=WORDS
)
def test_mcp_fuzz_unknown_resources_are_refused_and_leak_nothing(client, uri, rest):
    """Not even to somebody whom an earlier call has called so. With a digit it is an id:
    other words would be searched for."""
    with pytest.raises((MCPError, ValueError)) as refused:
        client.run(client.client.read_resource, f"{uri}{rest}-who-is-nobody-7")
    assert SECRET not in str(refused.value)


# ——— as bytes over HTTP ———


@pytest.fixture(scope="module")
def server(book):
    with running(book, serve_rate=0) as server:
        yield server


MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0"]) | ANYTHING,
        "id": st.integers(0, 5) | ANYTHING,
        "method": st.sampled_from(METHODS.split()) | ANYTHING,
        "params": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(sorted(SCHEMAS)) | ANYTHING,
                "arguments": st.dictionaries(NAMES, ANYTHING, max_size=3) | ANYTHING,
                "uri": WORDS,
                "_meta": ANYTHING,
                "requestState": WORDS,
                "inputResponses": ANYTHING,
                "protocolVersion": st.sampled_from(["2025-06-18", "2026-07-28"]) | ANYTHING,
            },
        )
        | ANYTHING,
    },
)


@settings(max_examples=80)
@given(
    body=st.binary(max_size=60) | (MESSAGES | st.lists(MESSAGES, max_size=2)).map(json.dumps),
    version=st.sampled_from([None, *MODES, "2025-11-25", "2024-11-05", "x"]),
    session=st.sampled_from([None, "x", "0" * 32]),
    accept=st.sampled_from(["application/json, text/event-stream", "*/*", "text/html"]),
)
def test_mcp_fuzz_malformed_messages_never_cause_a_server_error(
    server, body, version, session, accept
):
    headers = {"content-type": "application/json", "accept": accept}
    headers |= {"mcp-protocol-version": version} if version else {}
    headers |= {"mcp-session-id": session} if session else {}
    raw = body if isinstance(body, bytes) else body.encode()
    answer = server.ask("POST", "/mcp", None, headers, raw=raw)
    assert answer.status < 500, (answer.status, answer.body)
    assert b"Traceback" not in answer.body
    assert server.ask("GET", "/healthz").status == 200
