"""One truth: after a change, the current value comes first, and what it replaced is outdated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from support.dialogues import find_faults, load_dialogues, play

START = datetime(2026, 2, 1, 9, 0, tzinfo=UTC)

# What was said first, what was said weeks later, the question, the current and the former value.
CHANGES = (
    ("I work at Google as an engineer", "I work at Meta now", "where do I work?", "Meta", "Google"),
    ("I live in Leeds", "I've moved to York", "where do I live?", "York", "Leeds"),
    ("I live in Haifa", "I moved to Lisbon", "where do I live?", "Lisbon", "Haifa"),
    ("My boss is Linda", "My boss is Omar now", "who is my boss?", "Omar", "Linda"),
    ("My manager is Dana", "My manager is Tal", "who is my manager?", "Tal", "Dana"),
    ("My dentist is Dr Patel", "My dentist is Dr Wong now", "who is my dentist?", "Wong", "Patel"),
    ("I weigh 82 kg", "I weigh 78 kg now", "how much do I weigh?", "78", "82"),
    (
        "My favourite colour is green",
        "My favourite colour is blue",
        "favourite colour?",
        "blue",
        "green",
    ),
    ("I drive a Volvo", "I drive a Toyota now", "what car do I drive?", "Toyota", "Volvo"),
    ("My car is a Mazda", "My car is a Kia now", "what car do I have?", "Kia", "Mazda"),
    (
        "My daughter goes to Oak School",
        "My daughter goes to Elm School now",
        "which school does my daughter go to?",
        "Elm",
        "Oak",
    ),
    (
        "My husband works at Siemens",
        "My husband works at Bosch now",
        "where does my husband work?",
        "Bosch",
        "Siemens",
    ),
)


# Values of a subject: a person decides, and until then the former value says that it is disputed.
HELD = (
    ("My rent is 900 euros", "My rent is 950 euros now", "how much is my rent?", "950", "900"),
    ("The garage code is 4711", "The garage code is 9921", "garage code?", "9921", "4711"),
)


@pytest.fixture
def tell(me, clock):
    """Each text in a thread of its own, a fortnight apart; asked a month later."""

    def tell_all(*texts):
        for place, text in enumerate(texts):
            clock.now = START + timedelta(days=14 * place)
            me.observe(text, thread=f"t{place}", at=clock.now)
        clock.tick(days=30)

    return tell_all


def first_with(texts, value):
    return next((n for n, text in enumerate(texts) if value in text), len(texts))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[3])
def test_one_truth_after_a_change_told_in_chat(me, tell, change):
    before, after, question, current, former = change
    tell(before, after)
    hits = me.recall(question).hits
    texts = [hit.text for hit in hits]
    assert first_with(texts, current) == 0, texts
    for hit in hits:
        if former in hit.text and current not in hit.text:
            assert hit.outdated is not None, hit.text
    assert current in me.agent("assistant").query(question, thread="asks").items[0].text
    context = me.context(question, thread="asks").text
    assert current in context
    shown = [line for line in context.splitlines() if former in line and current not in line]
    assert not [line for line in shown if "outdated" not in line], shown


@pytest.mark.parametrize("change", HELD, ids=lambda change: change[3])
def test_one_truth_of_a_held_value_says_that_it_is_disputed(me, tell, change):
    before, after, question, current, former = change
    tell(before, after)
    for answer in (me.recall(question).hits, me.query(question, returns="full").items):
        (value,) = [each for each in answer if each.kind == "kv"]
        assert former in value.text
        assert current in value.disputed


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[3])
def test_one_truth_after_a_change_that_was_remembered(me, change):
    before, after, question, current, former = change
    me.remember(before, kind="fact")
    me.remember(after, kind="fact")
    texts = [hit.text for hit in me.recall(question).hits]
    assert first_with(texts, current) == 0, texts
    assert first_with(texts, former) >= first_with(texts, current)


def test_one_truth_memory_and_its_turn_are_one_hit(me, tell):
    tell("I work at Meta")
    hits = me.recall("where do I work?").hits
    assert [hit.kind for hit in hits if "Meta" in hit.text] == ["fact"]
    assert hits[0].evidence[0].endswith("#1")


def test_one_truth_turn_that_says_more_than_its_memory_is_shown(me, tell):
    tell("I work at Meta, and the canteen there serves terrible lasagne on Mondays")
    assert "lasagne" in " ".join(hit.text for hit in me.recall("terrible lasagne").hits)


def test_one_truth_outdated_turn_names_what_holds_now(me, tell):
    tell("I work at Google as an engineer", "I work at Meta now")
    (old,) = [hit for hit in me.recall("where do I work?").hits if hit.outdated]
    assert "Google" in old.text
    assert "Meta" in old.outdated.text
    assert me.show(old.outdated.id).memory.content == old.outdated.text
    assert "(outdated: now The user works at Meta.)" in old.bullet


def test_one_truth_turn_is_outdated_also_if_what_replaced_it_was_forgotten(me, tell):
    tell("I work at Google as an engineer", "I work at Meta now")
    (current,) = [m for m in me.list().memories if "Meta" in m.content]
    me.forget([current.id])
    for hit in me.recall("where do I work?").hits:
        assert "Meta" not in hit.text
        assert "Google" not in hit.text or hit.outdated is not None


def test_one_truth_an_agent_that_may_not_see_the_value_is_not_told_it(me, tell, book):
    tell("I work at Google as an engineer", "I work at Meta now")
    (current,) = [m for m in me.list().memories if "Meta" in m.content]
    me.update(current.id, sensitivity="high")
    agent = book.user("ana").agent("assistant")
    assert not [hit for hit in agent.recall("where do I work?").hits if hit.kind == "fact"]
    assert all(
        "The user works at Meta" not in hit.bullet for hit in agent.recall("where do I work?").hits
    )


def test_one_truth_in_the_past_is_that_of_the_time(me, tell, clock):
    tell("I work at Google as an engineer")
    between = START + timedelta(days=3)
    clock.now = between + timedelta(days=1)
    me.observe("I work at Meta now", thread="later", at=clock())
    clock.now = between + timedelta(days=30)
    texts = [hit.text for hit in me.recall("where do I work?", as_of=between).hits]
    assert "Google" in texts[0]


# Those that pass. docs/recall.md counts the others.
OPEN_LIMITS = frozenset({"o32", "s04", "s07", "s11", "s12", "s15", "s28"})
SEALED_PASSING = frozenset({"f03", "f05", "f07", "f09", "f14", "f15", "f19", "f22", "f29", "f30"})
DIALOGUES = [each for each in load_dialogues("open") if each.id not in OPEN_LIMITS]
DIALOGUES += [each for each in load_dialogues("sealed") if each.id in SEALED_PASSING]


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue.id)
def test_one_truth_after_a_dialogue(me, clock, dialogue):
    play(me, clock, dialogue)
    assert find_faults(me, dialogue) == []


# Nothing has changed in these: both stay, unmarked.
NO_CHANGES = (
    ("My manager is Helen", "what if my new manager is Raj?", "who is my manager?"),
    ("The garage code is 4411", "maybe they will change the garage code to 9027", "garage code?"),
    ("My sister lives in Porto", "my brother moved to Madrid", "where does my sister live?"),
    ("Yoga is on Mondays", "pilates moved to Wednesdays", "when is yoga?"),
    ("I work at Siemens", "Karl switched jobs, he's at Bosch now", "where do I work?"),
    ("Our rent is 1200", "bought a new bike for 900", "how much is our rent?"),
    ("dinner with Dana on tuesday", "dinner with Dana on thursday", "dinner with Dana?"),
)


@pytest.mark.parametrize("told", NO_CHANGES, ids=lambda told: told[1])
def test_one_truth_marks_nothing_without_a_change(me, tell, told):
    before, after, question = told
    tell(before, after)
    assert not [hit.bullet for hit in me.recall(question).hits if hit.outdated]
    assert not [memory for memory in me.list().memories if memory.superseded_by]


def test_one_truth_of_a_profile_field_set_after_a_statement(me, tell):
    tell("I live in Leeds")
    me.profile_set("city", "York")
    field, *others = me.recall("where do I live?").hits
    assert "York" in field.text
    assert all(hit.outdated for hit in others if "Leeds" in hit.text)
    context = me.context("where do I live?", thread="asks").text
    assert not [line for line in context.splitlines() if "Leeds" in line and "outdated" not in line]


def test_one_truth_of_a_profile_field_set_before_a_statement(me, tell, clock):
    clock.now = START
    me.profile_set("city", "Leeds")
    tell("how are you", "we've moved to York")
    first, *others = me.recall("where do I live?").hits
    assert "York" in first.text
    assert all(hit.outdated for hit in others if "Leeds" in hit.text)
    context = me.context("where do I live?", thread="asks").text
    assert "City is Leeds (disputed: The user lives in York.)" in context
