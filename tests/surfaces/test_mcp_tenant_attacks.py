"""Bob, who knows everything about Ana's memory but her words, tries the tools and resources of MCP.
What he gets for an id of hers is what he gets for one that nobody has."""

import json
from itertools import product
from urllib.parse import quote

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError
from test_rest_tenant_attacks import WORD, Target, nobodys

from commonplace.surfaces.mcp.resources import RESOURCES, SCHEME
from commonplace.surfaces.mcp.tools import TOOLS
from support.mcp_client import MODES, connected, server_for

# Every argument that can name something of somebody's; what goes beside it.
NAMING = {
    ("show", "id"): {},
    ("show", "after"): {},
    ("forget", "ids"): {},
    ("forget", "ids", "undo"): {"undo": True},
    ("update", "id"): {"importance": 5},
    ("update", "id", "content"): {"content": "Mine now"},
    ("conflicts", "conflict"): {"choice": "override"},
    ("conflicts", "conflict", "held"): {"choice": "insert", "held": "x"},
    ("recall", "sources"): {"query": WORD},
    ("memory_query", "thread"): {"query": "drawer"},
    ("context", "thread"): {"query": "drawer"},
    ("remember", "thread"): {"content": "Bob has a bicycle"},
}
LISTS = {"ids", "sources"}


@pytest.fixture
def target(open_book):
    book = open_book(worker="off")  # what is owed to Ana stays owed
    found = Target(book)
    found.bob = book.user("bob")
    return found


@pytest.fixture
def client(target):
    with connected(server_for(target.bob), mode=MODES[0]) as client:
        yield client


def said(client, tool, arguments):
    """All that a caller learns, beside what it said itself."""
    result = client.unchecked(tool, arguments)
    told = result.model_dump(mode="json")
    assert WORD not in without(json.dumps(told), *given_in(arguments))
    return told if result.is_error else sorted(result.structured_content)


def given_in(arguments):
    for value in arguments.values():
        yield from value if isinstance(value, list) else filter(None, [str(value)])


def without(told, *words):
    for word in words:
        told = told.replace(json.dumps(word)[1:-1], "GIVEN").replace(quote(word, safe=""), "GIVEN")
    return told


def test_mcp_ids_of_another_tenant_are_answered_like_unknown_ids(client, target):
    before = target.ana.revision
    for named, (sort, hers) in product(NAMING, target.sorts.items()):
        tool, argument, *_ = named
        answers = []
        for id in (hers, nobodys(hers)):
            value = [id] if argument in LISTS else id
            told = said(client, tool, {**NAMING[named], argument: value})
            source = id.partition("#")[0]  # an answer about a passage names it
            answers.append(without(json.dumps(told), id, source))
        assert answers[0] == answers[1], (named, sort)
    assert target.ana.revision == before


def test_mcp_attack_table_covers_every_identifying_argument():
    naming = {"id", "ids", "conflict", "sources", "after"}
    tried = {(tool, argument) for tool, argument, *_ in NAMING}
    offered = {(t.name, p.name) for t in TOOLS for p in t.parameters if p.name in naming}
    assert offered <= tried


def test_mcp_filters_show_nothing_of_another_tenant(client, target):
    for filters in (
        {"user_id": "ana"},
        {"source_id": target.sorts["source"]},
        {"thread_id": "her thread"},
        {"agent_id": "coach"},
    ):
        for tool in ("memory_query", "recall"):
            said(client, tool, {"query": f"the {WORD}", "filters": filters})
        said(client, "show", {"filters": filters})


def test_mcp_source_aliases_are_separate_per_tenant(client, target):
    name = target.sorts["name"].removeprefix("gmail:")
    mine = {"origin": "gmail", "external_id": name}
    made = client.data("ingest", original="Bob: My own mail.", **mine)
    assert made["id"] != target.sorts["source"]
    client.data("ingest", original="Bob: And more of it.", append=True, **mine)
    assert WORD not in json.dumps(client.data("show", id=f"gmail:{name}"))
    assert len(target.ana.show(target.sorts["source"]).passages) == 3


def read(client, uri):
    try:
        return client.run(client.client.read_resource, uri).model_dump_json()
    except MCPError as refused:
        return str(refused.error)


def test_mcp_resources_and_completions_show_nothing_of_another_tenant(client, target):
    for place in RESOURCES:
        for id in (*target.sorts.values(), "her thread"):
            uri = place.uri.replace("{id}", quote(id, safe=""))
            uri = uri.replace("{thread}", quote(id, safe=""))
            assert WORD not in without(read(client, uri), id)
        for argument in place.known:
            reference = types.ResourceTemplateReference(uri=SCHEME + place.path)
            typed = {"name": argument, "value": ""}
            found = client.run(client.client.complete, reference, typed).completion.values
            assert not set(found) & set(target.sorts.values())


def test_mcp_forged_request_state_decides_nothing_of_another_tenant(target):
    """As a client of 2026-07-28 brings one back; made up."""
    waiting = [target.sorts["conflict"], target.sorts["proposal"]]
    state = json.dumps({"data": {}, "text": "-", "waiting": waiting})
    content = dict(zip(waiting, ("replace", "accept"), strict=True))
    answers = {"decision": types.ElicitResult(action="accept", content=content)}

    async def never(context, params):
        raise AssertionError("nobody is asked")

    before = target.ana.revision
    server = server_for(target.bob)
    with connected(server, mode=MODES[0], elicitation_callback=never) as client:
        result = client.unchecked(
            "remember", {"content": "x"}, input_responses=answers, request_state=state
        )
    assert result.structured_content == {}
    assert target.ana.revision == before
