"""A correction in a new conversation takes back what was said weeks before, and nothing else."""

from __future__ import annotations

import json

import pytest

from support.findings import memory, turns
from support.model_server import model_server

FIRST = "the choir meets on mondays in the old mill"
LATER = "rehearsals moved to thursdays btw"
OLD = "The user's choir meets on Mondays in the old mill."
NEW = "The rehearsals of the user's choir moved to Thursdays."


class Reader:
    """What the model answers: the items by the words of the turn, the verdicts for all pairs."""

    def __init__(self):
        self.by_words = {FIRST: [memory(1, FIRST, OLD)]}
        self.verdict = "both_true"

    def __call__(self, asked):
        if asked.schema_name == "same_fact":
            lines = [json.loads(each) for each in asked.user.splitlines() if each.startswith("{")]
            return {
                "pairs": [{"pair": n, "verdict": self.verdict} for n in range(1, len(lines) + 1)]
            }
        if asked.schema_name != "read_turns":
            return {}
        new = asked.user.split("turns:")[-1]
        return turns(
            *(item for words, items in self.by_words.items() for item in items if words in new)
        )


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def model(reader):
    with model_server(reader) as server:
        yield server


@pytest.fixture
def book(open_book, model):
    return open_book(model="openai:stub", model_url=model.url, extraction="auto", worker="off")


def say(book, me, clock, turn, thread, **days):
    clock.tick(**days)
    me.observe(turn, thread=thread)
    assert book.work(once=True).failed == 0


def live(me):
    return sorted(item.content for item in me.list(limit=50).memories)


def asked(model, name):
    return [each for each in model.requests if each.schema_name == name]


def test_key_of_a_known_statement_supersedes_it(book, me, clock, reader, model):
    reader.by_words[LATER] = [memory(1, LATER, NEW, corrects="k1")]
    say(book, me, clock, FIRST, "one")
    (stored,) = me.list().memories
    say(book, me, clock, LATER, "two", days=20)
    assert '"known": "k1"' in asked(model, "read_turns")[-1].user
    assert OLD in asked(model, "read_turns")[-1].user
    assert live(me) == [NEW]
    assert not asked(model, "same_fact")
    (kept,) = me.list().memories
    me.restore([stored.id])
    assert stored.id in [each.id for each in me.list().memories]
    assert kept.id != stored.id


@pytest.mark.parametrize(
    ("verdict", "left"), [("newer_replaces", [NEW]), ("both_true", [NEW, OLD])]
)
def test_vague_words_of_a_correction_are_confirmed_by_the_model(
    book, me, clock, reader, model, verdict, left
):
    reader.by_words[LATER] = [memory(1, LATER, NEW, corrects="the earlier day of rehearsals")]
    reader.verdict = verdict
    say(book, me, clock, FIRST, "one")
    say(book, me, clock, LATER, "two", days=20)
    assert len(asked(model, "same_fact")) == 1
    assert live(me) == sorted(left)


def test_correction_does_not_touch_what_a_person_stored(book, me, clock, reader):
    me.remember(OLD, kind="fact")
    reader.by_words[LATER] = [memory(1, LATER, NEW, corrects="k1")]
    say(book, me, clock, LATER, "two", days=20)
    assert OLD in live(me)


def test_known_statement_is_not_given_to_the_model_where_it_is_sensitive(
    book, me, clock, reader, model
):
    say(book, me, clock, FIRST, "one")
    (stored,) = me.list().memories
    me.update(stored.id, sensitivity="high")
    say(book, me, clock, LATER, "two", days=20)
    assert OLD not in asked(model, "read_turns")[-1].user


def test_forgotten_statement_is_not_given_to_the_model(book, me, clock, reader, model):
    say(book, me, clock, FIRST, "one")
    (stored,) = me.list().memories
    me.forget([stored.id])
    say(book, me, clock, LATER, "two", days=20)
    assert OLD not in asked(model, "read_turns")[-1].user


def test_what_an_agent_observed_is_known_in_its_next_conversation(book, me, clock, reader, model):
    agent = me.agent("helper")
    reader.by_words[LATER] = [memory(1, LATER, NEW, corrects="k1")]
    say(book, agent, clock, FIRST, "one")
    say(book, agent, clock, LATER, "two", days=20)
    assert OLD in asked(model, "read_turns")[-1].user
    assert live(me) == [NEW]


def test_agent_overrides_no_value_by_turns_that_it_observed(book, me, clock, reader):
    """It may have made them up."""
    code = "the locker code is 4711"
    reader.by_words[code] = [
        memory(1, code, "The code of the user's locker is 4711.", kind="value")
        | {"subject": "locker code", "value": "4711"}
    ]
    other = "the locker code is 9999 now"
    reader.by_words[other] = [
        memory(1, other, "The code of the user's locker is 9999.", kind="value", corrects="k1")
        | {"subject": "locker code", "value": "9999"}
    ]
    say(book, me, clock, code, "one")
    say(book, me.agent("helper"), clock, other, "two", days=3)
    values = [item.metadata.get("value") for item in me.list(kinds="kv").memories]
    assert values == ["4711"]


def test_what_an_agent_may_not_see_is_not_given_with_its_turns(book, me, clock, reader, model):
    agent = me.agent("planner")
    say(book, me, clock, FIRST, "one")
    (stored,) = me.list().memories
    me.update(stored.id, category="relationship_dynamic")
    say(book, agent, clock, LATER, "two", days=20)
    assert OLD not in asked(model, "read_turns")[-1].user
