"""Sources, their originals and their passages, on both databases behind the port."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from threading import Barrier, Thread

import pytest

from commonplace.errors import StaleDecision
from commonplace.model.changeset import Bookkeeping, ClearScope, EnqueueJob, WithdrawJobs
from commonplace.model.filters import Visibility
from commonplace.model.journal import Entry, Event, Op
from commonplace.model.memory.memory import Sensitivity, State
from commonplace.model.sources.source import ProcessingStatus, SourceType
from commonplace.store.postgres.store import OWN_STATEMENTS
from commonplace.store.queries import (
    JobQuery,
    JournalQuery,
    PassagesByUnit,
    PassagesOf,
    SourceByAlias,
    SourceCount,
    SourceListing,
    SourcesById,
    UnembeddedQuery,
)
from support.clock import START
from support.making import ANA, BOB, EMBEDDER, a_job, a_memory, changeset, put
from support.processes import Child
from support.source_children import bring_in_at_once
from support.sources import a_source, altering, appending, bringing, ending, filling
from support.stores import SCOPED_TABLES, all_rows, raw

EVERY_BYTE = bytes(range(256)) * 3


def kept(store, source, texts=("The harbour is quiet", "A heron stands there"), **more):
    """In the store, with its passages; as it is now."""
    store.apply(changeset(bringing(source)))
    step = filling(source, texts, **more)
    store.apply(changeset(step))
    return step.after


def page_of(store, scope=ANA):
    return store.index_page(scope, 0, -1)


def units(store, scope=ANA):
    return [passage.unit for passage in page_of(store, scope).passages]


def loose_ends(store, scope=ANA):
    return {what: n for what, n in store.statistics(scope).loose_ends.items() if n}


# ——— what is brought in ———


def test_source_round_trips_every_field_for_the_owner_only(store):
    source = a_source(
        title="Birds",
        summary="A heron.",
        keywords=("heron",),
        tags=("nature", "harbour"),
        participants=("ana", "Dana"),
        provenance={"format": "conversation", "deep": {"er": [1, None]}},
        thread_id="main",
        started_at=START - timedelta(days=1),
        ended_at=START,
        digest="abc",
    )
    store.apply(changeset(bringing(source)))
    assert store.sources(ANA, SourcesById([source.id, "source:none", source.id])) == [source]
    assert store.sources(ANA, SourceByAlias("test", "talk 1")) == [source]
    assert store.sources(BOB, SourcesById([source.id])) == []
    assert store.sources(BOB, SourceByAlias("test", "talk 1")) == []
    assert store.original(BOB, source.id) == []
    assert store.sources(BOB, SourceListing()) == []


def test_originals_round_trip_every_byte_part_by_part(store):
    source = a_source()
    store.apply(changeset(bringing(source, EVERY_BYTE)))
    step = appending(source, b"\x00second\xff")
    store.apply(changeset(step))
    store.apply(changeset(appending(step.after, EVERY_BYTE[::-1])))
    assert store.original(ANA, source.id) == [EVERY_BYTE, b"\x00second\xff", EVERY_BYTE[::-1]]
    assert loose_ends(store) == {}


def test_passages_keep_order_and_are_found_by_unit(store):
    source = kept(store, a_source(), ["one", "two", "three"])
    more = filling(source, ["four"])
    store.apply(changeset(more))
    listed = list(store.passages(ANA, PassagesOf(source.id)).items())
    assert [passage.text for _, passage in listed] == ["one", "two", "three", "four"]
    assert [passage.id for _, passage in listed] == [f"{source.id}#{n}" for n in (1, 2, 3, 4)]
    assert list(store.passages(ANA, PassagesOf(source.id, 2, 3)).values()) == [
        p for _, p in listed[1:3]
    ]
    assert store.passages(ANA, PassagesByUnit([unit for unit, _ in listed])) == dict(listed)
    assert store.passages(BOB, PassagesByUnit([unit for unit, _ in listed])) == {}
    assert loose_ends(store) == {}


def test_passages_are_replaced_and_the_original_is_kept_unless_replaced(store):
    source = kept(store, a_source(), ["one", "two"])
    anew = filling(source.evolve(passages=0), ["eins"])
    store.apply(changeset(replace(anew, before=source, anew=True)))
    assert [p.text for p in store.passages(ANA, PassagesOf(source.id)).values()] == ["eins"]
    assert store.original(ANA, source.id) == [b"raw"]
    again = altering(anew.after, passages=0, parts=1, status=ProcessingStatus.RAW)
    store.apply(changeset(replace(again, anew=True, original=b"other")))
    assert store.passages(ANA, PassagesOf(source.id)) == {}
    assert store.original(ANA, source.id) == [b"other"]
    assert loose_ends(store) == {}


def test_source_removal_removes_only_rows_of_that_source(store, store_url):
    other = kept(store, a_source("talk 2"), ["what stays"])
    put(store, [a_memory("What stays")])
    before = all_rows(store_url)
    source = kept(store, a_source(thread_id="main"))
    store.apply(changeset(ending(source)))
    after = all_rows(store_url)
    for table in ("sources", "originals", "passages", "terms", "vectors", "memories"):
        assert after[table] == before[table], table
    assert store.sources(ANA, SourcesById([other.id, source.id])) == [other]
    assert loose_ends(store) == {}


def test_source_erase_leaves_no_text_in_the_journal(store):
    source = a_source(thread_id="secret thread")
    store.apply(changeset(bringing(source), thread_id="secret thread"))
    store.apply(changeset(filling(source, ["a"]), thread_id="secret thread"))
    now_is = store.sources(ANA, SourcesById([source.id]))[0]
    store.apply(changeset(ending(now_is)))
    rows = store.journal(ANA, JournalQuery(subject=source.id))
    assert [row.entry.event for row in rows] == [Event.ADD, Event.UPDATE, Event.ERASE]
    assert {(row.thread_id, str(row.entry.meta)) for row in rows} == {(None, "{}")}
    # The engine's own word stays with the last line: it says who may hear of it.
    assert [row.entry.category for row in rows] == [None, None, "history"]


# ——— who was faster ———


def test_source_change_on_an_old_version_is_refused_and_writes_nothing(store, store_url):
    source = kept(store, a_source())
    stale = [
        altering(source.evolve(version=source.version - 1), title="Late"),
        filling(source.evolve(version=source.version - 1), ["late"]),
        appending(source.evolve(version=source.version + 7), b"late"),
        replace(altering(source.evolve(version=1), passages=0), anew=True, original=b"late"),
    ]
    before = all_rows(store_url)
    for step in stale:
        with pytest.raises(StaleDecision):
            store.apply(changeset(step))
    assert all_rows(store_url) == before


def test_source_change_after_removal_is_refused(store):
    source = kept(store, a_source())
    store.apply(changeset(ending(source)))
    with pytest.raises(StaleDecision):
        store.apply(changeset(altering(source, title="Late")))


def test_source_alias_is_unique_per_origin_and_scope(store, store_url):
    store.apply(changeset(bringing(a_source())))
    before = all_rows(store_url)
    with pytest.raises(StaleDecision):
        store.apply(changeset(bringing(a_source())))
    assert all_rows(store_url) == before
    store.apply(changeset(bringing(a_source(origin="elsewhere"))))
    store.apply(changeset(bringing(a_source(user_id="bob")), scope=BOB))


def test_source_alias_claimed_by_concurrent_threads_goes_to_one(store, store_url):
    barrier, outcomes = Barrier(4), []

    def bring_in():
        barrier.wait(30)
        try:
            store.apply(changeset(bringing(a_source())))
            outcomes.append("first")
        except StaleDecision:
            outcomes.append("late")

    threads = [Thread(target=bring_in) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["first", "late", "late", "late"]
    assert len(raw(store_url, "SELECT id FROM sources")) == 1
    assert loose_ends(store) == {}


def test_source_alias_claimed_by_concurrent_processes_goes_to_one(store, store_url):
    with Child(bring_in_at_once, store_url) as one, Child(bring_in_at_once, store_url) as two:
        assert [one.hear(), two.hear()] == ["ready", "ready"]
        one.tell("go")
        two.tell("go")
        assert sorted(one.rest() + two.rest()) == ["first"] * 3 + ["late"] * 3
    assert len(store.sources(ANA, SourceListing())) == 3


# ——— pages ———


def test_source_listing_filters_and_pages_newest_first(store):
    made = [
        a_source("old", created_at=START - timedelta(days=2), source_type=SourceType.EMAIL),
        a_source("mid", created_at=START - timedelta(days=1), tags=("trip",), thread_id="t"),
        a_source("new", status=ProcessingStatus.PROCESSED, sensitivity=Sensitivity.HIGH),
        a_source("gone", state=State.SOFT_DELETED, purge_at=START + timedelta(days=30)),
        a_source("said", started_at=START - timedelta(days=9), ended_at=START - timedelta(days=8)),
    ]
    store.apply(changeset(*map(bringing, made)))
    names = {source.id: source.external_id for source in made}

    def listed(**asked):
        asked.setdefault("visibility", Visibility(cleared=True))
        return [names[s.id] for s in store.sources(ANA, SourceListing(**asked))]

    assert listed()[-2:] == ["mid", "old"]
    assert set(listed()) == {"new", "said", "mid", "old"}
    assert "new" not in listed(visibility=Visibility())
    assert listed(types=("email",)) == ["old"]
    assert listed(statuses=("processed",)) == ["new"]
    assert listed(tags=("trip", "nothing")) == ["mid"]
    assert listed(thread_id="t") == ["mid"]
    assert listed(origin="nowhere") == []
    assert listed(states=(State.SOFT_DELETED,)) == ["gone"]
    gone = {"states": (State.SOFT_DELETED,)}
    assert listed(**gone, purgeable_by=START) == []
    assert listed(**gone, purgeable_by=START + timedelta(days=30)) == ["gone"]
    assert listed(**gone, restorable_at=START + timedelta(days=30)) == []
    week = START - timedelta(days=7)
    assert listed(said_before=week) == ["said"]
    assert set(listed(said_after=week)) == {"new", "mid", "old"}
    one_by_one, after = [], None
    while page := store.sources(
        ANA, SourceListing(visibility=Visibility(cleared=True), limit=1, after=after)
    ):
        one_by_one.append(names[page[0].id])
        after = (page[0].created_at, page[0].id)
    assert one_by_one == listed()


# ——— what the index hears ———


def test_index_page_holds_sources_and_passages_since_the_last_seq(store):
    source = kept(store, a_source(title="Birds", tags=("nature",)), ["one", "two"])
    whole = page_of(store)
    assert [told.id for told in whole.sources] == [source.id]
    assert [passage.number for passage in whole.passages] == [1, 2]
    assert {unit for unit, *_ in whole.terms} == set(units(store))
    assert {unit for unit, _ in whole.vectors} == set(units(store))
    known = whole.counters
    assert store.index_page(ANA, known.seq, known.epoch).passages == ()
    store.apply(changeset(filling(source, ["three"])))
    more = store.index_page(ANA, known.seq, known.epoch)
    assert more.counters.epoch == known.epoch
    assert [passage.number for passage in more.passages] == [3]
    assert len(more.terms) == len(more.vectors) == 1


def test_index_page_reports_a_forgotten_source_and_restored_passages(store):
    source = kept(store, a_source())
    known = page_of(store).counters
    away = altering(source, state=State.SOFT_DELETED, purge_at=START)
    store.apply(changeset(away))
    told = store.index_page(ANA, known.seq, known.epoch)
    assert [(each.id, each.state) for each in told.sources] == [(source.id, "soft_deleted")]
    whole = page_of(store)
    assert (list(whole.sources), list(whole.passages)) == ([], [])
    store.apply(changeset(altering(away.after, state=State.ACTIVE, purge_at=None)))
    back = store.index_page(ANA, whole.counters.seq, whole.counters.epoch)
    assert [passage.number for passage in back.passages] == [1, 2]
    assert len(back.terms) == len(back.vectors) == 2


def test_source_erase_increments_the_epoch(store):
    source = kept(store, a_source())
    epoch = store.counters(ANA).epoch
    store.apply(changeset(ending(source)))
    assert store.counters(ANA).epoch == epoch + 1


def test_index_page_reports_replaced_passages_by_first_unit(store):
    source = kept(store, a_source())
    known = store.counters(ANA)
    emptied = replace(altering(source, passages=0, status=ProcessingStatus.RAW), anew=True)
    store.apply(changeset(emptied))
    [told] = store.index_page(ANA, known.seq, known.epoch).sources
    assert told.first_unit > known.units
    store.apply(changeset(filling(emptied.after, ["A stork", "A crane"])))
    page = store.index_page(ANA, known.seq, known.epoch)
    assert page.sources[0].first_unit == known.units
    assert [passage.unit for passage in page.passages] == [known.units, known.units + 1]
    assert page.counters.epoch == known.epoch


# ——— vectors and terms that come late ———


def test_record_of_late_passage_vectors_matches_by_unit(store):
    source = kept(store, a_source(), ["one", "two"], vectors=False)
    waiting = store.unembedded(ANA, UnembeddedQuery(10)).passages
    assert [text for _, text in waiting] == ["Dana: one", "Dana: two"]
    assert len(store.unembedded(ANA, UnembeddedQuery(1)).passages) == 1
    known = page_of(store).counters
    row = EMBEDDER.embed(["one"])[0].astype("<f4").tobytes()
    first = waiting[0][0]
    store.record(Bookkeeping(ANA, START, passage_vectors={first: row, 999: row}))
    assert [unit for unit, _ in store.unembedded(ANA, UnembeddedQuery(10)).passages] == [
        waiting[1][0]
    ]
    told = store.index_page(ANA, known.seq, known.epoch)
    assert told.counters.revision == known.revision
    assert list(told.vectors) == [(first, row)]
    store.apply(changeset(ending(store.sources(ANA, SourcesById([source.id]))[0])))
    store.record(Bookkeeping(ANA, START, passage_vectors={first: row}))
    assert page_of(store).vectors == []  # the text is gone: so is its vector


def test_record_of_a_late_passage_vector_never_reaches_another_scope(store):
    kept(store, a_source(), ["one"], vectors=False)
    store.apply(changeset(bringing(a_source(user_id="bob")), scope=BOB))
    row = EMBEDDER.embed(["one"])[0].astype("<f4").tobytes()
    store.record(Bookkeeping(BOB, START, passage_vectors={units(store)[0]: row}))
    assert len(store.unembedded(ANA, UnembeddedQuery(10)).passages) == 1


# ——— counting, looking for words, erasing all ———


def test_source_statistics_count_sources_and_report_rows_without_counterpart(store, store_url):
    source = kept(store, a_source())
    kept(store, a_source("mail", source_type=SourceType.EMAIL), ["one"])
    store.apply(changeset(bringing(a_source("waits"))))
    assert store.statistics(ANA).sources == (
        SourceCount("chat", "processed", "active", 1, 2),
        SourceCount("chat", "raw", "active", 1, 0),
        SourceCount("email", "processed", "active", 1, 1),
    )
    assert loose_ends(store) == {}
    unit = units(store)[0]
    for damage, seen in (
        (f"DELETE FROM terms WHERE unit = {unit}", "passages without terms"),
        (f"DELETE FROM originals WHERE id = '{source.id}'", "sources without their whole original"),
        (
            f"DELETE FROM passages WHERE id = '{source.id}' AND number = 2",
            "sources with a wrong number of passages",
        ),
    ):
        raw(store_url, damage)
        assert seen in loose_ends(store)
    raw(store_url, f"DELETE FROM sources WHERE id <> '{source.id}'")
    assert {"passages without a source", "originals without a source"} <= loose_ends(store).keys()


@pytest.mark.parametrize(
    ("field", "table"),
    [
        ({"title": "zebrafish"}, "sources"),
        ({"keywords": ("zebrafish",)}, "sources"),
        ({"provenance": {"deep": ["Zebrafish"]}}, "sources"),
        ({"external_id": "zebrafish"}, "sources"),
        ({"thread_id": "zebrafish"}, "sources"),
    ],
)
def test_mentions_finds_a_text_in_every_column_of_a_source(store, field, table):
    store.apply(changeset(bringing(a_source(**field))))
    assert store.mentions(ANA, "ZEBRAFISH") == [table]
    assert store.mentions(BOB, "zebrafish") == []


def test_mentions_finds_a_text_in_passages_terms_and_originals(store):
    source = a_source()
    store.apply(changeset(bringing(source, b"\xff raw Zebrafish \x00")))
    assert store.mentions(ANA, "zebrafish") == ["originals"]
    store.apply(changeset(filling(source, ["A zebrafish swims"])))
    assert set(store.mentions(ANA, "zebrafish")) == {"terms", "passages", "originals"}
    store.apply(changeset(ending(store.sources(ANA, SourcesById([source.id]))[0])))
    assert store.mentions(ANA, "zebrafish") == []


def test_clear_scope_removes_sources_of_that_scope_only(store, store_url):
    kept(store, a_source())
    job = a_job(key="source:1")
    store.apply(changeset(EnqueueJob(job)))
    bobs = a_source(user_id="bob")
    store.apply(changeset(bringing(bobs), scope=BOB))
    store.apply(changeset(filling(bobs, ["bob's"]), scope=BOB))
    everything = ClearScope(Entry(op=Op.DELETE, event=Event.ERASE))
    store.apply(changeset(everything))
    for table in ("sources", "originals", "passages", "terms", "vectors", "jobs"):
        assert raw(store_url, f"SELECT 1 FROM {table} WHERE scope = ?", ANA.key) == [], table
    assert [p.text for p in store.passages(BOB, PassagesOf(bobs.id)).values()] == ["bob's"]
    assert loose_ends(store, BOB) == {}


def test_withdraw_jobs_by_key_keeps_other_jobs(store):
    store.apply(changeset(EnqueueJob(a_job(key="source:1")), EnqueueJob(a_job(key="source:2"))))
    store.apply(changeset(WithdrawJobs(("source:1",))))
    assert [job.key for job in store.jobs(ANA, JobQuery())] == ["source:2"]


def test_postgresql_vacuum_covers_every_table_with_user_text():
    """PostgreSQL compacts table by table, so that the list could miss one; SQLite the whole file.
    That no byte is left is proved with the files themselves."""
    wordless = {"scopes", "receipts"}
    compacted = set(re.findall(r"[a-z_]+", OWN_STATEMENTS["vacuum"].partition(")")[2]))
    assert compacted == set(SCOPED_TABLES) - wordless
