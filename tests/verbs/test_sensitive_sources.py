"""A source of sensitivity high: the owner by id or cleared, agents only when cleared."""

from __future__ import annotations

import pytest

from commonplace.errors import NotFound
from support.sources import chat, turn

TALK = chat(turn("Dana", "Ana takes lithium for her mood."), turn("Ana", "Since May.", 1))


@pytest.fixture
def secret(me):
    return me.ingest(TALK, sensitivity="high", external_id="c1", title="Doctor").id


def sees(handle):
    hits = {hit.citation.source for hit in handle.recall("lithium mood").hits}
    return hits | {source.id for source in handle.sources().sources}


def test_sensitive_source_is_hidden_from_search_and_lists_unless_cleared(book, me, secret):
    for handle in (me, me.agent("helper")):
        assert sees(handle) == set()
        assert handle.changes("t").header == ""
    cleared = book.user("ana", cleared=True)
    for handle in (cleared, cleared.agent("helper")):
        assert sees(handle) == {secret}
        assert "Doctor" in handle.changes("u").header


def test_sensitive_source_is_accessible_by_id_to_the_owner(me, secret):
    assert me.show(secret).source.title == "Doctor"
    assert len(me.show(f"{secret}#1").passages) == 2
    assert me.history(secret)
    assert me.forget(secret).ids == (secret,)
    assert me.restore(secret).ids == (secret,)


VERBS = ("show", "history", "forget", "restore", "erase")


def test_sensitive_source_is_not_found_for_an_agent_by_id_or_alias(me, secret):
    unknown = "source:00000000-0000-0000-0000-000000000000"
    agent = me.agent("helper")
    for verb in VERBS:
        for named, not_there in ((secret, unknown), ("chat:c1", "chat:c2")):
            assert refusal(agent, verb, named) == refusal(agent, verb, not_there)
    assert me.show(secret).source.title == "Doctor"


def refusal(agent, verb, id):
    with pytest.raises(NotFound) as refused:
        getattr(agent, verb)(id)
    return refused.value.message.replace(id, "it")


def test_ingest_by_an_agent_does_not_change_a_hidden_source_of_the_same_alias(me, secret):
    """Nor does it learn from a refusal that the name is taken: its own is kept beside it."""
    agent, before = me.agent("helper"), me.show(secret)
    for append in (False, True, True):
        said = chat(turn("Planner", f"Buy milk, {append}"))
        done = agent.ingest(said, external_id="c1", append=append)
        assert done.id != secret
        assert done.source.title == ""
        assert agent.show(done.id).passages[-1].text == f"Buy milk, {append}"
    assert len(agent.sources().sources) == 1
    assert me.show(secret) == before


def test_ingest_of_hidden_text_by_an_agent_stores_no_second_copy(me, secret):
    """An agent that syncs each night must not bring back what the owner has hidden."""
    done = me.agent("helper").ingest(TALK, external_id="c1", title="Doctor")
    assert (done.id, done.action) == (secret, "unchanged")
    assert (done.source.title, done.source.summary, done.source.participants) == ("", "", ())
    assert sees(me.agent("helper")) == set()


def test_ingest_again_with_high_sensitivity_hides_the_source(me):
    agent = me.agent("helper")
    done = me.ingest(TALK, external_id="c2")
    log = me.ingest(chat(turn("Dana", "Lithium, again")), external_id="log", append=True)
    assert sees(agent) == {done.id, log.id}
    again = me.ingest(TALK, external_id="c2", sensitivity="high")
    me.ingest(
        chat(turn("Ana", "For the mood", 1)), external_id="log", append=True, sensitivity="high"
    )
    assert (again.id, again.is_processed) == (done.id, True)
    assert sees(agent) == set()
    assert me.ingest(TALK, external_id="c2").action == "unchanged"
    assert len(me.show(log.id).passages) == 2


def test_changes_and_events_omit_a_sensitive_source_for_an_agent(me, secret, clock):
    agent = me.agent("helper")
    agent.changes()
    me.forget(secret)
    me.restore(secret)
    me.erase(secret)
    assert agent.changes().header == ""
    second = me.ingest(TALK, sensitivity="high").id
    me.forget(second)
    clock.tick(days=31)
    me.tidy()
    assert agent.changes().changes == ()
    assert second in {row["memory_id"] for row in me.events(limit=100)}
    assert second not in {row["memory_id"] for row in agent.events(limit=100)}


def numbers(handle):
    told = handle.stats(events=True)
    findings = {f.what: f.detail for f in handle.doctor()}
    return (
        (told.live, told.links, told.kinds, told.categories, told.states, told.operations),
        (told.sources, told.source_types, told.source_statuses, told.passages, told.jobs),
        {what: findings.get(what) for what in ("sources", "jobs", "vectors")},
    )


def test_stats_and_doctor_count_only_items_visible_to_the_agent(open_book):
    """Numbers of what is hidden would tell that it is there."""
    book = open_book(worker="off")
    me = book.user("ana")
    agent = me.agent("helper")
    me.ingest(chat(turn("Dana", "Green tea, please.")))
    me.remember("Dana likes green tea")
    before = numbers(agent)
    assert (agent.stats().sources, agent.stats().live) == (1, 1)
    secret = me.ingest(TALK, sensitivity="high", wait=False).id
    hidden = [
        me.remember(f"Dana {fact} green tea", kind="fact", sensitivity="high").id
        for fact in ("orders", "grows", "sells")
    ]
    me.remember("Be brief", kind="soul", agent_id="writer")
    assert numbers(agent) == before
    assert me.stats().sources == 2
    assert me.stats().live == 2 + len(hidden)
    assert me.stats().jobs == {"queued": 1}
    assert "2 with" in numbers(me)[2]["sources"]
    cleared = book.user("ana", cleared=True).agent("helper").stats()
    assert (cleared.sources, cleared.live) == (2, 1 + len(hidden))
    me.forget(secret)
    assert numbers(agent) == before


def test_recall_by_an_agent_is_unaffected_by_a_sensitive_source(me, secret):
    """What a question about Dana finds is the same with and without the hidden talk."""
    me.remember("Dana likes green tea")
    agent = me.agent("helper")
    with_it = [(hit.id, hit.text) for hit in agent.recall("What does Dana like?").hits]
    me.erase(secret)
    assert [(hit.id, hit.text) for hit in agent.recall("What does Dana like?").hits] == with_it
