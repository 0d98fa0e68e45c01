"""A connected client's own model: asked for its own user only, with consent, while it is there."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from mcp import types

import commonplace
from commonplace.language.llm.language_model import BadModelAnswer, ModelDown, ModelRefused
from commonplace.language.llm.prompts import load_prompt
from commonplace.store.queries import JobQuery
from commonplace.surfaces.mcp.sampling import SamplingClients
from commonplace.surfaces.mcp.server import build_server, single_caller
from support.findings import source, turns
from support.mcp_client import MODES, connected, over_http
from support.rest_server import running
from support.settled import until

NOTES = "Ilka Horak does the bookkeeping at Tarn Mill."
REQUEST = load_prompt("check").request({"one": "17", "other": "25"})


class ClientModel:
    """The model of a client: what it is asked, and what it says."""

    def __init__(self, *answers):
        self.answers = list(answers)  # the last one again and again
        self.asked = []
        self.until = None  # an event that it waits for

    async def __call__(self, context, params):
        self.asked.append(params)
        if self.until is not None:
            await self.until.wait()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, types.ErrorData):
            return answer
        content = answer if isinstance(answer, str) else json.dumps(answer)
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=content),
            model="clever",
            stop_reason="endTurn",
        )


@pytest.fixture
def book(tmp_path):
    with commonplace.open(
        str(tmp_path / "memory.db"), embedder="hashing", model="mcp", model_timeout=5, worker="off"
    ) as opened:
        yield opened


@pytest.fixture
def speaking(book):
    """To a server that the user's client started."""

    def speak(model, user="ana", holder=None, mode="legacy", **more):
        who = single_caller(holder or (lambda: book.user(user)), None, more.pop("as_owner", False))
        sampling = SamplingClients(who, book.connected_models)
        server = build_server(who, sampling=sampling)
        return connected(server, mode=mode, sampling_callback=model, **more)

    return speak


def model_of(book, user="ana", **more):
    return book.connected_models.model_for(user, **more)


def test_mcp_sampling_answers_while_the_client_is_connected(book, speaking):
    model = ClientModel({"sum": 42})
    assert model_of(book) is None
    with speaking(model) as client:
        client.data("recall", query="anything")
        asked = model_of(book)
        assert asked.name == "mcp:mcp"
        answer = asked.complete(REQUEST)
    assert answer.value == {"sum": 42}
    assert answer.tokens.total > 0
    (params,) = model.asked
    assert "test of the connection" in params.system_prompt
    assert "JSON Schema" in params.system_prompt
    assert "17 and 25" in params.messages[0].content.text
    assert model_of(book) is None


def test_mcp_sampling_prefers_a_cheap_model_for_cheap_steps(book, speaking):
    model = ClientModel({"sum": 42})
    with speaking(model) as client:
        client.data("recall", query="anything")
        model_of(book, small=True).complete(REQUEST)
        model_of(book).complete(REQUEST)
    cheap, good = (params.model_preferences for params in model.asked)
    assert (cheap.cost_priority, good.cost_priority) == (1, 0)


def test_mcp_sampling_answer_is_parsed_checked_and_repaired(book, speaking):
    model = ClientModel("I think it is 42.", 'Sure:\n```json\n{"sum": "42"}\n```')
    with speaking(model) as client:
        client.data("recall", query="anything")
        answer = model_of(book).complete(REQUEST)
    assert (answer.value, answer.is_repaired) == ({"sum": 42}, True)
    assert [message.role for message in model.asked[1].messages] == ["user", "assistant", "user"]


def test_mcp_sampling_hopeless_answer_raises_bad_model_answer(book, speaking):
    with speaking(ClientModel("no idea")) as client:
        client.data("recall", query="anything")
        with pytest.raises(BadModelAnswer, match="not JSON"):
            model_of(book).complete(REQUEST)


def test_mcp_sampling_asks_only_the_client_of_the_user(book, speaking):
    anas, bens = ClientModel({"sum": 1}), ClientModel({"sum": 2})
    with speaking(anas) as ana, speaking(bens, user="ben") as ben:
        ana.data("recall", query="anything")
        ben.data("recall", query="anything")
        assert model_of(book, "ana").complete(REQUEST).value == {"sum": 1}
        assert model_of(book, "ben").complete(REQUEST).value == {"sum": 2}
        assert model_of(book, "cleo") is None
    assert (len(anas.asked), len(bens.asked)) == (1, 1)


def test_mcp_sampling_declined_is_not_asked_again(book, speaking):
    declined = types.ErrorData(code=-1, message="User rejected sampling request: the prompt")
    model = ClientModel(declined)
    with speaking(model) as client:
        client.data("recall", query="anything")
        asked = model_of(book)
        with pytest.raises(ModelRefused, match="declined") as refused:
            asked.complete(REQUEST)
        assert "prompt" not in str(refused.value)
        client.data("recall", query="anything")
        assert model_of(book) is None
    assert len(model.asked) == 1


def test_mcp_sampling_client_error_raises_model_down(book, speaking):
    broken = types.ErrorData(code=types.INTERNAL_ERROR, message="the model broke")
    with speaking(ClientModel(broken)) as client:
        client.data("recall", query="anything")
        with pytest.raises(ModelDown):
            model_of(book).complete(REQUEST)


def test_mcp_sampling_of_a_client_that_leaves_raises_model_down(book, speaking):
    model = ClientModel({"sum": 42})
    failures = []

    def ask(asked):
        try:
            asked.complete(REQUEST)
        except ModelDown as error:
            failures.append(str(error))

    with speaking(model) as client:
        client.data("recall", query="anything")
        model.until = client.run(make_event)
        asking = threading.Thread(target=ask, args=(model_of(book),))
        asking.start()
        until(lambda: model.asked)
    asking.join(10)
    assert len(failures) == 1
    assert model_of(book) is None


async def make_event():
    return asyncio.Event()


def test_mcp_sampling_has_a_time_limit(book, speaking):
    model = ClientModel({"sum": 42})
    book.connected_models.timeout = 0.1
    with speaking(model) as client:
        client.data("recall", query="anything")
        model.until = client.run(make_event)
        with pytest.raises(ModelDown, match="in time"):
            model_of(book).complete(REQUEST)


@pytest.mark.parametrize("mode", MODES)
def test_mcp_client_without_sampling_is_not_asked(book, speaking, mode):
    with speaking(None, mode=mode) as client:
        client.data("recall", query="anything")
        assert model_of(book) is None


def test_mcp_sampling_needs_a_version_with_requests_from_servers(book, speaking):
    with speaking(ClientModel({"sum": 42}), mode="2026-07-28") as client:
        client.data("recall", query="anything")
        assert model_of(book) is None


def test_mcp_sampling_is_not_asked_of_agents_with_fewer_rights(book, speaking):
    me = book.user("ana")
    keys = [
        me.keys_create("reader", read_only=True),
        me.keys_create("agent", for_agent="helper"),
    ]
    for key in keys:
        with speaking(
            ClientModel({"sum": 42}), holder=lambda key=key: book.authenticate(key.token)
        ) as client:
            client.data("recall", query="anything")
            assert model_of(book) is None


def test_mcp_sampling_ends_when_the_key_is_revoked(book, speaking):
    key = book.user("ana").keys_create("laptop")
    model = ClientModel({"sum": 42})
    with speaking(model, holder=lambda: book.authenticate(key.token)) as client:
        client.data("recall", query="anything")
        asked = model_of(book)
        assert asked.complete(REQUEST).value == {"sum": 42}
        book.user("ana").keys_revoke(key.id)
        with pytest.raises(ModelRefused, match="may not read"):
            asked.complete(REQUEST)
        until(lambda: model_of(book) is None)
    assert len(model.asked) == 1


def test_mcp_sampling_over_http_lasts_while_the_stream_is_open(book):
    key = book.user("ana").keys_create("laptop").token
    model = ClientModel({"sum": 42})
    with running(book, serve_keyless=False) as server:
        with over_http(server.url, key, mode="legacy", sampling_callback=model) as client:
            client.data("recall", query="anything")
            until(lambda: model_of(book) is not None)
            assert model_of(book).complete(REQUEST).value == {"sum": 42}
            assert model_of(book, "ben") is None
        until(lambda: model_of(book) is None)


def test_model_check_asks_the_connected_client(book, speaking):
    (check,) = book.user("ana").model_check()
    assert not check.ok
    assert "sampling" in check.remedy
    with speaking(ClientModel({"sum": 42})) as client:
        client.data("recall", query="anything")
        (check,) = book.user("ana").model_check()
    assert (check.ok, check.model, check.mode) == (True, "mcp:mcp", "text")


def reading_jobs(book, user="ana"):
    jobs = book._engine.store.jobs(book.user(user).principal.scope, JobQuery(kinds=["read"]))
    return [each.key for each in jobs]


@pytest.fixture
def reading_book(tmp_path):
    with commonplace.open(
        str(tmp_path / "memory.db"),
        embedder="hashing",
        model="mcp",
        model_timeout=5,
        worker="off",
        extraction="auto",
    ) as opened:
        yield opened


def speaking_to(book, me, model):
    who = single_caller(lambda: me, None, False)
    server = build_server(who, sampling=SamplingClients(who, book.connected_models))
    return connected(server, mode="legacy", sampling_callback=model)


def read_sources(me):
    return [each.source for each in me._engine.store.model_readings(me.principal.scope)]


def test_what_came_in_while_no_client_was_connected_is_read_when_one_connects(reading_book):
    book = reading_book
    me, ben = book.user("ana"), book.user("ben")
    waiting = me.ingest(NOTES, format="text", external_id="notes").source.id
    ben.ingest(NOTES, format="text", external_id="notes")
    for _ in range(2):
        book.work(once=True)
    assert reading_jobs(book) == [waiting]  # it waits, and has not failed
    assert me.jobs()[0].tries == 0
    with speaking_to(book, me, ClientModel(source())) as client:
        client.data("recall", query="anything")
        book.work(once=True)
        assert read_sources(me) == [waiting]
    assert not reading_jobs(book)
    assert len(reading_jobs(book, "ben")) == 1


def test_a_worker_reads_at_once_when_a_client_connects(tmp_path):
    with commonplace.open(
        str(tmp_path / "memory.db"),
        embedder="hashing",
        model="mcp",
        model_timeout=5,
        extraction="auto",
    ) as book:
        me = book.user("ana")
        me.ingest(NOTES, format="text", external_id="notes")
        with speaking_to(book, me, ClientModel(source())) as client:
            client.data("recall", query="anything")
            until(lambda: read_sources(me) and not reading_jobs(book))


def test_waiting_for_a_model_that_is_not_connected_ends_at_once(reading_book):
    me = reading_book.user("ana")
    me.observe("btw my cat is called Tom", wait=True)
    assert len(reading_jobs(reading_book)) == 1
    assert me.jobs()[0].tries == 0


def test_requests_to_forget_are_listed_and_answered_over_mcp(reading_book):
    me = reading_book.user("ana")
    kayak = me.remember("The user owns a red kayak.", kind="fact").memory.id
    said = "scrap that thing with the kayak please"
    me.observe(said, thread="t")
    found = {"passage": 1, "quote": said, "what": "the kayak"}
    with speaking_to(reading_book, me, ClientModel(turns(forget=[found]))) as client:
        client.data("recall", query="anything")
        reading_book.work(once=True)
        (request,) = client.data("conflicts", requests=True)["result"]
        assert request["query"] == "the kayak"
        assert [each["id"] for each in request["candidates"]] == [kayak]
        client.data("forget", ids=[kayak])
        assert client.data("conflicts", requests=True)["result"] == []
