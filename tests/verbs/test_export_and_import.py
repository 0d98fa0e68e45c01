"""export and import: a whole memory as lines of JSON, equal on the other side."""

from __future__ import annotations

import json

import pytest

import commonplace
from commonplace.errors import InvalidInput, NotAllowed


@pytest.fixture
def lived_in(me, clock):
    """A memory with everything in it: kinds, versions, links, states, profile, reads."""
    fact = me.remember("Dana lives in Haifa", kind="fact", tags=["family"], thread="t1").id
    me.remember("The garden gate needs a new lock before winter")
    me.remember("The garden gate needs a new lock before summer", sensitivity="high")
    me.remember("אני מעדיפה תה ירוק", evidence=["אמרה לי"])
    bill = me.remember(kind="kv", metadata={"subject": "bill", "value": {"sum": 500}}).id
    me.profile_set("city", "Haifa")
    me.profile_note("Allergic to nuts")
    clock.tick(days=1)
    me.update(fact, content="Dana lives in Berlin")
    me.update(bill, metadata={"value": 600})
    me.forget("profile:0")
    me.merge([me.remember(text, ttl_days=5).id for text in ("Hay is cheap", "So is straw")])
    me.recall("garden gate")
    return me


def exported(handle):
    """All but the header, whose owner differs when somebody else imports it."""
    header, *lines = handle.export()
    record = json.loads(header)
    return {name: record[name] for name in record if name != "user_id"}, lines


def test_export_and_import_round_trip_is_equal(lived_in, book):
    ben = book.user("ben")
    lines = list(lived_in.export())
    answer = ben.import_(lines)
    assert answer.whole
    assert answer.revision == ben.revision == lived_in.revision
    assert exported(ben) == exported(lived_in)


def test_import_supports_recall_profile_and_restore(lived_in, book, clock):
    ben = book.user("ben")
    ben.import_(lived_in.export())
    ask = {"k": 50, "explain": True}
    for query in ("garden gate lock", "Dana Berlin", "תה ירוק", "hay"):
        assert ben.recall(query, **ask).hits == lived_in.recall(query, **ask).hits
    assert ben.profile() == lived_in.profile()
    assert ben.restore("profile:0").ids == ("profile:0",)
    assert ben.profile_note("Another").id == "profile:1"
    assert all(finding.ok for finding in ben.doctor())


def test_import_twice_adds_nothing(lived_in, book):
    ben = book.user("ben")
    lines = list(lived_in.export())
    count = ben.import_(lines).memories
    before = exported(ben)
    again = ben.import_(lines)
    assert (again.memories, again.whole) == (0, False)
    assert len(again.already_there) == count
    assert exported(ben) == before


def test_import_into_a_nonempty_memory_adds_only_new_items(lived_in, book):
    ben = book.user("ben")
    own = ben.remember("Something of his own").id
    ben.profile_set("city", "Rome")
    answer = ben.import_(lived_in.export())
    assert not answer.whole
    assert answer.differing == ("profile:city",)
    assert ben.profile().fields == {"city": "Rome"}
    assert own in {m.id for m in ben.list().memories}
    assert [hit.text for hit in ben.recall("Dana Berlin").hits] == ["Dana lives in Berlin"]
    assert ben.profile_note("Another").id == "profile:1"
    assert ben.revision == 4


def test_export_and_import_work_across_sqlite_and_postgres(
    lived_in, open_book, postgres, tmp_path, store_url, clock
):
    other_url = (
        str(tmp_path / "other.db") if store_url.startswith("postgresql") else postgres.database()
    )
    with commonplace.open(other_url, embedder="hashing", clock=clock) as other:
        there = other.user("ana")
        there.import_(lived_in.export())
        assert exported(there) == exported(lived_in)
        lines = list(there.export())
    home = open_book(url=str(tmp_path / "home.db")).user("ana")
    home.import_(lines)
    assert list(home.export()) == list(lived_in.export())


def test_import_names_an_invalid_line_and_imports_nothing(lived_in, book):
    ben = book.user("ben")
    lines = list(lived_in.export())
    lines[3] = lines[3].replace('"kind":"', '"kind":"poem')
    with pytest.raises(InvalidInput, match=r"^Line 4"):
        ben.import_(lines)
    assert ben.revision == 0


def test_export_and_import_refuse_an_agent(me):
    agent = me.agent("helper")
    me.remember("Hay is cheap")
    with pytest.raises(NotAllowed):
        agent.export()
    with pytest.raises(NotAllowed):
        agent.import_(list(me.export()))


def test_import_with_a_wrong_note_counter_reuses_no_note_number(book, me):
    me.profile_note("Left-handed")
    lines = [line.replace('"profile_numbers":1', '"profile_numbers":0') for line in me.export()]
    copy = book.user("copy")
    copy.import_(lines)
    assert copy.profile_note("Allergic to nuts").id == "profile:1"


def test_import_rejects_a_kv_without_subject(book, me):
    me.remember(kind="kv", metadata={"subject": "bill", "value": "500"})
    lines = [line.replace('"subject":"bill",', "") for line in me.export()]
    with pytest.raises(InvalidInput, match="needs metadata"):
        book.user("copy").import_(lines)
