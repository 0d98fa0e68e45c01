"""What was erased from a source does not come back with a changed original."""

from __future__ import annotations

import pytest

from support.sources import chat, turn

HEDGE = "Garden notes begin here. " + " ".join(
    f"The hedge was cut in week {week} by the neighbour." for week in range(12)
)
SAFE = "My safe is behind the mirror. " + " ".join(
    f"Dial {number} must be turned to forty-four and back." for number in range(12)
)
ROSES = "Winter plans follow. " + " ".join(
    f"We will cover rose {number} with straw before the frost." for number in range(12)
)
SECRET = "turned to forty-four"


def text(*paragraphs):
    return "\n\n".join(paragraphs)


@pytest.fixture
def source(me):
    source = me.ingest(text(HEDGE, SAFE, ROSES), external_id="notes").id
    assert "mirror" in me.show(source).passages[1].text
    me.erase(f"{source}#2")
    assert me.verify_forget(SECRET).clean
    return source


EDITED_END = HEDGE[: -len("neighbour.")] + "gardener, twice."
EDITED_START = "Summer" + ROSES[len("Winter") :]


@pytest.mark.parametrize(
    "changed",
    [
        text(HEDGE, SAFE, EDITED_START),
        text(HEDGE, SAFE, "These " + ROSES),
        text(EDITED_END, SAFE, ROSES),
        text(EDITED_END, SAFE, EDITED_START),
        text("A preface.", HEDGE, SAFE, ROSES),
        text(HEDGE, "A new paragraph.", SAFE, "Another one.", ROSES),
        text(SAFE, ROSES),
        text(HEDGE, SAFE),
    ],
    ids=[
        "first word after it",
        "more words after it",
        "last words before it",
        "both sides",
        "a paragraph at the start",
        "paragraphs beside it",
        "nothing before it",
        "nothing after it",
    ],
)
def test_erased_passage_stays_away_when_the_text_around_it_changes(me, source, changed):
    assert me.ingest(changed, external_id="notes").action == "replaced"
    assert me.verify_forget(SECRET).clean
    assert me.verify_forget("mirror").clean
    for kept in (HEDGE, ROSES):
        middle = kept[200:300]
        assert me.verify_forget(middle).clean is (middle not in changed)
    me.ingest(text(HEDGE, SAFE, ROSES), external_id="notes")
    assert me.verify_forget(SECRET).clean


@pytest.mark.parametrize(
    "instead", ["", "The safe was sold.", "We bought a lock. " * 3], ids=["none", "short", "long"]
)
def test_new_text_in_place_of_the_erased_is_kept(me, source, instead):
    me.ingest(text(*filter(None, (HEDGE, instead.strip(), ROSES))), external_id="notes")
    shown = " ".join(passage.text for passage in me.show(source).passages)
    for kept in (HEDGE, instead.strip(), ROSES):
        assert all(sentence in shown for sentence in kept.split(". "))


def test_two_erased_passages_side_by_side_stay_away(me):
    source = me.ingest(text(HEDGE, SAFE, ROSES), external_id="notes").id
    me.erase([f"{source}#1", f"{source}#2"])
    me.ingest(text(HEDGE, SAFE, "Oh. " + ROSES), external_id="notes")
    assert me.verify_forget(SECRET).clean
    assert me.verify_forget("The hedge was cut").clean


def test_erased_turn_without_a_time_stays_away_when_turns_are_inserted(me):
    lines = ["Ana: A heron sat on the wall.", "Dana: We planted quinces.", "Ana: The gate squeaks."]
    source = me.ingest("\n".join(lines), external_id="t", format="transcript").id
    me.erase(f"{source}#2")
    me.ingest(
        "\n".join(["Ana: Good morning to you.", *lines]), external_id="t", format="transcript"
    )
    assert me.verify_forget("quinces").clean
    assert me.verify_forget("heron").found_in


def test_turn_of_another_time_is_not_taken_for_the_erased_one(me):
    first = turn("Dana", "A heron sat on the wall.")
    source = me.ingest(chat(first, turn("Ana", "We planted quinces.", 1)), external_id="c").id
    me.erase(f"{source}#2")
    changed = chat(first, turn("Ana", "We planted lettuce.", 5))
    assert me.ingest(changed, external_id="c").action == "replaced"
    assert me.verify_forget("We planted lettuce.").found_in
