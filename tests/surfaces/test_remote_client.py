"""`commonplace.connect`: the embedded handle's verbs, values and errors, from afar."""

import asyncio
import http.client
import inspect
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import pytest

import commonplace
from commonplace import User, aio, errors
from commonplace.operations.table import OPERATIONS
from commonplace.surfaces.rest.client import RemoteUser, ServerReply
from support.rest_server import running


@pytest.fixture
def book(tmp_path):
    with commonplace.open(str(tmp_path / "memory.db"), embedder="hashing") as opened:
        yield opened


@pytest.fixture
def server(book):
    with running(book) as server:
        yield server


@pytest.fixture
def remote(server):
    with commonplace.connect(server.url) as me:
        yield me


def test_remote_client_has_every_verb_with_the_same_signature(remote):
    assert isinstance(remote, User)
    for operation in OPERATIONS:
        if not operation.of_the_store:
            mine = inspect.signature(getattr(type(remote), operation.verb))
            assert mine == inspect.signature(operation.method), operation.name


def test_remote_client_returns_the_same_values_as_the_embedded_handle(remote, book):
    near = book.user("ana")
    kept = remote.remember("Dana lives in Haifa", kind="fact", tags=["home"])
    assert kept.memory == near.show(kept.id).memory
    assert kept.is_new
    book.flush()  # that it was read is written down a little later
    assert remote.list() == near.list()
    assert remote.show(kept.id) == near.show(kept.id)
    assert remote.history(kept.id) == near.history(kept.id)
    assert remote.recall("Dana Haifa", explain=True) == near.recall("Dana Haifa", explain=True)
    assert remote.profile() == near.profile()
    assert remote.revision == near.revision
    assert remote.principal.user_id == "ana"
    assert list(remote.export()) == list(near.export())
    assert isinstance(remote.update(query="Dana"), commonplace.Choice)


# Characters that end a line for Python and stand in a value for JSON.
ODD = "A\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei"


def test_remote_export_and_import_keep_unusual_line_separators(remote, book):
    kept = remote.remember(ODD, kind="note")
    lines = list(remote.export())
    assert lines == list(book.user("ana").export())
    remote.erase(kept.id, now=True)
    remote.import_(lines)
    assert remote.show(kept.id).memory.content == ODD


def test_remote_export_streams_line_by_line(remote):
    """It is not read whole before the first line is given out."""
    for number in range(3):
        remote.remember(f"Note {number}", kind="note")
    lines = remote.export()
    first = next(lines)
    assert remote.stats() is not None
    assert [first, *lines] == list(remote.export())


def test_remote_export_cut_short_is_an_error(remote, monkeypatch):
    def breaks_off(self):
        yield "x" * 100_000
        raise RuntimeError

    monkeypatch.setattr(User, "export", breaks_off)
    lines = remote.export()
    assert len(next(lines)) == 100_000
    with pytest.raises(errors.StoreUnavailable):
        next(lines)


def test_remote_client_raises_the_same_error_classes(remote):
    with pytest.raises(errors.NotFound) as unknown:
        remote.show("nowhere")
    assert unknown.value.field == "id"
    assert unknown.value.remedy == (
        "Look up the id first (recall or list; with --cleared also items of sensitivity high)."
    )
    with pytest.raises(errors.TooLong):
        remote.remember("x" * 32_001)
    with pytest.raises(errors.BadText):
        remote.remember("half \ud800")
    with pytest.raises(errors.CategoryNotAllowed):
        remote.agent("planner").list(categories=["preferences"])
    with pytest.raises(TypeError):
        remote.remember("x", colour="red")


def test_remote_agent_handle_narrows_and_never_widens(remote):
    planner = remote.agent("planner")
    assert planner.principal.agent == "planner"
    with pytest.raises(errors.NotAllowed):
        planner.agent("stylist")
    remote.remember(kind="kv", metadata={"subject": "code", "value": "1"})
    question = remote.remember(kind="kv", metadata={"subject": "code", "value": "2"}).conflict
    with pytest.raises(errors.NotAllowed):
        remote.agent("helper").resolve(question, "insert")
    assert remote.agent("helper", may_resolve=True).resolve(question, "insert").ids


def test_remote_ingest_reads_files_on_the_client(remote, tmp_path):
    note = tmp_path / "keys.md"
    note.write_text("# Keys\n\nThe spare keys are in the blue drawer.\n")
    for original in (note, str(note), note.read_bytes()):
        assert remote.ingest(original).source.title == "Keys"
    with pytest.raises(errors.InvalidInput):
        remote.ingest(Path("/nowhere/keys.md"))
    assert remote.import_(remote.export()).already_there is not None


def test_remote_client_refuses_parameters_not_served_over_http(remote):
    with pytest.raises(errors.UnknownField):
        remote.verify_forget("x", files=True)


def test_remote_client_error_of_an_absent_server_is_retryable(book):
    with running(book) as server, commonplace.connect(server.url) as me:
        me.stats()
        url = server.url
    with commonplace.connect(url) as late, pytest.raises(errors.StoreUnavailable) as gone:
        late.remember("x")
    assert gone.value.retryable


def test_remote_write_without_a_reply_raises_outcome_unknown(remote, monkeypatch):
    def lost(*given, **named):
        raise ConnectionResetError

    monkeypatch.setattr("http.client.HTTPConnection.getresponse", lost)
    with pytest.raises(errors.OutcomeUnknown):
        remote.remember("The gate is green")
    with pytest.raises(errors.StoreUnavailable):
        remote.stats()


def test_remote_write_with_a_lost_reply_is_retried_and_done_once(remote, book, monkeypatch):
    """The connection breaks after the server has done it."""
    answered, lost = http.client.HTTPConnection.getresponse, []

    def getresponse(self):
        answer = answered(self)
        if not lost:
            lost.append(answer.read())
            raise ConnectionResetError
        return answer

    monkeypatch.setattr("http.client.HTTPConnection.getresponse", getresponse)
    kept = remote.remember("The gate is green")
    assert json.loads(lost[0])["id"] == kept.id
    assert [memory.id for memory in book.user("ana").list().memories] == [kept.id]


def test_remote_write_still_in_progress_raises_outcome_unknown(remote, monkeypatch):
    """Who is told to try again would do it twice."""
    problem = json.dumps(
        errors.StoreBusy(
            "A request with this Idempotency-Key is in progress; retry shortly."
        ).as_dict()
    )
    told = json.dumps({**json.loads(problem), "detail": "under way"}).encode()
    busy = ServerReply(503, "application/problem+json", told, is_second=True)
    monkeypatch.setattr(
        "commonplace.surfaces.rest.client.ServerConnection.send", lambda *g, **n: busy
    )
    with pytest.raises(errors.OutcomeUnknown):
        remote.remember("The gate is green")


ODD_ARGUMENTS: dict[str, Callable[[User], object]] = {
    "no id": lambda me: me.show(""),
    "an id that is a number": lambda me: me.show(5),
    "a dot": lambda me: me.show(".."),
    "ids that are a number": lambda me: me.restore(5),
    "no text": lambda me: me.remember(object()),
    "a set": lambda me: me.remember("The gate is green", tags={"gate"}).memory.tags,
    "a set in a map": lambda me: me.remember_many([{"content": "Tea", "tags": {"home"}}])[0].action,
    "a generator": lambda me: len(me.remember_many(f"Note {n}" for n in range(3))),
    "kinds as a set": lambda me: len(me.list(kinds={"note"}).memories),
    "ids as a set": lambda me: me.erase({"nowhere"}),
    "no team": lambda me: me.teams_show(""),
}


@pytest.mark.parametrize("case", ODD_ARGUMENTS)
def test_remote_client_treats_odd_arguments_like_the_embedded_handle(remote, book, case):
    def outcome(me):
        try:
            return ODD_ARGUMENTS[case](me)
        except errors.CommonplaceError as error:
            return error.code

    near = outcome(book.user("somebody else"))
    assert outcome(remote) == near


def test_remote_principal_equals_the_embedded_principal(server, book):
    token = book.user("ana").keys_create("looking", read_only=True).token
    near = book.authenticate(token).principal
    with commonplace.connect(server.url, token) as me:
        far = me.principal
    named = ("user_id", "agent", "cleared", "read_only", "team", "key")
    assert [getattr(far, name) for name in named] == [getattr(near, name) for name in named]
    assert far.read_only


def test_aio_connect_remembers_and_lists(server):
    async def ask():
        async with await aio.connect(server.url) as me:
            kept = await me.remember("The gate is green")
            return kept.id, [m.id for m in (await me.list()).memories]

    id, listed = asyncio.run(ask())
    assert listed == [id]


def test_package_is_typed():
    assert (Path(commonplace.__file__).parent / "py.typed").is_file()
    assert get_type_hints(commonplace.connect)["return"] is RemoteUser


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("ftp://127.0.0.1", None),
        ("127.0.0.1:8765", None),
        ("http://me:secret@127.0.0.1", None),
        ("http://memory.example", "cpk_secret"),
        ("http://127.0.0.1", "cpk secret"),
    ],
)
def test_connect_refuses_a_bad_url_or_key_without_revealing_secrets(url, key):
    with pytest.raises(errors.BadSettings) as refused:
        commonplace.connect(url, key)
    assert "secret" not in str(refused.value.as_dict())


def test_remote_client_is_thread_safe(remote):
    told = []
    threads = [
        threading.Thread(target=lambda n=n: told.append(remote.remember(f"Note number {n}").id))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(set(told)) == 8
    assert len(remote.list().memories) == 8
