"""A client that has the owner's store or key is one of the owner's agents: under the name that it
was given or gives itself, with that name's allowlist, and good for everyday use."""

import pytest
from mcp import types

import commonplace
from commonplace.surfaces.mcp.server import build_server, single_caller
from support.mcp_client import MODES, connected, over_http, server_for
from support.rest_server import running


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("agents") / "memory.db")
    with commonplace.open(store, embedder="hashing") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(book):
    with running(book, user="ana") as server:
        yield server


def calling_itself(name):
    return types.Implementation(name=name, version="1")


def told_by(user):
    """Who told the newest memory, as the journal has it."""
    return user.history(user.list().memories[0].id)[0]["actor"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("introduced", "name"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "visual-studio-code"),
        ("  ../Süß\x00 Client_2 ", "süss-client-2"),
        ("x" * 5000, "x" * 64),
        ("…", "mcp"),
        ("", "mcp"),
    ],
)
def test_mcp_agent_name_comes_from_the_client_info(book, mode, introduced, name):
    user = book.user(f"{name} by {mode}")
    introducing = calling_itself(introduced)
    served = server_for(user, as_owner=False)
    with connected(served, mode=mode, client_info=introducing) as client:
        client.data("remember", content="The gate is green")
    assert told_by(user) == f"agent:{name}"


@pytest.mark.parametrize("mode", MODES)
def test_mcp_agent_name_from_settings_overrides_the_client_info(book, mode):
    """`--agent planner`: its allowlist, and no other name."""
    user = book.user(f"given by {mode}")
    user.remember("I prefer tea over coffee")
    served = build_server(single_caller(lambda: user, "planner", False))
    with connected(served, mode=mode, client_info=calling_itself("stylist")) as client:
        assert client.data("recall", query="tea or coffee")["hits"] == []
        told = client.refusal("memory_query", query="tea", agent="stylist")
        assert told["code"] == "not_allowed"
        client.data("remember", content="The gate is green")
    assert told_by(user) == "agent:planner"


@pytest.mark.parametrize("mode", MODES)
def test_mcp_over_http_client_is_an_agent_with_or_without_an_owner_key(server, book, mode):
    bo = book.user(f"bo by {mode}")
    for user, key in ((book.user("ana"), None), (bo, bo.keys_create("laptop").token)):
        introducing = calling_itself("Editor")
        with over_http(server.url, key, mode=mode, client_info=introducing) as client:
            client.data("remember", content=f"The {mode} gate is green")
            assert client.data("profile", name="city", value="Haifa")["outcome"] == "waiting"
        assert told_by(user) == "agent:editor"
        assert user.profile().fields == {}


@pytest.mark.parametrize("mode", MODES)
def test_mcp_over_http_elicits_for_owner_keys_only_even_with_an_agent_header(server, book, mode):
    cy = book.user(f"cy by {mode}")

    async def agrees(context, params):
        content = dict.fromkeys(params.requested_schema["properties"], "accept")
        return types.ElicitResult(action="accept", content=content)

    keys = {
        "the owner's": (cy.keys_create("laptop").token, {"commonplace-agent": "editor"}, True),
        "an agent's": (cy.keys_create("e", for_agent="editor").token, {}, False),
    }
    for city, (key, headers, is_set) in keys.items():
        with over_http(server.url, key, headers, mode=mode, elicitation_callback=agrees) as client:
            client.data("profile", name="city", value=city)
        assert (cy.profile().fields.get("city") == city) is is_set


@pytest.mark.parametrize("mode", MODES)
def test_mcp_agent_can_use_all_everyday_tools(book, mode):
    ana = book.user(f"every day by {mode}")
    with connected(server_for(ana, as_owner=False), mode=mode) as client:
        kept = [
            client.data("remember", content=content)["id"]
            for content in (
                "The wifi password is tulip42",
                "Dana's number is 555-1234",
                "I prefer short answers",
                "I need to renew the passport by June",
            )
        ]
        client.data("observe", text="My sister Noa moved to Porto last week.", thread="t")
        client.data("ingest", original="Tal: The spare keys are in the blue drawer.")
        assert "tulip42" in client.data("recall", query="wifi password")["hits"][0]["text"]
        assert "blue drawer" in str(client.data("recall", query="spare keys"))
        assert "555-1234" in client.call("memory_query", query="Dana's number").content[0].text
        assert "short answers" in client.call("context", query="wifi").content[0].text
        assert client.data("show", id=kept[0])["memory"]["id"] == kept[0]
        assert set(kept) <= {each["id"] for each in client.data("show")["memories"]}
        client.data("update", id=kept[2], content="I prefer long answers")
        client.data("forget", ids=[kept[0]])
        assert "tulip42" not in str(client.data("recall", query="wifi password"))
        client.data("forget", ids=[kept[0]], undo=True)
        assert "tulip42" in str(client.data("recall", query="wifi password"))


@pytest.mark.parametrize("mode", MODES)
def test_mcp_agent_proposes_a_rule_for_all_and_writes_its_own(book, mode):
    user = book.user(f"rules by {mode}")
    rule = {"content": "Answer in French.", "kind": "rule", "evidence": ["said"]}
    with connected(
        server_for(user, as_owner=False), mode=mode, client_info=calling_itself("helper")
    ) as client:
        proposed = client.data("remember", **rule)
        own = client.data("remember", **rule, agent_id="helper")
    assert (proposed["action"], own["action"]) == ("pending", "stored")
    assert [memory.agent_id for memory in user.list(kinds="rule").memories] == ["helper"]
    assert [each.id for each in user.conflicts()] == [proposed["conflict"]]


def test_rest_agent_key_proposes_a_rule_and_cannot_touch_the_owners(book, server):
    user = book.user("rest-rules")
    kept = user.remember("Be brief.", kind="soul").id
    token = user.keys_create("helper", for_agent="helper").token
    with commonplace.connect(server.url, token) as remote:
        answer = remote.remember("Answer in French.", kind="rule", evidence=["said"])
        assert answer.action == "pending"
        for attempt in (lambda: remote.update(kept, content="Obey."), lambda: remote.forget(kept)):
            with pytest.raises(commonplace.errors.NotAllowed):
                attempt()
    assert user.show(kept).memory.content == "Be brief."
