"""The same memories answer the same questions alike on both databases, to the last digit."""

import itertools
from dataclasses import replace

import pytest

import commonplace
from commonplace.api import Commonplace
from support.clock import Clock
from support.untraced import untraced

MEMORIES = (
    "The kettle in the kitchen is blue",
    "Dana bought a blue kettle in March",
    "Running shoes are in the hall closet",
    "She runs every morning before work",
    "The electricity bill was 500 shekels",
    "The water bill was 120 shekels",
    "Flight LY315 leaves at 07:45 on 12 May",
    "Never call Omer after 22:00",
    "החשבון של החשמל הוא 500 שקל",
    "דנה גרה בתל אביב ועובדת בבית חולים",
    "הפגישה עם רותי ביום שלישי",
    "東京タワーの近くのホテルを予約した",
    "我喜歡喝烏龍茶",
    "서울에서 회의가 있습니다",
    "Café Zoë serves crème brûlée",
    "The wifi password is tulip42",
)
QUERIES = (
    "blue kettle",
    "who runs in the morning?",
    "running",
    "electricity bill",
    "500",
    "LY315",
    "when may I not call Omer",
    "כמה עלה החשמל",
    "איפה דנה גרה",
    "東京 ホテル",
    "烏龍茶",
    "서울 회의",
    "creme brulee",
    "wifi",
    "nothing of the kind at all",
)


@pytest.fixture
def both(postgres, tmp_path):
    """The same time, the same ids, another database."""
    urls = (str(tmp_path / "memory.db"), postgres.database())
    clocks = [Clock() for _ in urls]
    books = [
        commonplace.open(url, embedder="hashing", clock=clock)
        for url, clock in zip(urls, clocks, strict=True)
    ]
    yield list(zip(map(numbered, books), clocks, strict=True))
    for book in books:
        book.close()
    postgres.give_back(urls[1])


def numbered(book: Commonplace) -> Commonplace:
    """Ids that count up, so that two books give the same ones."""
    numbers = itertools.count(1)
    return Commonplace(replace(book._engine, new_id=lambda: f"id-{next(numbers):04}"))


def live_through(book, clock):
    """Some months of a user, with everything that moves rows and index about."""
    me = book.user("ana")
    ids = []
    for text in MEMORIES:
        ids.append(me.remember(text, importance=1 + len(ids) % 5).id)
        clock.tick(days=3)
    me.recall("kettle")
    book.flush()  # or its line would come at another place in the journal
    me.forget([ids[1], ids[8]])
    me.update(ids[2], content="Running shoes are under the bed")
    me.update(ids[4], tags=["bill"], pinned=True)
    me.restore(ids[8])
    me.erase(ids[11])
    me.remember(MEMORIES[11], tags=["travel"])
    me.merge([ids[5], ids[6]])
    me.profile_set("city", "Tel Aviv")
    me.profile_set("city", "Haifa")
    me.remember_many([f"Batch item number {n} about the garden" for n in range(100)])
    book.flush()


def answers(book):
    me = untraced(book, "ana")
    asked = [me.recall(query, k=10, explain=True) for query in QUERIES]
    asked += [me.recall(query, filters={"importance_min": 3}, explain=True) for query in QUERIES]
    asked += [me.recall("garden item 7", k=50, budget_tokens=200, explain=True)]
    return asked


def test_recall_is_equal_on_both_databases(both):
    for book, clock in both:
        live_through(book, clock)
    on_sqlite, on_postgres = (answers(book) for book, _ in both)
    assert on_sqlite == on_postgres
    found = [answer for answer in on_sqlite if answer.hits]
    assert len(found) > len(QUERIES)
    assert all(hit.why and hit.parts for answer in found for hit in answer.hits)


def test_recall_finds_memories_in_each_language(both):
    for book, clock in both:
        live_through(book, clock)
        me = untraced(book, "ana")
        for query, text in (
            ("blue kettle", MEMORIES[0]),
            ("running", "Running shoes are under the bed"),
            ("איפה דנה גרה", MEMORIES[9]),
            ("東京 ホテル", MEMORIES[11]),
            ("烏龍茶", MEMORIES[12]),
            ("서울 회의", MEMORIES[13]),
            ("500", MEMORIES[4]),
        ):
            assert text in [hit.text for hit in me.recall(query).hits], query


def test_recall_after_import_equals_recall_before_export(both):
    """The cache that lived through it all and one loaded at once agree as well."""
    (lived, clock), (imported, other_clock) = both
    live_through(lived, clock)
    other_clock.now = clock.now
    imported.user("ana").import_(list(lived.user("ana").export()))
    assert answers(lived) == answers(imported)


def test_list_stats_journal_and_export_are_equal_on_both_databases(both):
    for book, clock in both:
        live_through(book, clock)
    told = []
    for book, _ in both:
        me = untraced(book, "ana")
        told.append(
            (
                me.list(limit=1000),
                me.stats(),
                me.profile(),
                me.changes("t", since=0),
                me.events(limit=1000),
                list(me.export()),
                me.verify_forget("TULIP42"),
            )
        )
    assert told[0] == told[1]
