"""What a model cannot read as a whole is read in smaller parts; what it cannot read, by another."""

from __future__ import annotations

import re

import pytest

from commonplace.language.llm.language_model import ModelAnswer, ModelDown, TokenCount
from commonplace.store.queries import JobQuery, JournalQuery
from support.findings import memory, source, turns
from support.model_server import (
    TOO_LONG,
    at_most,
    model_server,
    refuse_too_long,
    text,
    truncated,
)

FACTS = ("my cat is called Tom", "my bike is a Koga", "my boat is the Astrid", "my tent is red")
PARAGRAPHS = [f"Chapter {n}. " + f"The kiln number {n} is hot. " * 8 for n in range(1, 9)]


@pytest.fixture
def server():
    with model_server(turns()) as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


@pytest.fixture
def book(open_book, server, protocol):
    return opened(open_book, server, protocol)


def opened(open_book, server, protocol="openai", name="stub", **more):
    return open_book(
        model=f"{protocol}:{name}",
        model_url=server.url,
        extraction="auto",
        worker="off",
        tidy_on_open=False,
        **more,
    )


def say_all(me):
    for each in FACTS:
        me.observe(f"btw {each}", thread="t")


def asked_about(user):
    """The new passages of a prompt, by number."""
    new = user.partition("\nturns:\n")[2]
    return [int(number) for number in re.findall(r'"passage": ?(\d+)', new)]


def found_in(asked):
    """A memory for each fact that is new in the prompt."""
    numbers = asked_about(asked.user)
    known = [(n, FACTS[n - 1]) for n in numbers]
    return turns(*(memory(n, fact, f"The user says {fact}.") for n, fact in known))


def read_of(me):
    """The journal's rows about windows: who read how many passages, and what came of asking."""
    me._engine.access_log.flush()
    rows = me._engine.store.journal(me.principal.scope, JournalQuery())
    metas = [row.entry.meta for row in rows if "read_by" in row.entry.meta]
    return [
        (meta["read_by"], meta["outcome"], meta["passages"])
        for meta in metas
        if "passages" in meta  # not those about near memories
    ]


def reading(me):
    (source,) = me.sources().sources
    return me._engine.store.model_readings(me.principal.scope, [source.id])[0]


def skipped(me):
    return [(each.first, each.last) for each in reading(me).skipped]


def owed(me):
    return me._engine.store.jobs(me.principal.scope, JobQuery(kinds=["read"]))


def contents(me):
    return {item.content for item in me.list(limit=100).memories}


# ——— a prompt that is too long ———


def test_a_prompt_that_is_too_long_is_asked_with_fewer_passages(book, me, server):
    server.answer = lambda asked: (
        found_in(asked) if len(asked_about(asked.user)) <= 2 else TOO_LONG_FOR[asked.is_anthropic]
    )
    say_all(me)
    book.work(once=True)
    assert {f"The user says {fact}." for fact in FACTS} <= contents(me)
    assert read_of(me) == [("model", "answered", 2), ("model", "answered", 2)]
    assert not skipped(me)
    assert not owed(me)


TOO_LONG_FOR = {False: refuse_too_long("openai"), True: refuse_too_long("anthropic")}


def test_context_is_left_out_before_passages(book, me, server):
    server.answer = found_in
    me.observe(f"btw {FACTS[0]}", thread="t")
    book.work(once=True)
    server.answer = lambda asked: (
        TOO_LONG_FOR[asked.is_anthropic] if "Tom" in asked.user else found_in(asked)
    )
    me.observe(f"btw {FACTS[1]}", thread="t")
    book.work(once=True)
    assert f"The user says {FACTS[1]}." in contents(me)
    assert read_of(me)[-1] == ("model", "answered", 1)


def test_one_passage_that_is_too_long_is_skipped_and_the_source_goes_on(book, me, server):
    server.answer = lambda asked: (
        TOO_LONG_FOR[asked.is_anthropic] if 2 in asked_about(asked.user) else found_in(asked)
    )
    say_all(me)
    book.work(once=True)
    told = {fact for fact in FACTS if f"The user says {fact}." in contents(me)}
    assert told == {FACTS[0], FACTS[2], FACTS[3]}
    assert ("rules", "too_long", 1) in read_of(me)
    assert skipped(me) == [(2, 2)]
    assert not owed(me)


@pytest.mark.parametrize("told", TOO_LONG)
def test_however_a_server_says_it_a_long_file_is_read_to_its_end(open_book, server, told):
    book = opened(open_book, server)
    me = book.user("ana")
    server.answer = lambda asked: source() if len(asked.user) < 2_500 else refuse_too_long(told)
    me.ingest("\n\n".join(PARAGRAPHS), format="text", external_id="long")
    book.work(once=True)
    kept = me.sources().sources[0].passages
    assert reading(me).passages == kept
    assert {outcome for _, outcome, _ in read_of(me)} == {"answered"}
    assert not owed(me)


def test_too_long_for_every_window_ends_with_the_rules_reading(book, me, server):
    server.answer = at_most(10, turns())
    say_all(me)
    before = contents(me)
    book.work(once=True)
    assert contents(me) == before
    assert skipped(me) == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert not owed(me)


# ——— an answer that cannot be used ———


def test_a_cut_answer_is_asked_for_in_two_halves(book, me, server):
    server.answer = lambda asked: (
        found_in(asked) if len(asked_about(asked.user)) <= 2 else truncated(found_in(asked))
    )
    say_all(me)
    book.work(once=True)
    assert {f"The user says {fact}." for fact in FACTS} <= contents(me)
    assert not skipped(me)


def test_a_window_is_split_once_and_then_skipped(book, me, server):
    server.answer = text("{not JSON")
    say_all(me)
    book.work(once=True)
    # The whole and its repair, then the half and its repair; the rest in the same way.
    assert read_of(me) == [
        ("rules", "malformed", 2),
        ("rules", "malformed", 1),
        ("rules", "malformed", 1),
    ]
    assert skipped(me) == [(1, 2), (3, 3), (4, 4)]
    assert not owed(me)


def broken_then(open_book, server, clock, change):
    """Says everything to a model that answers nothing, and tidies the store after a change."""
    server.answer = text("{not JSON")
    with opened(open_book, server) as book:
        me = book.user("ana")
        say_all(me)
        book.work(once=True)
        assert skipped(me)
    server.requests.clear()
    server.answer = found_in
    clock.tick(days=2)
    book = change()
    book.user("ana").tidy()
    book.work(once=True)
    return book.user("ana"), sum(each.schema_name == "read_turns" for each in server.requests)


def test_another_model_reads_what_one_could_not(open_book, server, clock):
    def change():
        return opened(open_book, server, name="better")

    me, asked = broken_then(open_book, server, clock, change)
    assert {f"The user says {fact}." for fact in FACTS} <= contents(me)
    assert asked == 3
    assert not skipped(me)
    assert reading(me).passages == len(FACTS)
    assert not owed(me)


def test_the_same_model_is_not_asked_again_by_itself(open_book, server, clock):
    me, asked = broken_then(open_book, server, clock, lambda: opened(open_book, server))
    assert asked == 0
    assert skipped(me)
    assert me.extract().to_read == 0


def test_the_same_model_is_asked_again_on_request(open_book, server, clock):
    me, _ = broken_then(open_book, server, clock, lambda: opened(open_book, server))
    me.extract([me.sources().sources[0].id])
    assert len(owed(me)) == 1


def test_a_file_that_was_read_around_a_gap_is_whole_again(open_book, server, clock):
    server.answer = text("{not JSON")
    with opened(open_book, server) as book:
        me = book.user("ana")
        me.ingest("\n\n".join(PARAGRAPHS), format="text", external_id="long")
        book.work(once=True)
        kept, heard = reading(me).passages, set(reading(me).heard)
        assert skipped(me)
    server.answer = source()
    book = opened(open_book, server, name="better")
    me = book.user("ana")
    assert me.extract().to_read == 1
    assert me.extract().to_read == 0  # it is queued
    book.work(once=True)
    assert reading(me).passages == kept
    assert heard <= set(reading(me).heard)
    assert not skipped(me)


# ——— summaries ———


def test_a_summary_is_asked_for_with_half_of_the_text(open_book, server):
    book = opened(open_book, server)
    me = book.user("ana")
    lengths = []

    def answer(asked):
        if "summar" not in asked.schema_name:
            return source()
        lengths.append(len(asked.user))
        if len(lengths) == 1:
            return refuse_too_long()
        return {
            "title": "Kilns",
            "summary": "The kilns of the pottery are hot.",
            "keywords": ["kiln", "chapter", "hot", "number"],
            "tags": ["kiln"],
        }

    server.answer = answer
    me.ingest("\n\n".join(PARAGRAPHS), format="text", external_id="long")
    book.work(once=True)
    assert len(lengths) == 2
    assert lengths[1] < lengths[0]
    assert not me._engine.store.jobs(me.principal.scope, JobQuery(kinds=["summarise"]))


def test_a_summary_that_is_too_long_twice_leaves_that_of_the_rules(open_book, server):
    book = opened(open_book, server)
    me = book.user("ana")
    server.answer = lambda asked: refuse_too_long() if "summar" in asked.schema_name else source()
    done = me.ingest("\n\n".join(PARAGRAPHS), format="text", external_id="long")
    book.work(once=True)
    assert me.show(done.source.id).source.summary
    assert not me._engine.store.jobs(me.principal.scope, JobQuery(kinds=["summarise"]))


# ——— a model that is too slow ———


class SlowModel:
    """Answers in time about two turns, and about no more."""

    name = "slow"

    def complete(self, request):
        user = request.messages[-1].content
        numbers = asked_about(user)
        if len(numbers) > 2:
            raise ModelDown("took too long")
        found = [memory(n, FACTS[n - 1], f"The user says {FACTS[n - 1]}.") for n in numbers]
        return ModelAnswer(turns(*found), "", TokenCount(1, 1))


def test_a_model_is_asked_about_less_each_time_it_does_not_answer(open_book, clock):
    book = open_book(model=SlowModel(), extraction="auto", worker="off", tidy_on_open=False)
    me = book.user("ana")
    say_all(me)
    for _ in range(8):
        book.work(once=True)
        clock.tick(hours=1)
    assert {f"The user says {fact}." for fact in FACTS} <= contents(me)
    assert not owed(me)
