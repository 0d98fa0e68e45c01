"""What a client shows by itself: resources at memory://, completed as one types, and the prompt."""

import json
from urllib.parse import quote

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

import commonplace
from commonplace.operations.serialization import as_data
from commonplace.operations.table import Effect
from commonplace.surfaces.mcp.resources import RESOURCES, SCHEME
from support.mcp_client import MODES, connected, server_for


@pytest.fixture
def me(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as book:
        yield book.user("ana")


@pytest.fixture(params=MODES)
def speaking(request):
    return lambda user: connected(server_for(user), mode=request.param)


def read(client, uri):
    (content,) = client.run(client.client.read_resource, uri).contents
    assert (content.uri, content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


def refused(client, uri):
    with pytest.raises(MCPError) as error:
        read(client, uri)
    assert error.value.message.startswith(f"{error.value.data['code']}: ")
    assert error.value.data["uri"] == uri
    return error.value.data["code"]


def test_mcp_resources_are_read_only_and_for_agents_but_the_log_of_sleep():
    assert all(place.operation.effect is Effect.READ for place in RESOURCES)
    # What a night did is told to the owner only: its log names items that an agent may not see.
    assert {place.name for place in RESOURCES if place.operation.owner_only} == {"sleep log"}


def test_mcp_resources_are_listed_and_readable(speaking, me):
    memory = me.remember("The wifi password is tulip42", thread="monday").id
    source = me.ingest(b"Tal: The keys are in the drawer.", external_id="a/b c", origin="gmail").id
    with speaking(me) as client:
        fixed = client.run(client.client.list_resources).resources
        templates = client.run(client.client.list_resource_templates).resource_templates
        assert len(fixed) + len(templates) == len(RESOURCES)
        for each in (*fixed, *templates):
            assert each.title
            assert each.description
        for resource in fixed:
            assert read(client, resource.uri) is not None
        assert read(client, f"memory://memories/{memory}") == as_data(me.show(memory))
        assert read(client, f"memory://memories/{memory}/history")[0]["event"] == "ADD"
        assert read(client, f"memory://sources/{quote(source, safe='')}")["source"]["id"] == source
        assert read(client, "memory://sources/gmail%3Aa%2Fb%20c")["source"]["id"] == source
        assert read(client, "memory://changes/monday")[0]["memory_id"] == memory


def test_mcp_resource_reads_do_not_advance_the_change_cursor(speaking, me):
    me.remember("The wifi password is tulip42")
    with speaking(me) as client:
        for place in RESOURCES:
            if not place.is_template:
                read(client, place.uri)
        assert "Memory updates since" in client.call("context").content[0].text


@pytest.mark.parametrize(
    "uri",
    [
        "memory://nowhere",
        "memory://memories/nowhere",
        "memory://memories/x/y/z",
        "memory://sources/",
        "file:///etc/passwd",
        "memory://../etc",
        "memory://memories/%2e%2e",
        "memory://memories/%ff",
    ],
)
def test_mcp_unknown_resource_is_refused(speaking, me, uri):
    with speaking(me) as client:
        assert refused(client, uri) in ("not_found", "bad_text", "invalid_input")


def test_mcp_resources_respect_users_and_allowlists(speaking, me, tmp_path):
    """Somebody else's looks like nothing, and so does what an agent's allowlist leaves out."""
    memory = me.remember("I prefer tea over coffee").id
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as book:
        for user in (book.user("bo"), book.user("ana").agent("planner")):
            with speaking(user) as client:
                assert refused(client, f"memory://memories/{memory}") == "not_found"
                assert refused(client, f"memory://memories/{memory}/history") == "not_found"
                assert read(client, "memory://memories")["memories"] == []


def test_mcp_completion_completes_ids(speaking, me):
    memory = me.remember("The wifi password is tulip42").id
    source = me.ingest(b"Tal: The keys are in the drawer.").id

    def complete(client, template, typed, argument="id"):
        reference = types.ResourceTemplateReference(uri=SCHEME + template)
        asked = {"name": argument, "value": typed}
        return client.run(client.client.complete, reference, asked).completion.values

    with speaking(me) as client:
        assert complete(client, "memories/{id}", memory[:4]) == [memory]
        assert complete(client, "memories/{id}", "zz") == []
        assert complete(client, "sources/{id}", "source:") == [source]
        assert complete(client, "changes/{thread}", "m", "thread") == []
        assert complete(client, "nowhere/{id}", "") == []


def test_mcp_prompt_puts_context_before_the_message(speaking, me):
    me.remember("Answer in plain words", kind="soul")
    me.remember("The wifi password is tulip42")
    with speaking(me) as client:
        (prompt,) = client.run(client.client.list_prompts).prompts
        assert {argument.name for argument in prompt.arguments} == {"message", "thread"}
        given = {"message": "What is the wifi password?", "thread": "monday"}
        known, said = client.run(client.client.get_prompt, prompt.name, given).messages
        assert known.content.text.index("plain words") < known.content.text.index("tulip42")
        assert said.content.text == given["message"]
        (alone,) = client.run(client.client.get_prompt, prompt.name, {}).messages
        assert "plain words" in alone.content.text
        for name, given in ((prompt.name, {"colour": "red"}), ("nothing", {})):
            with pytest.raises(MCPError) as error:
                client.run(client.client.get_prompt, name, given)
            assert error.value.data["code"] in ("unknown_field", "not_found")
