"""Every list that can grow is read page by page: the next begins behind the last of the one before,
nothing is told twice, and nothing is left out."""

from datetime import timedelta

import pytest

from commonplace.errors import NotFound
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Changeset
from commonplace.model.journal import Entry, Op
from commonplace.model.model_calls import AskedToForget, ModelReading, SetReading
from commonplace.operations.table import OPERATIONS
from support.story_making import put_macro, put_storyline


@pytest.fixture
def me(open_book):
    """With work that waits, since nobody does it."""
    book = open_book(worker="off")
    me, dan = book.user("ana"), book.user("dan")
    for number in range(5):
        dan.sources_share(dan.ingest(f"Dan: It is {number}.").id, "ana")
        me.remember(f"Note {number}", kind="note", thread="monday")
        for value in ("1", "2"):
            me.remember(kind="kv", metadata={"subject": f"meter {number}", "value": value})
        me.agent(f"coach {number}").propose("city", f"Town {number}")
        me.ingest(f"Tal: It is {number}.", wait=False)
        me.nodes_add(f"Person {number}")
        me.nodes_add(f"Topic {number}", node_type="Concept")
        me.nodes_add(f"Firm {number}", node_type="Entity", type="organization")
        me.relate("me", f"Person {number}", "friend")
        me.artifacts_create(f"Draft {number}", "Dear all")
        told = me.ingest(f"Tal: Person {number} called.").id
        storyline = put_storyline(me, f"Person {number}", [told], f"Story {number}.")
        put_macro(me, f"Person {number}", [storyline], f"Macro {number}.")
        me.sleep(tasks=["notes"])
    ask_to_forget(book, me.ingest("Tal: Forget all that.").id)
    return me


def ask_to_forget(book, source):
    """As if a model had found five requests in it."""
    scope, now = Scope.of_user("ana"), book._engine.clock()
    requests = tuple(
        AskedToForget(f"request:{number}", f"note {number}", 1, now + timedelta(days=7))
        for number in range(5)
    )
    reading = ModelReading(scope.key, source, 1, "", "read_turns/1", now, requests=requests)
    entry = Entry(op=Op.UPDATE, subject=source)
    book._engine.store.apply(Changeset(scope, now, "worker:model", (SetReading(reading, entry),)))


def memories(me, **page):
    return [memory.id for memory in me.list(**page).memories]


def sources(me, **page):
    return [source.id for source in me.sources(**page).sources]


def nodes(page):
    return [node.id for node in page.nodes]


LISTS = {
    "people": lambda me, **page: nodes(me.people(**page)),
    "concepts": lambda me, **page: nodes(me.concepts(**page)),
    "entities": lambda me, **page: nodes(me.entities(**page)),
    "edges": lambda me, **page: [edge.id for edge in me.edges(**page).edges],
    "artifacts": lambda me, **page: [each.id for each in me.artifacts(**page).artifacts],
    "contributions": lambda me, **page: [each.id for each in me.contributions(**page)],
    "list": memories,
    "sources": sources,
    "sources invitations": lambda me, **page: [each.id for each in me.sources_invitations(**page)],
    "forget-requests": lambda me, **page: [each.id for each in me.forget_requests(**page)],
    "storylines": lambda me, **page: [each.id for each in me.storylines(**page).storylines],
    "macros": lambda me, **page: [each.id for each in me.macros(**page).macros],
    "sleep log": lambda me, **page: [each.id for each in me.sleep_log(**page)],
    "conflicts": lambda me, **page: [each.id for each in me.conflicts(**page)],
    "profile proposals": lambda me, **page: [each.id for each in me.proposals(**page)],
    "jobs": lambda me, **page: [each.id for each in me.jobs(**page)],
    "change-log": lambda me, **page: [each["id"] for each in me.change_log("monday", **page)],
    "events": lambda me, **page: [each["id"] for each in me.events(**page)],
}


def test_every_operation_with_a_limit_has_a_cursor():
    limited = {o.name for o in OPERATIONS if "limit" in {p.name for p in o.parameters}}
    assert limited == set(LISTS)
    for operation in OPERATIONS:
        if operation.name in limited:
            assert "after" in {p.name for p in operation.parameters}, operation.name


@pytest.mark.parametrize("name", LISTS)
def test_list_pages_add_up_to_the_whole_list(me, name):
    whole = LISTS[name](me, limit=1000)
    assert len(whole) >= 5
    pages, after = [], None
    while page := LISTS[name](me, limit=2, **({"after": after} if after else {})):
        assert len(page) <= 2
        pages += page
        after = page[-1]
    assert pages == whole


@pytest.mark.parametrize("name", LISTS)
def test_list_refuses_an_unknown_cursor(me, name):
    with pytest.raises(NotFound):
        LISTS[name](me, after="nowhere")


def test_change_log_refuses_a_hidden_entry_as_cursor_for_an_agent(me):
    """Else the answer would tell that it is there."""
    hidden = me.remember("Diagnosis: anaemia", sensitivity="high", thread="monday").id
    row = me.change_log("monday", limit=1)[0]
    assert row["memory_id"] == hidden
    with pytest.raises(NotFound):
        me.agent("planner").change_log("monday", after=row["id"])
