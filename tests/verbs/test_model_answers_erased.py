"""What language models answered follows the texts that it is about, through every verb."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from commonplace.engine.llm.model_calls import ask_model
from commonplace.engine.llm.usage import report_usage
from commonplace.model.access.principal import Scope
from commonplace.model.changeset import Bookkeeping
from support.making import ANA, BOB, changeset
from support.models import (
    ToldModel,
    a_kept_answer,
    a_prompt,
    a_reading,
    keeping,
    reading,
    saying,
    with_model,
)
from support.settled import settled

MEETING = "Bob: The gate code is 4711.\nEve: I will bring the ladder."
FOUND = '{"memories":[{"text":"The code of the gate is four seven one one"}]}'
PARAPHRASE = "four seven one one"  # no word of it is in the source


def keep(book, scope, digest, source=None, answer=FOUND):
    store, at = book._engine.store, book._engine.clock()
    kept = a_kept_answer(answer, source=source, digest=digest, at=at)
    erasures = store.counters(scope).erasures
    store.record(Bookkeeping(scope, at, model_answers=(keeping(kept, erasures),)))


def kept_digests(book, scope=ANA):
    return {d for d in "abc" if book._engine.store.model_answer(scope, d) is not None}


def read_by_a_model(book, source, scope=ANA, owner=ANA):
    """Three answers, and how far it was read."""
    store = book._engine.store
    (stored,) = book._engine.live_sources(owner, [source])
    keep(book, scope, "a", source)
    keep(book, scope, "b", "source:another", "{}")
    keep(book, scope, "c", answer="{}")
    made = a_reading(source, source_scope=owner.key, digest=stored.digest)
    store.apply(changeset(reading(made), scope=scope, at=book._engine.clock()))
    return made


@pytest.fixture
def source(me, book):
    id = me.ingest(MEETING, format="transcript", wait=True).id
    settled(book)
    return id


def test_erase_of_a_source_takes_its_model_answers_and_reading(book, me, source):
    read_by_a_model(book, source)
    assert me.verify_forget(PARAPHRASE).found_in == ("model_answers",)
    me.erase(source)
    assert kept_digests(book) == {"b"}
    assert book._engine.store.model_readings(ANA) == []
    assert me.verify_forget(PARAPHRASE).clean


def test_forget_of_a_source_keeps_its_model_answers_until_it_is_purged(book, me, source, clock):
    before = read_by_a_model(book, source)
    me.forget(source)
    assert kept_digests(book) == {"a", "b", "c"}
    me.restore(source)
    assert book._engine.store.model_readings(ANA) == [before]
    clock.tick(days=1)
    me.forget(source)
    clock.tick(days=31)
    keep(book, ANA, "b", "source:another", "{}")
    me.tidy()
    assert kept_digests(book) == {"b"}
    assert book._engine.store.model_readings(ANA) == []


def test_erase_of_a_passage_takes_model_answers_and_leaves_the_rest_read(book, me, source):
    before = read_by_a_model(book, source)
    me.erase(f"{source}#1")
    assert kept_digests(book) == {"b"}
    (after,) = book._engine.store.model_readings(ANA)
    (stored,) = book._engine.live_sources(ANA, [source])
    assert after.digest == stored.digest != before.digest
    assert (after.passages, after.at) == (before.passages, before.at)


def test_forget_of_a_passage_keeps_model_answers(book, me, source):
    read_by_a_model(book, source)
    me.forget(f"{source}#1")
    assert kept_digests(book) == {"a", "b", "c"}


def test_erase_of_a_memory_takes_answers_that_say_it_even_where_its_turn_stays(book, me, source):
    id = me.remember("The gate code is 4711", evidence=[f"{source}#1"]).memory.id
    keep(book, ANA, "a", source, '{"memories":[{"text":"The gate code is 4711."}]}')
    keep(book, ANA, "b", source, '{"memories":[]}')
    keep(book, ANA, "c", answer="{}")
    me.erase(id, keep_evidence=True)
    assert kept_digests(book) == {"b"}


def test_erase_user_takes_all_of_language_models(book, me, source):
    read_by_a_model(book, source)
    engine = with_model(book, ToldModel(saying({})))
    from_the_model(engine)
    me.erase_user()
    store = book._engine.store
    assert kept_digests(book) == set()
    assert (store.model_usage(ANA), store.model_readings(ANA)) == ([], [])


def from_the_model(engine):
    return ask_model(engine, ANA, a_prompt(), {"text": "The lamp is green"})


def shown_by(engine, days=30):
    return report_usage(engine, ANA, days)


# ——— sources of a team ———


@pytest.fixture
def team(book):
    """Ana and Bob, and a source of their team's that models have read for Bob."""
    ana, bob = book.user("ana"), book.user("bob")
    made = ana.teams_create("garden").id
    ana.teams_invite(made, "bob")
    bob.teams_join(made)
    source = ana.ingest(MEETING, format="transcript", team=made, wait=True).id
    settled(book)
    read_by_a_model(book, source, BOB, Scope.of_team(made))
    return ana, bob, source


def test_erase_of_a_team_source_takes_the_answers_of_every_member(book, team):
    ana, bob, source = team
    ana.erase(source)
    assert kept_digests(book, BOB) == {"b"}
    assert book._engine.store.model_readings(BOB) == []
    assert bob.verify_forget(PARAPHRASE).clean


def test_erase_of_a_team_source_takes_the_answers_of_a_former_member(book, team):
    ana, bob, source = team
    bob.teams_leave("garden")
    ana.erase(source)
    assert kept_digests(book, BOB) == {"b"}


def test_erase_of_a_passage_of_a_team_takes_the_answers_of_every_member(book, team):
    ana, _, source = team
    ana.erase(f"{source}#1")
    assert kept_digests(book, BOB) == {"b"}
    (after,) = book._engine.store.model_readings(BOB)
    (stored,) = book._engine.live_sources(Scope.of_team(ana.teams()[0].id), [source])
    assert after.digest == stored.digest


def test_deleting_a_team_takes_the_answers_about_its_sources(book, team):
    ana, bob, _ = team
    ana.teams_delete("garden")
    assert "a" not in kept_digests(book, BOB)
    assert bob.verify_forget(PARAPHRASE).clean


# ——— time and export ———


def test_tidy_deletes_old_model_answers(book, me, clock):
    me.remember("The lamp is green")
    keep(book, ANA, "a", "source:1")
    clock.tick(days=29)
    keep(book, ANA, "b", "source:1")
    me.tidy()
    assert kept_digests(book) == {"a", "b"}
    clock.tick(days=2)
    me.tidy()
    assert kept_digests(book) == {"b"}


def test_export_has_no_model_answers_or_usage(book, me, source):
    without = list(me.export())
    read_by_a_model(book, source)
    from_the_model(with_model(book, ToldModel(saying({}))))
    added = [json.loads(line)["type"] for line in set(me.export()) - set(without)]
    assert sorted(added) == ["journal", "reading"]  # how far it was read, and by whom


# ——— the usage ———


def test_model_usage_lists_days_with_costs(open_book, clock):
    book = open_book()
    me = book.user("ana")
    assert not me.model_usage().usage
    model = ToldModel(saying({}, read=2_000_000, written=1_000_000))
    engine = with_model(book, model, read_price=0.25, written_price=2.0, daily_tokens=9_000_000)
    from_the_model(engine)
    clock.tick(days=1)
    from_the_model(engine)
    shown = shown_by(engine)
    assert [(row.day, row.calls, row.cached, row.cost) for row in shown.usage] == [
        ((clock()).date().isoformat(), 0, 1, 0.0),
        ((clock() - timedelta(days=1)).date().isoformat(), 1, 0, 2.5),
    ]
    assert (shown.cost, shown.tokens_today, shown.daily_tokens) == (2.5, 0, 9_000_000)
    assert [row.day for row in shown_by(engine, days=1).usage] == [clock().date().isoformat()]
    assert [row.cost for row in me.model_usage().usage] == [None, None]
