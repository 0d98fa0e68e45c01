"""Reading page by page goes on whatever happens to what the last page ended with."""

import pytest

from commonplace import errors


def read_on(page_after, ids_of, between=lambda page: None):
    found, page = [], page_after(None)
    while True:
        found += ids_of(page)
        if page.next is None:
            return found
        between(page)
        page = page_after(page.next)


@pytest.mark.parametrize("gone", ["erased", "forgotten", "hidden"])
def test_list_cursor_survives_removal_of_the_last_item(me, clock, gone):
    ids = []
    for n in range(6):
        ids.append(me.remember(f"Note number {n}").id)
        clock.tick(minutes=1)
    away = {
        "erased": me.erase,
        "forgotten": me.forget,
        "hidden": lambda id: me.update(id, sensitivity="high"),
    }[gone]
    found = read_on(
        lambda after: me.list(limit=2, after=after),
        lambda page: [memory.id for memory in page.memories],
        lambda page: away(page.memories[-1].id),
    )
    assert found == ids[::-1]


def test_list_cursor_omits_no_items_of_one_batch_after_an_erase(me):
    """What is erased takes its place among them along: they are told again rather than lost."""
    ids = {each.id for each in me.remember_many([f"Note number {n}" for n in range(6)])}
    erased = []

    def erase_once(page):
        if not erased:
            erased.append(page.memories[-1].id)
            me.erase(erased)

    found = read_on(
        lambda after: me.list(limit=2, after=after),
        lambda page: [memory.id for memory in page.memories],
        erase_once,
    )
    assert set(found) == ids


def test_sources_cursor_survives_erase_of_the_last_source(me, clock):
    ids = []
    for n in range(5):
        ids.append(me.ingest(f"Tal: This is talk number {n}.").source.id)
        clock.tick(minutes=1)
    found = read_on(
        lambda after: me.sources(limit=2, after=after),
        lambda page: [source.id for source in page.sources],
        lambda page: me.erase(page.sources[-1].id),
    )
    assert found == ids[::-1]


def test_list_accepts_an_id_as_cursor(me, clock):
    first = me.remember("The gate is green").id
    clock.tick(minutes=1)
    second = me.remember("The roof leaks at the chimney").id
    assert [memory.id for memory in me.list(after=second).memories] == [first]
    with pytest.raises(errors.NotFound):
        me.list(after="nowhere")


def test_list_with_a_forged_cursor_reveals_nothing(me, book, clock):
    """Whatever the id in it is: an item of one's own that is hidden, another's, or nobody's."""
    hidden = me.remember("The alarm code is 7", sensitivity="high").id
    other = book.user("bob").remember("Bob's door code is 8").id
    clock.tick(minutes=1)
    me.remember("The gate is green")
    at = me.list(limit=1).memories[0].created_at.timestamp()
    words = [f"{int(at * 1_000_000) - 60_000_000}~{id}" for id in (hidden, other, "nowhere")]
    assert [me.list(after=word).memories for word in words] == [(), (), ()]


@pytest.mark.parametrize("who", ["owner", "agent"])
@pytest.mark.parametrize("view", ["events", "change_log"])
def test_events_and_change_log_pages_reach_the_end(me, who, view):
    for n in range(7):
        me.remember(f"Note number {n}", thread="t", sensitivity="high" if n % 2 else "normal")
    reader = me if who == "owner" else me.agent("helper")

    def rows(**more):
        return reader.events(**more) if view == "events" else reader.change_log("t", **more)

    whole = rows(limit=1000)
    found, after = [], None
    while page := rows(limit=2, after=after):
        found += page
        after = page[-1]["id"]
    assert found == whole
    assert len(found) >= (7 if who == "owner" else 4)


@pytest.mark.parametrize("after", ["nowhere", "bob/1", "{me}/x", "{me}/"])
def test_events_refuses_a_foreign_or_malformed_cursor(me, after):
    with pytest.raises(errors.NotFound) as refused:
        me.events(after=after.replace("{me}", me.principal.user_id))
    assert refused.value.field == "after"
