"""Asking the person behind a client: which value is right, may the profile say so. Only those who
may decide are asked; who does not answer has decided nothing."""

import pytest
from mcp import types

import commonplace
from commonplace.surfaces.mcp.calls import ERROR
from commonplace.surfaces.mcp.server import build_server, single_caller
from support.mcp_client import MODES, connected, server_for


@pytest.fixture
def me(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as book:
        yield book.user("ana")


class Person:
    """Who sits at the client: is shown a form, and answers it."""

    def __init__(self, action="accept", answer=None, fails=False):
        self.action = action
        self.answer = answer  # to every question of the form
        self.fails = fails
        self.forms = []

    async def __call__(self, context, params):
        self.forms.append(params)
        if self.fails:
            return types.ErrorData(code=types.INTERNAL_ERROR, message="the dialog broke")
        asked = params.requested_schema["properties"]
        content = dict.fromkeys(asked, self.answer) if self.action == "accept" else None
        return types.ElicitResult(action=self.action, content=content)


@pytest.fixture(params=MODES)
def speaking_with(request):
    """To a server that finds out anew for each call whose the store or the key is."""

    def speak(holder, person=None, as_owner=False):
        server = build_server(single_caller(holder, None, as_owner))
        return connected(server, mode=request.param, elicitation_callback=person)

    return speak


@pytest.fixture
def speaking(speaking_with):
    return lambda user, *more, **named: speaking_with(lambda: user, *more, **named)


def two_values(client):
    """The second value of a kv is held until a person decides."""
    client.data("remember", content="The door code is 4411")
    return client.call("remember", content="The door code is 5522")


def stands(user):
    return user.list(kinds=["kv"]).memories[0].id


def values(user):
    return sorted(m.metadata["value"] for m in user.list(kinds=["kv"]).memories)


@pytest.mark.parametrize(
    ("answer", "left"),
    [("keep", ["4411"]), ("replace", ["5522"]), ("both", ["4411", "5522"])],
)
def test_mcp_elicitation_resolves_a_conflict_by_the_owner(speaking, me, answer, left):
    person = Person(answer=answer)
    with speaking(me, person) as client:
        result = two_values(client)
    told = result.structured_content
    assert told["decided"] == [{"id": told["conflict"], "choice": answer, "problem": ""}]
    assert values(me) == left
    assert me.conflicts() == []
    (form,) = person.forms
    ((id, question),) = form.requested_schema["properties"].items()
    assert id == told["conflict"]
    assert question["enum"] == ["keep", "replace", "both"]
    assert "4411" in question["description"]
    assert "5522" in question["description"]


@pytest.mark.parametrize("person", [Person("decline"), Person("cancel"), Person(answer="perhaps")])
def test_mcp_elicitation_without_an_answer_leaves_the_conflict_open(speaking, me, person):
    with speaking(me, person) as client:
        result = two_values(client)
    assert not result.is_error
    assert "decided" not in result.structured_content
    assert result.structured_content["action"] == "pending"
    assert "You cannot" in result.content[-1].text
    assert [question.id for question in me.conflicts()] == [result.structured_content["conflict"]]
    assert values(me) == ["4411"]


def test_mcp_client_without_elicitation_leaves_the_conflict_open(speaking, me):
    with speaking(me) as client:
        result = two_values(client)
        conflict = result.structured_content["conflict"]
        assert conflict in result.content[-1].text
        assert "You cannot" in result.content[-1].text
        assert client.data("conflicts")["result"][0]["id"] == conflict
        refused = [
            client.refusal("conflicts", conflict=conflict, choice="override"),
            client.refusal("remember", content="The door code is 5522", on_conflict="override"),
            client.refusal("update", id=stands(me), metadata={"value": "5522"}),
        ]
    assert {told["code"] for told in refused} == {"not_allowed"}
    assert values(me) == ["4411"]
    assert len(me.conflicts()) == 1


# ——— an agent wants to decide ———


def wants_to_resolve(client, me):
    (open_,) = me.conflicts()
    return client.call("conflicts", conflict=open_.id, choice="override")


def wants_to_update(client, me):
    return client.call("update", id=stands(me), content="The door code is 5522")


@pytest.fixture
def disputed(me):
    me.remember("The door code is 4411")
    me.remember("The door code is 5522")
    return me


WANTING = [wants_to_resolve, wants_to_update]


@pytest.mark.parametrize("wants", WANTING)
def test_mcp_elicitation_accepts_a_resolve_or_update_by_an_agent(speaking, disputed, wants):
    person = Person(answer="accept")
    with speaking(disputed, person) as client:
        assert not wants(client, disputed).is_error
    (form,) = person.forms
    (question,) = form.requested_schema["properties"].values()
    assert "4411" in question["description"]
    assert "5522" in question["description"]
    assert values(disputed) == ["5522"]
    (kept,) = disputed.list(kinds=["kv"]).memories
    assert disputed.history(kept.id)[0]["actor"] == "user:ana", "it is the owner's decision"


@pytest.mark.parametrize("person", [Person("decline"), Person("cancel"), Person(answer="decline")])
@pytest.mark.parametrize("wants", WANTING)
def test_mcp_elicitation_declined_refuses_resolve_and_update_by_an_agent(
    speaking, disputed, wants, person
):
    with speaking(disputed, person) as client:
        result = wants(client, disputed)
    assert result.meta[ERROR]["code"] == "not_allowed"
    assert values(disputed) == ["4411"]
    assert len(disputed.conflicts()) == 1


@pytest.mark.parametrize(("answer", "left"), [("replace", ["5522"]), ("keep", ["4411"])])
def test_mcp_override_by_an_agent_is_elicited_only_on_conflict(speaking, me, answer, left):
    person = Person(answer=answer)
    with speaking(me, person) as client:
        for code in ("4411", "5522"):
            client.data("remember", content=f"The door code is {code}", on_conflict="override")
    assert len(person.forms) == 1, "nobody is asked where nothing stands"
    assert values(me) == left


def test_mcp_elicitation_is_skipped_for_memories_hidden_from_the_agent(speaking_with, disputed):
    """Its owner lets it see other things: the form would tell the client's program of it."""
    person = Person(answer="accept")
    server = build_server(single_caller(lambda: disputed, "stylist", False))
    with connected(server, mode=MODES[0], elicitation_callback=person) as client:
        assert wants_to_resolve(client, disputed).meta[ERROR]["code"] == "not_allowed"
        assert wants_to_update(client, disputed).meta[ERROR]["code"] == "not_found"
    assert person.forms == []
    assert values(disputed) == ["4411"]


def test_mcp_elicitation_is_skipped_for_a_read_only_key(speaking_with, disputed, tmp_path):
    person = Person(answer="accept")
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as book:
        key = disputed.keys_create("reader", read_only=True).token
        with speaking_with(lambda: book.authenticate(key), person) as client:
            for wants in WANTING:
                assert wants(client, disputed).meta[ERROR]["code"] == "not_allowed"
            client.refusal("profile", name="city", value="Haifa")
    assert person.forms == []


def test_mcp_as_owner_resolves_and_sets_profile_without_elicitation(speaking, disputed):
    with speaking(disputed, as_owner=True) as client:
        assert not wants_to_resolve(client, disputed).is_error
        assert values(disputed) == ["5522"]
        assert client.data("profile", name="city", value="Haifa")["outcome"] == "applied"
    assert disputed.profile().fields == {"city": "Haifa"}


# ——— who is asked ———


def test_mcp_elicitation_failure_leaves_the_conflict_open(me):
    """In the middle of a call it is as if nobody had answered."""
    server = server_for(me, as_owner=False)
    with connected(server, mode="legacy", elicitation_callback=Person(fails=True)) as client:
        result = two_values(client)
    assert result.structured_content["action"] == "pending"
    assert len(me.conflicts()) == 1


def test_mcp_elicitation_is_skipped_for_an_agent_handle(speaking, me):
    person = Person(answer="replace")
    with speaking(me.agent("helper"), person) as client:
        result = two_values(client)
        conflict = result.structured_content["conflict"]
        assert "You cannot" in result.content[-1].text
        refused = client.refusal("conflicts", conflict=conflict, choice="override")
    assert refused["code"] == "not_allowed"
    assert person.forms == []
    assert values(me) == ["4411"]


def test_mcp_elicitation_is_sent_for_an_agent_with_may_resolve(speaking, me):
    person = Person(answer="replace")
    with speaking(me.agent("helper", may_resolve=True), person) as client:
        two_values(client)
    assert len(person.forms) == 1
    assert values(me) == ["5522"]


def test_mcp_elicitation_with_a_key_revoked_meanwhile_decides_nothing(speaking_with, me, tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as book:
        key = me.keys_create("laptop")

        class Slow(Person):
            async def __call__(self, context, params):
                me.keys_revoke(key.id)
                return await super().__call__(context, params)

        with speaking_with(lambda: book.authenticate(key.token), Slow(answer="replace")) as client:
            result = two_values(client)
    assert result.meta[ERROR]["code"] == "unauthenticated"
    assert values(me) == ["4411"]
    assert len(me.conflicts()) == 1


# ——— consent ———

SAID = "Please call me Ana. I live in Haifa."


def test_mcp_observe_elicits_consent_to_profile_proposals(speaking, me):
    person = Person(answer="accept")
    with speaking(me, person) as client:
        result = client.call("observe", text=SAID)
    assert {each["choice"] for each in result.structured_content["decided"]} == {"accept"}
    assert me.profile().fields == {"city": "Haifa", "preferred_name": "Ana"}
    assert me.proposals() == []
    (form,) = person.forms
    assert all(
        q["enum"] == ["accept", "decline"] for q in form.requested_schema["properties"].values()
    )


def test_mcp_observe_declined_proposals_are_not_applied(speaking, me):
    with speaking(me, Person(answer="decline")) as client:
        client.data("observe", text=SAID)
    assert me.profile().fields == {}
    assert me.proposals() == []


def test_mcp_observe_cancelled_proposals_stay_open(speaking, me):
    with speaking(me, Person("cancel")) as client:
        result = client.call("observe", text=SAID)
    assert "`commonplace profile accept`" in result.content[-1].text
    assert {each.name for each in me.proposals()} == {"city", "preferred_name"}


def test_mcp_agent_key_cannot_consent_for_the_owner(speaking, me):
    person = Person(answer="accept")
    with speaking(me.agent("helper", may_resolve=True), person) as client:
        client.data("observe", text=SAID)
        told = client.data("profile", name="pronouns", value="she/her")
    assert told["outcome"] == "waiting"
    assert person.forms == []
    assert me.profile().fields == {}


def test_mcp_profile_proposal_of_an_agent_waits_for_consent(speaking, me):
    with speaking(me) as client:
        result = client.call("profile", name="city", value="Haifa")
    assert result.structured_content["outcome"] == "waiting"
    assert "`commonplace profile accept`" in result.content[-1].text
    assert me.profile().fields == {}
    with speaking(me, Person("cancel")) as client:
        client.data("profile", name="city", value="Haifa")
    assert [each.name for each in me.proposals()] == ["city"]
    with speaking(me, Person(answer="accept")) as client:
        told = client.data("profile", name="city", value="Haifa")
    assert told["decided"] == [{"id": told["id"], "choice": "accept", "problem": ""}]
    assert me.profile().fields == {"city": "Haifa"}
    with speaking(me, Person(answer="decline")) as client:
        client.data("profile", name="pronouns", value="she/her")
    assert me.profile().fields == {"city": "Haifa"}
    assert me.proposals() == []


def test_mcp_as_owner_profile_change_is_elicited_when_possible(speaking, me):
    person = Person(answer="accept")
    with speaking(me, person, as_owner=True) as client:
        assert client.data("profile", name="city", value="Haifa")["outcome"] == "applied"
        client.data("profile", name="city", value="Haifa")  # it says so: nobody is asked again
        person.answer = "decline"
        told = client.refusal("profile", name="city", value="Berlin")
        client.data("profile", name="tone", value="brief")  # nothing that needs anybody's word
    assert told["code"] == "not_allowed"
    assert len(person.forms) == 2
    assert me.profile().fields == {"city": "Haifa", "tone": "brief"}


# ——— the call that is made again with the answers (2026-07-28) ———


def called(user, state=None, answers=None):
    """One call as it goes over the wire, with nobody who answers by itself; each to a server of
    its own, which knows nothing of the calls before."""
    server = server_for(user, as_owner=False)
    with connected(server, mode=MODES[0], elicitation_callback=Person()) as client:

        async def call():
            return await client.client.session.call_tool(
                "remember",
                {"content": "The door code is 5522"},
                input_responses=answers,
                request_state=state,
                allow_input_required=True,
            )

        return client.run(call)


def test_mcp_resumed_elicitation_checks_the_rights_of_the_caller(me):
    """A client may make up what it brings back: it gets no more than its key lets it do."""
    me.remember("The door code is 4411")
    asked = called(me)
    assert isinstance(asked, types.InputRequiredResult)
    without = called(me, asked.request_state, {"another": types.ElicitResult(action="decline")})
    assert without.input_requests == asked.input_requests, "what is missing is asked for again"
    (conflict,) = (question.id for question in me.conflicts())
    answers = {"decision": types.ElicitResult(action="accept", content={conflict: "replace"})}
    by_an_agent = called(me.agent("helper"), asked.request_state, answers)
    assert "decided" not in by_an_agent.structured_content
    for made_up in ("{", "[]", '{"a": 1}', "5", '{"data": 1, "text": 2, "waiting": 3}'):
        assert called(me, made_up, answers).is_error
    assert values(me) == ["4411"]
    by_the_owner = called(me, asked.request_state, answers)
    assert by_the_owner.structured_content["decided"][0]["choice"] == "replace"
    assert values(me) == ["5522"]


def test_mcp_resumed_elicitation_ignores_a_conflict_resolved_meanwhile(me):
    me.remember("The door code is 4411")
    asked = called(me)
    (conflict,) = (question.id for question in me.conflicts())
    me.resolve(conflict, "insert")
    answers = {"decision": types.ElicitResult(action="accept", content={conflict: "replace"})}
    result = called(me, asked.request_state, answers)
    assert not result.is_error
    assert "decided" not in result.structured_content
    assert values(me) == ["4411", "5522"]
