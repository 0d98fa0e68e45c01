"""`commonplace.connect`: the embedded handle's verbs, values and errors, from afar."""

import inspect
import threading
from pathlib import Path

import pytest

import commonplace
from commonplace import User, errors
from commonplace.operations import OPERATIONS
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


def test_it_has_every_verb_with_the_same_signature(remote):
    assert isinstance(remote, User)
    for operation in OPERATIONS:
        if not operation.of_the_store:
            mine = inspect.signature(getattr(type(remote), operation.verb))
            assert mine == inspect.signature(operation.method), operation.name


def test_answers_are_the_same_values(remote, book):
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


def test_a_memory_is_brought_over_whole_whatever_characters_it_holds(remote, book):
    kept = remote.remember(ODD, kind="note")
    lines = list(remote.export())
    assert lines == list(book.user("ana").export())
    remote.erase(kept.id, now=True)
    remote.import_(lines)
    assert remote.show(kept.id).memory.content == ODD


def test_an_export_comes_line_by_line_while_other_things_are_asked(remote):
    """It is not read whole before the first line is given out."""
    for number in range(3):
        remote.remember(f"Note {number}", kind="note")
    lines = remote.export()
    first = next(lines)
    assert remote.stats() is not None
    assert [first, *lines] == list(remote.export())


def test_an_export_that_breaks_off_is_an_error_and_no_short_memory(remote, monkeypatch):
    def breaks_off(self):
        yield "x" * 100_000
        raise RuntimeError

    monkeypatch.setattr(User, "export", breaks_off)
    lines = remote.export()
    assert len(next(lines)) == 100_000
    with pytest.raises(errors.StoreUnavailable):
        next(lines)


def test_errors_are_the_same_classes(remote):
    with pytest.raises(errors.NotFound) as unknown:
        remote.show("nowhere")
    assert unknown.value.field == "id"
    assert unknown.value.remedy == errors.NotFound.default_remedy
    with pytest.raises(errors.TooLong):
        remote.remember("x" * 32_001)
    with pytest.raises(errors.BadText):
        remote.remember("half \ud800")
    with pytest.raises(errors.CategoryNotAllowed):
        remote.agent("planner").list(categories=["preferences"])
    with pytest.raises(TypeError):
        remote.remember("x", colour="red")


def test_an_agent_narrows_and_never_widens(remote):
    planner = remote.agent("planner")
    assert planner.principal.agent == "planner"
    with pytest.raises(errors.NotAllowed):
        planner.agent("stylist")
    remote.remember(kind="kv", metadata={"subject": "code", "value": "1"})
    question = remote.remember(kind="kv", metadata={"subject": "code", "value": "2"}).conflict
    with pytest.raises(errors.NotAllowed):
        remote.agent("helper").resolve(question, "insert")
    assert remote.agent("helper", may_resolve=True).resolve(question, "insert").ids


def test_files_are_read_here_and_sent(remote, tmp_path):
    note = tmp_path / "keys.md"
    note.write_text("# Keys\n\nThe spare keys are in the blue drawer.\n")
    for original in (note, str(note), note.read_bytes()):
        assert remote.ingest(original).source.title == "Keys"
    with pytest.raises(errors.InvalidInput):
        remote.ingest(Path("/nowhere/keys.md"))
    assert remote.import_(remote.export()).already_there is not None


def test_what_a_server_does_not_take_is_refused_here(remote):
    with pytest.raises(errors.UnknownField):
        remote.verify_forget("x", files=True)


def test_a_server_that_is_not_there_is_an_error_that_can_be_retried(book):
    with running(book) as server, commonplace.connect(server.url) as me:
        me.stats()
        url = server.url
    with commonplace.connect(url) as late, pytest.raises(errors.StoreUnavailable) as gone:
        late.remember("x")
    assert gone.value.retryable


def test_of_a_write_without_an_answer_nobody_says_it_was_not_done(remote, monkeypatch):
    def lost(*given, **named):
        raise ConnectionResetError

    monkeypatch.setattr("http.client.HTTPConnection.getresponse", lost)
    with pytest.raises(errors.OutcomeUnknown):
        remote.remember("The gate is green")
    with pytest.raises(errors.StoreUnavailable):
        remote.stats()


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
def test_an_address_or_key_that_cannot_be_right_is_refused_before_anything_is_sent(url, key):
    with pytest.raises(errors.BadSettings) as refused:
        commonplace.connect(url, key)
    assert "secret" not in str(refused.value.as_dict())


def test_threads_share_a_handle(remote):
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
