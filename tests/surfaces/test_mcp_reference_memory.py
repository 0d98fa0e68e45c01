"""The tools of the MCP reference memory server, spoken by the official client: its names, its
parameters and the shapes of its answers, done to our graph."""

import json

import pytest
from jsonschema import Draft202012Validator

import commonplace
from commonplace.surfaces.mcp.reference_memory import REFERENCE_MEMORY, REFERENCE_TOOLS
from support.mcp_client import MODES, command, connected, over_http, server_for
from support.rest_server import running

NAMES = [
    "create_entities",
    "create_relations",
    "add_observations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "read_graph",
    "search_nodes",
    "open_nodes",
]
JOHN = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish"]}
ACME = {"name": "Acme", "entityType": "organization", "observations": []}
CHESS = {"name": "chess", "entityType": "concept", "observations": ["A game"]}
WORKS = {"from": "John_Smith", "to": "Acme", "relationType": "works_at"}
SPONSORS = {"from": "Acme", "to": "John_Smith", "relationType": "sponsors"}
EMPLOYS = {"from": "Acme", "to": "John_Smith", "relationType": "employs"}


@pytest.fixture
def book():
    with commonplace.open(":memory:", embedder="hashing", worker="off") as opened:
        yield opened


@pytest.fixture(params=MODES)
def client(request, book):
    server = server_for(book.user("ana"), profile=REFERENCE_MEMORY)
    with connected(server, mode=request.param) as client:
        yield client


def test_the_nine_tools_are_offered_and_no_others(client):
    tools = client.run(client.client.list_tools).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
    hints = {tool.name: tool.annotations for tool in tools}
    assert [n for n in NAMES if hints[n].read_only_hint] == NAMES[6:]
    assert [n for n in NAMES if hints[n].destructive_hint] == NAMES[3:6]


def test_entities_are_created_once_and_told_as_text_and_as_data(client):
    created = client.call("create_entities", entities=[JOHN, ACME, CHESS, JOHN])
    assert created.structured_content == {"entities": [JOHN, ACME, CHESS]}
    assert json.loads(created.content[0].text) == [JOHN, ACME, CHESS]
    again = client.call("create_entities", entities=[{**JOHN, "observations": ["Other"]}])
    assert again.structured_content == {"entities": []}
    told = client.call("read_graph")
    assert told.structured_content == {"entities": [JOHN, ACME, CHESS], "relations": []}
    assert json.loads(told.content[0].text) == told.structured_content


def test_they_are_people_concepts_and_things_of_the_graph(client, book):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    me = book.user("ana")
    assert {node.name for node in me.people().nodes} == {"John_Smith", "ana"}
    assert [node.name for node in me.concepts().nodes] == ["chess"]
    (thing,) = me.entities().nodes
    assert (thing.name, thing.type) == ("Acme", "organization")
    (note,) = me.node("John_Smith").notes
    assert (note.content, note.expires_at) == ("Speaks fluent Spanish", None)


def test_relations_come_back_as_they_were_told_whichever_way_round(client):
    client.data("create_entities", entities=[JOHN, ACME])
    created = client.data("create_relations", relations=[WORKS, SPONSORS, WORKS])
    assert created == {"relations": [WORKS, SPONSORS]}
    assert client.data("create_relations", relations=[WORKS]) == {"relations": []}
    told = client.data("read_graph")["relations"]
    assert sorted(told, key=str) == sorted([WORKS, SPONSORS], key=str)


def test_the_same_seen_from_the_other_end_is_one_relation(client):
    client.data("create_entities", entities=[JOHN, ACME])
    assert client.data("create_relations", relations=[WORKS, EMPLOYS]) == {"relations": [WORKS]}
    client.data("delete_relations", relations=[EMPLOYS])
    assert client.data("read_graph")["relations"] == []


def test_a_relation_needs_both_its_ends(client):
    client.data("create_entities", entities=[JOHN])
    assert client.refusal("create_relations", relations=[WORKS])["code"] == "not_found"
    assert client.data("read_graph")["relations"] == []


def test_observations_are_added_once(client):
    client.data("create_entities", entities=[JOHN])
    wanted = {"entityName": "John_Smith", "contents": ["Likes tea", "Speaks fluent Spanish"]}
    added = client.call("add_observations", observations=[wanted])
    told = [{"entityName": "John_Smith", "addedObservations": ["Likes tea"]}]
    assert added.structured_content == {"results": told}
    assert json.loads(added.content[0].text) == told
    (john,) = client.data("open_nodes", names=["John_Smith"])["entities"]
    assert john["observations"] == ["Speaks fluent Spanish", "Likes tea"]
    nobody = {"entityName": "Nobody", "contents": ["x"]}
    assert client.refusal("add_observations", observations=[nobody])["code"] == "not_found"


def test_search_finds_names_types_and_observations(client):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    client.data("create_relations", relations=[WORKS])
    for query, found in (("john", ["John_Smith"]), ("ORGANIZ", ["Acme"]), ("spanish", [JOHN])):
        told = client.data("search_nodes", query=query)
        names = [each["name"] if isinstance(each, dict) else each for each in found]
        assert [each["name"] for each in told["entities"]] == names
        assert told["relations"] == [WORKS]
    assert client.data("search_nodes", query="zeppelin")["entities"] == []


def test_opening_names_them_exactly_and_tells_their_relations(client):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    client.data("create_relations", relations=[WORKS])
    told = client.data("open_nodes", names=["Acme", "nowhere"])
    assert told == {"entities": [ACME], "relations": [WORKS]}


def test_what_is_deleted_is_gone_and_the_owner_can_have_it_back(client, book):
    client.data("create_entities", entities=[JOHN, ACME])
    client.data("create_relations", relations=[WORKS, SPONSORS])
    done = client.call("delete_relations", relations=[SPONSORS])
    assert done.structured_content == {
        "success": True,
        "message": "Relations deleted successfully",
    }
    assert done.content[0].text == "Relations deleted successfully"
    assert client.data("read_graph")["relations"] == [WORKS]
    gone = {"entityName": "John_Smith", "observations": ["Speaks fluent Spanish"]}
    client.data("delete_observations", deletions=[gone])
    assert client.data("read_graph")["entities"] == [{**JOHN, "observations": []}, ACME]
    id = book.user("ana").node("John_Smith").node.id
    client.data("delete_entities", entityNames=["John_Smith", "nowhere"])
    assert client.data("read_graph") == {"entities": [ACME], "relations": []}
    book.user("ana").restore([id])
    assert [each["name"] for each in client.data("read_graph")["entities"]] == [
        "John_Smith",
        "Acme",
    ]


def test_a_name_can_be_used_again_after_it_was_deleted(client):
    client.data("create_entities", entities=[JOHN])
    client.data("delete_entities", entityNames=["John_Smith"])
    other = {**JOHN, "observations": ["Speaks French"]}
    client.data("create_entities", entities=[other])
    assert client.data("read_graph")["entities"] == [other]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_entities", {"entities": "John"}),
        ("create_entities", {"entities": [{"name": "John"}]}),
        ("create_entities", {"entities": [], "more": 1}),
        ("create_relations", {"relations": [{"from": 1, "to": "x", "relationType": "y"}]}),
        ("delete_observations", {}),
        ("search_nodes", {"query": None}),
    ],
)
def test_what_is_not_understood_is_refused_in_words(client, tool, given):
    result = client.unchecked(tool, given)
    assert result.is_error
    assert "Traceback" not in result.content[0].text


def test_our_own_tools_are_another_profiles(client):
    assert "remember" not in REFERENCE_TOOLS
    with pytest.raises(Exception, match="Unknown tool"):
        client.unchecked("remember", {"content": "x"})


def test_an_agent_reads_and_writes_only_what_its_list_allows(book):
    """The client is one of the owner's agents, with the categories of its list."""
    book.user("ana").nodes_add("chess", node_type="Concept")
    server = server_for(book.user("ana"), as_owner=False, profile=REFERENCE_MEMORY)
    with connected(server, mode=MODES[0]) as client:
        client.data("create_entities", entities=[JOHN, ACME])
        assert client.data("read_graph")["entities"] == [JOHN, ACME]
        hidden = client.refusal("create_entities", entities=[{**CHESS, "name": "bridge"}])
        assert hidden["code"] == "category_not_allowed"


def test_the_command_serves_it(tmp_path):
    """As a client starts it, over standard input and output."""
    store = str(tmp_path / "memory.db")
    started = command(store, "--profile", REFERENCE_MEMORY, "--as-owner")
    with connected(started, mode=MODES[1]) as client:
        client.data("create_entities", entities=[JOHN])
        assert client.data("search_nodes", query="John")["entities"] == [JOHN]


def test_it_stands_beside_our_own_tools_over_http(book):
    with running(book) as server:
        path = f"/mcp/{REFERENCE_MEMORY}"
        with over_http(server.url, path=path, mode=MODES[0]) as client:
            client.data("create_entities", entities=[JOHN])
            assert client.data("open_nodes", names=["John_Smith"])["entities"] == [JOHN]
        with over_http(server.url, mode=MODES[0]) as ours:
            assert "context" in {t.name for t in ours.run(ours.client.list_tools).tools}
