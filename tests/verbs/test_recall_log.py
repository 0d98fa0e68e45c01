"""The recall log: what was asked in a turn, what came back, and why. Off unless it is wanted."""

from __future__ import annotations

import pytest

from commonplace.errors import BadSettings, InvalidInput, NotFound
from support.stores import raw

TEXT = "The spare keys are in the xylophone case"


@pytest.fixture
def book(open_book):
    return open_book(recall_log=True)


@pytest.fixture
def keys(me):
    return me.remember(TEXT).id


def rows(url):
    return [raw(url, f"SELECT * FROM {table}") for table in ("recall_log", "recall_hits")]


def test_recall_log_is_off_by_default(open_book, store_url):
    me = open_book().user("ana")
    me.remember(TEXT)
    me.recall("spare keys")
    me.query("spare keys")
    me._engine.access_log.flush()
    assert rows(store_url) == [[], []]
    with pytest.raises(BadSettings) as refused:
        me.why()
    assert "recall_log" in refused.value.remedy


def test_why_reports_query_hits_and_reasons(me, keys, clock):
    (hit,) = me.recall("where are the spare keys?", thread="talk", explain=True).hits
    told = me.why("talk", 1)
    (asked,) = told.asked
    assert (told.thread, told.turn, asked.at) == ("talk", 1, clock())
    assert (asked.verb, asked.query, asked.agent) == ("recall", "where are the spare keys?", None)
    (returned,) = asked.returned
    assert (returned.id, returned.text, returned.category) == (keys, TEXT, "knowledge")
    assert (returned.score, returned.why) == (hit.score, hit.why)
    assert returned.parts == hit.parts


def test_recall_answer_omits_reasons_unless_explain_is_set(me, keys):
    (hit,) = me.recall("spare keys").hits
    assert (hit.why, hit.parts) == (None, None)
    assert me.why().asked[0].returned[0].why.startswith("Recalled because")


def test_recall_log_of_a_known_at_query_has_the_present_time(me, keys, clock):
    then = clock()
    clock.tick(days=2)
    me.recall("spare keys", known_at=then)
    (asked,) = me.why().asked
    assert asked.at == clock()
    assert [hit.id for hit in asked.returned] == [keys]


def test_recall_log_records_a_recall_without_hits(me, keys):
    me.recall("quarterly dividend yields")
    assert me.why().asked[0].returned == ()


def test_recall_log_numbers_turns_per_thread(me, keys):
    for thread in ("one", "two", "one"):
        me.recall("spare keys", thread=thread)
    me.recall("spare keys", thread="one", turn=7)
    me.recall("xylophone", thread="one")
    assert me.why("one").turn == 8
    assert me.why("one", 7).asked[0].query == "spare keys"
    assert me.why("two").turn == 1
    with pytest.raises(NotFound):
        me.why("two", 2)
    with pytest.raises(NotFound):
        me.why("three")


def test_recall_log_of_recall_many_is_one_turn(me, keys):
    me.recall_many(["spare keys", "xylophone"], thread="talk")
    assert [asked.query for asked in me.why("talk", 1).asked] == ["spare keys", "xylophone"]


def test_recall_log_orders_the_queries_of_one_turn(me, keys):
    for query in ("spare keys", "xylophone case", "spare case"):
        me.recall(query, thread="talk", turn=3)
    asked = [each.query for each in me.why("talk", 3).asked]
    assert asked == ["spare keys", "xylophone case", "spare case"]


def test_recall_log_records_query_with_its_agent(me, keys):
    me.agent("supervisor").query("spare keys")
    assert (me.why().asked[0].verb, me.why().asked[0].agent) == ("query", "supervisor")


def test_recall_log_records_only_hits_within_the_budget(me, keys):
    me.query("spare keys", budget_tokens=0)
    assert me.why().asked[0].returned == ()


def test_why_shows_passage_text_until_the_source_is_forgotten(me):
    source = me.ingest("The boiler hisses at night.").id
    me.recall("boiler hisses")
    (returned,) = me.why().asked[0].returned
    assert (returned.id, returned.text) == (f"{source}#1", "The boiler hisses at night.")
    me.forget(source)
    assert me.why().asked[0].returned[0].text is None


def test_why_omits_the_text_of_a_forgotten_memory(me, keys):
    me.recall("spare keys")
    me.forget(keys)
    (returned,) = me.why().asked[0].returned
    assert (returned.id, returned.text) == (keys, None)


def test_why_shows_an_agent_only_own_queries_and_visible_hits(me, keys):
    agent = me.agent("supervisor")
    agent.recall("spare keys", thread="talk")
    me.recall("spare keys", thread="talk")
    assert agent.why("talk").turn == 1
    assert [hit.id for hit in agent.why("talk").asked[0].returned] == [keys]
    with pytest.raises(NotFound):
        agent.why("talk", 2)
    me.update(keys, category="tone")
    assert agent.why("talk").asked[0].returned == ()


def test_recall_log_expires_after_the_configured_days(open_book, clock, store_url):
    me = open_book(recall_log=True, recall_log_days=10).user("ana")
    me.remember(TEXT)
    me.recall("spare keys", thread="old")
    clock.tick(days=9)
    me.recall("spare keys", thread="new")
    me.tidy()
    assert me.why("old")
    clock.tick(days=2)
    me.tidy()
    with pytest.raises(NotFound):
        me.why("old")
    assert me.why("new")
    assert [len(found) for found in rows(store_url)] == [1, 1]


# ——— it forgets with the memory ———


def test_erase_removes_logged_queries_with_that_hit(me, keys, store_url):
    other = me.remember("The spare tyre is flat").id
    me.recall("spare keys xylophone", thread="one")
    me.recall("flat tyre", thread="two")
    me.erase(keys)
    assert me.verify_forget("xylophone").clean
    with pytest.raises(NotFound):
        me.why("one")
    assert [hit.id for hit in me.why("two").asked[0].returned] == [other]


def test_erase_removes_logged_queries_quoting_the_memory(me, keys):
    me.recall(f"is it true that {TEXT}, or not?", filters={"importance_min": 5})
    assert me.why().asked[0].returned == ()
    assert "recall_log" in me.verify_forget("xylophone").found_in
    me.erase(keys)
    assert me.verify_forget("xylophone").clean


def test_recall_log_drops_a_record_written_after_the_erase(me, keys, store_url):
    """Another process may have answered it before, and come to its books only now."""
    engine = me._engine
    log = engine.access_log
    waiting = []
    log.record_later, later = waiting.append, log.record_later
    me.recall("spare keys xylophone")
    log.record_later = later
    me.erase(keys)
    for each in waiting:
        engine.store.record(each)
    assert rows(store_url) == [[], []]


def test_erase_source_removes_logged_queries_with_that_hit(me):
    source = me.ingest("The boiler hisses in the xylophone room.").id
    me.recall("boiler xylophone")
    me.erase(source)
    assert me.verify_forget("xylophone").clean


def test_erase_held_value_removes_logged_queries_quoting_the_value(me):
    given = {"kind": "kv", "metadata": {"subject": "door code", "value": "1111"}}
    me.remember(**given)
    held = me.remember(kind="kv", metadata={"subject": "door code", "value": "xylophone"})
    me.recall("door code is xylophone, says Dana", filters={"importance_min": 5})
    me.erase(held.id)
    assert me.verify_forget("xylophone").clean


def test_purge_removes_logged_hits(me, keys, clock, store_url):
    me.recall("spare keys")
    me.forget(keys)
    clock.tick(days=31)
    me.recall("spare keys")
    me.tidy()
    assert rows(store_url)[1] == []


def test_erase_user_removes_the_recall_log(book, me, keys, store_url):
    me.recall("spare keys")
    book.user("bob").remember("Bob's own")
    book.user("bob").recall("Bob's own")
    me.erase_user()
    book.flush()
    assert {row[0] for table in rows(store_url) for row in table} == {"user:bob"}


def test_why_does_not_show_the_recall_log_of_another_user(book, me, keys):
    me.recall("spare keys", thread="talk")
    bob = book.user("bob")
    bob.remember("Bob's own")
    with pytest.raises(NotFound):
        bob.why("talk", 1)


# ——— it belongs to the user ———


def test_recall_log_survives_export_and_import(open_book, me, keys, tmp_path):
    me.recall("spare keys", thread="talk", turn=4)
    me.agent("supervisor").query("xylophone", thread="talk")
    lines = list(me.export())
    other = open_book(url=str(tmp_path / "other.db"), recall_log=True).user("ana")
    other.import_(lines)
    assert other.why("talk", 4) == me.why("talk", 4)
    assert other.why("talk", 5) == me.why("talk", 5)
    assert sorted(other.export()) == sorted(lines)


def test_import_into_a_non_empty_store_skips_the_recall_log(open_book, me, keys, tmp_path):
    me.recall("spare keys", thread="talk")
    other = open_book(url=str(tmp_path / "other.db"), recall_log=True).user("ana")
    other.remember("Something else")
    other.import_(list(me.export()))
    with pytest.raises(NotFound):
        other.why("talk")


@pytest.mark.parametrize(
    "wrong",
    [
        '"turn":-1',
        '"turn":"one"',
        '"at":"yesterday"',
        '"returned":{}',
        '"returned":[{"id":"x"}]',
        '"returned":[{"id":"x","score":1,"why":"","parts":[]}]',
        '"asked":""',
        '"colour":"red"',
    ],
)
def test_import_refuses_an_invalid_recall_log_line(me, wrong):
    right = {
        "id": '"1"',
        "thread": '"t"',
        "turn": "1",
        "agent": "null",
        "at": '"2026-03-01"',
        "verb": '"recall"',
        "asked": '"x"',
        "returned": "[]",
    }
    name, _, value = wrong.partition(":")
    told = {**right, name.strip('"'): value}
    line = ",".join(f'"{name}":{value}' for name, value in told.items())
    header = next(iter(me.export()))
    with pytest.raises(InvalidInput, match="Line 2"):
        me.import_([header, f'{{"type":"search",{line}}}'])


def test_recall_log_of_context_records_the_original_query(open_book):
    """A follow-up is looked for in other words; what was asked is what was asked."""
    me = open_book(recall_log=True).user("ana")
    me.remember("The best pizza in Chicago is at Lou's")
    me.observe("What is the best pizza in Boston?", thread="t1")
    context = me.context("what about Chicago?", thread="t1")
    assert context.query != "what about Chicago?"
    assert me.why("t1").asked[-1].query == "what about Chicago?"


def test_erase_removes_questions_of_guests_that_name_the_source(book, me):
    bob, tal = book.user("bob"), book.user("tal")
    tal.remember("Tea is in the kitchen")
    source = me.ingest("The quornish plan is secret.").id
    me.sources_share(source, "bob")
    bob.sources_accept(source)
    for user in (bob, tal):
        user.recall("what is the quornish plan?")
        user.recall("what is on today?")
    me.erase(source)
    assert bob.verify_forget("quornish").clean
    assert [each.query for each in bob.why().asked] == ["what is on today?"]
    assert not tal.verify_forget("quornish").clean  # who could not read it


def test_erase_removes_questions_of_members_that_name_the_teams_source(book, me):
    bob = book.user("bob")
    team = me.teams_create("garden").id
    me.teams_invite(team, "bob")
    bob.teams_join(team)
    source = me.ingest("The quornish plan is secret.", team=team).id
    bob.recall("what is the quornish plan?")
    me.erase(source)
    assert bob.verify_forget("quornish").clean


def test_erase_removes_questions_that_name_only_the_thread(me):
    source = me.observe("I prefer green tea.", thread="quornish talks").source_id
    me.recall("what about quornish?")
    me.recall("what is on today?")
    me.erase(source)
    assert me.verify_forget("quornish").clean
    assert [each.query for each in me.why().asked] == ["what is on today?"]
