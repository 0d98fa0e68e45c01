"""The tools of the MCP reference memory server, spoken by the official client: its names, its
parameters and the shapes of its answers, done to our graph."""

import json
from datetime import UTC, datetime

import pytest
from jsonschema import Draft202012Validator

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
def book(open_book):
    """On a clock that goes on by itself: what is listed is listed as it came."""
    return open_book(worker="off", clock=lambda: datetime.now(UTC))


@pytest.fixture(params=MODES)
def client(request, book):
    server = server_for(book.user("ana"), profile=REFERENCE_MEMORY)
    with connected(server, mode=request.param) as client:
        yield client


def test_mcp_reference_lists_exactly_the_nine_tools(client):
    tools = client.run(client.client.list_tools).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
    hints = {tool.name: tool.annotations for tool in tools}
    assert [n for n in NAMES if hints[n].read_only_hint] == NAMES[6:]
    assert [n for n in NAMES if hints[n].destructive_hint] == NAMES[3:6]


def test_mcp_reference_create_entities_creates_each_once_as_text_and_data(client):
    created = client.call("create_entities", entities=[JOHN, ACME, CHESS, JOHN])
    assert created.structured_content == {"entities": [JOHN, ACME, CHESS]}
    assert json.loads(created.content[0].text) == [JOHN, ACME, CHESS]
    again = client.call("create_entities", entities=[{**JOHN, "observations": ["Other"]}])
    assert again.structured_content == {"entities": []}
    told = client.call("read_graph")
    assert told.structured_content == {"entities": [JOHN, ACME, CHESS], "relations": []}
    assert json.loads(told.content[0].text) == told.structured_content


def test_mcp_reference_entities_become_graph_nodes_and_notes(client, book):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    me = book.user("ana")
    assert {node.name for node in me.people().nodes} == {"John_Smith", "ana"}
    assert [node.name for node in me.concepts().nodes] == ["chess"]
    (thing,) = me.entities().nodes
    assert (thing.name, thing.type) == ("Acme", "organization")
    (note,) = me.node("John_Smith").notes
    assert (note.content, note.expires_at) == ("Speaks fluent Spanish", None)


def test_mcp_reference_relations_keep_the_given_direction(client):
    client.data("create_entities", entities=[JOHN, ACME])
    created = client.data("create_relations", relations=[WORKS, SPONSORS, WORKS])
    assert created == {"relations": [WORKS, SPONSORS]}
    assert client.data("create_relations", relations=[WORKS]) == {"relations": []}
    told = client.data("read_graph")["relations"]
    assert sorted(told, key=str) == sorted([WORKS, SPONSORS], key=str)


def test_mcp_reference_inverse_relations_are_one_relation(client):
    client.data("create_entities", entities=[JOHN, ACME])
    assert client.data("create_relations", relations=[WORKS, EMPLOYS]) == {"relations": [WORKS]}
    client.data("delete_relations", relations=[EMPLOYS])
    assert client.data("read_graph")["relations"] == []


def test_mcp_reference_create_relations_requires_both_ends(client):
    client.data("create_entities", entities=[JOHN])
    assert client.refusal("create_relations", relations=[WORKS])["code"] == "not_found"
    assert client.data("read_graph")["relations"] == []


def test_mcp_reference_add_observations_adds_each_once(client):
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


def test_mcp_reference_search_nodes_matches_names_types_and_observations(client):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    client.data("create_relations", relations=[WORKS])
    for query, found in (("john", ["John_Smith"]), ("ORGANIZ", ["Acme"]), ("spanish", [JOHN])):
        told = client.data("search_nodes", query=query)
        names = [each["name"] if isinstance(each, dict) else each for each in found]
        assert [each["name"] for each in told["entities"]] == names
        assert told["relations"] == [WORKS]
    assert client.data("search_nodes", query="zeppelin")["entities"] == []


def test_mcp_reference_open_nodes_returns_exact_names_and_their_relations(client):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    client.data("create_relations", relations=[WORKS])
    told = client.data("open_nodes", names=["Acme", "nowhere"])
    assert told == {"entities": [ACME], "relations": [WORKS]}


GLOBEX = {"name": "Globex", "entityType": "organization", "observations": []}
AT_GLOBEX = {**WORKS, "to": "Globex"}
LOOP = {"from": "Acme", "to": "Acme", "relationType": "owns"}
TEA = {"entityName": "John_Smith", "contents": ["Likes tea"]}
LONG = "x" * 40_000


def whole(book):
    """All that is kept, the journal with it."""
    return list(book.user("ana").export())


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_entities", {"entities": [GLOBEX, {**ACME, "name": ""}]}),
        ("create_entities", {"entities": [GLOBEX, {**ACME, "name": "\u200b"}]}),
        ("create_entities", {"entities": [GLOBEX, {**ACME, "name": "y" * 301}]}),
        ("create_entities", {"entities": [GLOBEX, {**ACME, "entityType": LONG}]}),
        ("create_entities", {"entities": [GLOBEX, {**CHESS, "observations": [LONG]}]}),
        ("create_entities", {"entities": [{**CHESS, "observations": ["A game", ""]}]}),
        ("create_relations", {"relations": [WORKS, LOOP]}),
        ("create_relations", {"relations": [WORKS, AT_GLOBEX]}),
        ("create_relations", {"relations": [WORKS, {**WORKS, "relationType": "?!"}]}),
        ("add_observations", {"observations": [TEA, {**TEA, "entityName": "Nobody"}]}),
        ("add_observations", {"observations": [TEA, {**TEA, "contents": ["x", LONG]}]}),
        ("delete_entities", {"entityNames": ["Acme", "ana"]}),
        ("delete_entities", {"entityNames": ["Acme", 7]}),
        (
            "delete_observations",
            {"deletions": [{"entityName": "ana", "observations": ["Left-handed"]}, {}]},
        ),
        ("delete_relations", {"relations": [SPONSORS, {}]}),
    ],
)
def test_mcp_reference_refused_call_changes_nothing(client, book, tool, given):
    ana = {"name": "ana", "entityType": "person", "observations": ["Left-handed"]}
    client.data("create_entities", entities=[JOHN, ACME, ana])
    client.data("create_relations", relations=[SPONSORS])
    before = whole(book)
    assert client.unchecked(tool, given).is_error
    assert whole(book) == before


def test_mcp_reference_call_is_one_revision(client, book):
    client.data("create_entities", entities=[JOHN, ACME, CHESS])
    assert book.user("ana").stats().revision == 1
    client.data("create_relations", relations=[WORKS, SPONSORS])
    assert book.user("ana").stats().revision == 2


def test_mcp_reference_call_without_news_changes_nothing(client, book):
    client.data("create_entities", entities=[])
    assert book.user("ana").stats().revision == 0
    client.data("create_entities", entities=[JOHN])
    before = whole(book)
    client.data("create_entities", entities=[JOHN])
    known = {"entityName": "John_Smith", "contents": ["Speaks fluent Spanish"]}
    client.data("add_observations", observations=[known])
    assert whole(book) == before


def test_mcp_reference_names_ignore_case_and_keep_the_first_spelling(client):
    smith = {"name": "John Smith", "entityType": "person", "observations": ["Plays chess"]}
    client.data("create_entities", entities=[smith, ACME])
    again = {**smith, "name": "john smith", "observations": ["Other"]}
    assert client.data("create_entities", entities=[again]) == {"entities": []}
    for name in ("John Smith", "john smith", "JOHN SMITH"):
        assert client.data("open_nodes", names=[name])["entities"] == [smith]
    works = {"from": "john smith", "to": "ACME", "relationType": "works_at"}
    assert client.data("create_relations", relations=[works]) == {"relations": [works]}
    kept = {"from": "John Smith", "to": "Acme", "relationType": "works_at"}
    assert client.data("read_graph")["relations"] == [kept]
    tea = {"entityName": "JOHN SMITH", "contents": ["Likes tea"]}
    client.data("add_observations", observations=[tea])
    gone = {"entityName": "john smith", "observations": ["Plays chess"]}
    client.data("delete_observations", deletions=[gone])
    (john,) = client.data("open_nodes", names=["John Smith"])["entities"]
    assert john["observations"] == ["Likes tea"]
    client.data("delete_relations", relations=[works])
    assert client.data("read_graph")["relations"] == []
    client.data("delete_entities", entityNames=["john smith"])
    assert client.data("read_graph")["entities"] == [ACME]


def test_mcp_reference_alias_means_the_same_entity(client, book):
    client.data("create_entities", entities=[JOHN])
    book.user("ana").nodes_update("John_Smith", aliases=["Johnny"])
    johnny = {**JOHN, "name": "Johnny"}
    assert client.data("create_entities", entities=[johnny]) == {"entities": []}
    assert client.data("open_nodes", names=["johnny"])["entities"] == [JOHN]


def test_mcp_reference_create_entities_joins_equal_names_of_one_call(client):
    shouted = {**ACME, "name": "ACME"}
    assert client.data("create_entities", entities=[ACME, shouted]) == {"entities": [ACME]}
    assert client.data("read_graph")["entities"] == [ACME]


def test_mcp_reference_second_employer_does_not_end_the_first(client, book):
    """That server keeps every relation until it is deleted."""
    client.data("create_entities", entities=[JOHN, ACME, GLOBEX])
    client.data("create_relations", relations=[WORKS])
    client.data("create_relations", relations=[AT_GLOBEX])
    assert client.data("read_graph")["relations"] == [WORKS, AT_GLOBEX]
    types = [edge.relationship_type for edge in book.user("ana").edges(node="John_Smith").edges]
    assert types == ["works-at", "works-at"]
    client.data("delete_relations", relations=[WORKS])
    assert client.data("read_graph")["relations"] == [AT_GLOBEX]


def test_mcp_reference_deleted_relation_can_be_created_again(client):
    client.data("create_entities", entities=[JOHN, ACME])
    for _ in range(2):
        assert client.data("create_relations", relations=[WORKS]) == {"relations": [WORKS]}
        assert client.data("read_graph")["relations"] == [WORKS]
        client.data("delete_relations", relations=[WORKS])
        assert client.data("read_graph")["relations"] == []


def test_mcp_reference_relation_is_not_ended_by_relate(client, book):
    client.data("create_entities", entities=[JOHN, ACME, GLOBEX])
    client.data("create_relations", relations=[WORKS])
    me = book.user("ana")
    me.nodes_add("Initech", node_type="Entity", type="organization")
    me.relate("John_Smith", "Globex", "works-at")
    me.relate("John_Smith", "Initech", "works-at")
    told = client.data("read_graph")["relations"]
    assert [each["to"] for each in told] == ["Acme", "Initech"]


def test_mcp_reference_shows_the_owner_only_after_an_explicit_create(client, book):
    """Their node comes with whatever is created first; a client that never spoke of them is not
    shown one that it did not create."""
    client.data("create_entities", entities=[JOHN])
    assert client.data("read_graph")["entities"] == [JOHN]
    ana = {"name": "ana", "entityType": "person", "observations": []}
    assert client.data("create_entities", entities=[ana]) == {"entities": [ana]}
    assert client.data("create_entities", entities=[ana]) == {"entities": []}
    assert client.data("read_graph")["entities"] == [ana, JOHN]
    assert book.user("ana").node("me").node.name == "ana"


def test_mcp_reference_deleted_items_can_be_restored_by_the_owner(client, book):
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


def test_mcp_reference_deleted_name_can_be_used_again(client):
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
def test_mcp_reference_refuses_malformed_arguments(client, tool, given):
    result = client.unchecked(tool, given)
    assert result.is_error
    assert "Traceback" not in result.content[0].text


def test_mcp_reference_profile_excludes_own_tools(client):
    assert "remember" not in REFERENCE_TOOLS
    with pytest.raises(Exception, match="Unknown tool"):
        client.unchecked("remember", {"content": "x"})


def test_mcp_reference_agent_is_limited_by_the_allowlist(book):
    """The client is one of the owner's agents, with the categories of its list."""
    ana = book.user("ana")
    ana.nodes_add("Dana", node_type="Person")
    server = server_for(ana, as_owner=False, profile=REFERENCE_MEMORY, agent="researcher")
    with connected(server, mode=MODES[0]) as client:
        client.data("create_entities", entities=[ACME])
        assert client.data("read_graph")["entities"] == [ACME]
        hidden = client.refusal("create_entities", entities=[JOHN])
        assert hidden["code"] == "category_not_allowed"


def test_mcp_reference_profile_is_served_over_stdio(tmp_path):
    """As a client starts it, over standard input and output."""
    store = str(tmp_path / "memory.db")
    started = command(store, "--profile", REFERENCE_MEMORY, "--as-owner")
    with connected(started, mode=MODES[1]) as client:
        client.data("create_entities", entities=[JOHN])
        assert client.data("search_nodes", query="John")["entities"] == [JOHN]


def test_mcp_reference_profile_is_served_over_http_on_a_separate_path(book):
    with running(book) as server:
        path = f"/mcp/{REFERENCE_MEMORY}"
        with over_http(server.url, path=path, mode=MODES[0]) as client:
            client.data("create_entities", entities=[JOHN])
            assert client.data("open_nodes", names=["John_Smith"])["entities"] == [JOHN]
        with over_http(server.url, mode=MODES[0]) as ours:
            assert "context" in {t.name for t in ours.run(ours.client.list_tools).tools}
