"""What is known counts for the names and words of an item, and never for its numbers and values."""

from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import DropReason
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, given, memory

KNOWN = {"k1": "The user's essay for Dr Renata Silva is due on Friday 12 May."}


def check(turn, text, quote, known=KNOWN, **fields):
    item = memory(text, quote, kind="plan", **fields)
    return ground({"memories": [item]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, known)


def test_name_of_a_known_statement_completes_a_text():
    turn = "she gave me until the 19th"
    text = "Dr Renata Silva gave the user until the 19th for the essay."
    (kept,) = check(turn, text, turn, corrects="k1").memories
    assert kept.known == ("k1",)
    assert kept.corrects == KNOWN["k1"]


def test_number_of_a_known_statement_is_no_evidence():
    turn = "she gave me more time for the essay"
    found = check(turn, "Dr Renata Silva moved the user's essay to 12 May.", turn)
    assert found.memories == ()
    assert DropReason.UNGROUNDED_NUMBER in found.dropped


def test_known_statement_about_something_else_is_not_corrected():
    turn = "my bike is in the cellar"
    (kept,) = check(turn, "The user's bike is in the cellar.", turn, corrects="k1").memories
    assert kept.known == ()
    assert kept.corrects == ""


def test_numbers_of_what_is_corrected_may_stand_in_what_holds_now():
    turn = "no wait, the essay is for Dr Silva Tavares"
    text = "The user's essay for Dr Silva Tavares is due on Friday 12 May."
    (kept,) = check(turn, text, turn, corrects="k1").memories
    assert kept.known == ("k1",)
    assert check(turn, text, turn).memories == ()


def test_several_known_statements_are_corrected_by_their_keys():
    known = {**KNOWN, "k2": "The user's essay has 3000 words."}
    turn = "the essay is off, I dropped the course"
    text = "The user dropped the course with the essay."
    (kept,) = check(turn, text, turn, corrects="k1, k2", known=known).memories
    assert kept.known == ("k1", "k2")


def test_name_from_the_beginning_of_the_turns_completes_a_text():
    lines = ["owner: denise runs the front of house", *(f"owner: and so on {n}" for n in "abcdef")]
    lines.append("owner: she has the keys since monday")
    item = memory("Denise has the keys since Monday.", "she has the keys since monday")
    found = ground({"memories": [item]}, given(*lines), OWNER, SourceType.CHAT)
    assert [each.candidate.content[:15] for each in found.memories] == ["Denise has the "]


def test_name_typed_with_an_s_and_no_apostrophe_is_known():
    turn = "he lives at jens place"
    item = memory("Bo lives at Jen's place.", turn)
    found = ground(
        {"memories": [item]}, given("owner: bo moved", f"owner: {turn}"), OWNER, SourceType.CHAT
    )
    assert len(found.memories) == 1


def test_value_that_a_correction_leaves_as_it_was_may_be_told_again():
    known = {"k1": "For the concert on 26 November (2026-11-26) the band gets 1200."}
    turn = "the concert moved to 10.12"
    item = memory(
        "For the concert on 10.12 the band gets 1200.",
        turn,
        kind="value",
        subject="pay for the concert",
        value="1200",
        corrects="k1",
    )
    found = ground({"memories": [item]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, known)
    assert [each.candidate.metadata["value"] for each in found.memories] == ["1200"]
    other = item | {"value": "1500", "text": "For the concert on 10.12 the band gets 1500."}
    found = ground({"memories": [other]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, known)
    assert found.memories == ()


def test_day_of_a_known_statement_says_of_when_a_new_one_is():
    known = {"k1": "The band's concert is on Thursday 10 December (2026-12-10)."}
    turn = "jonathan raised us to 1600 for the concert"
    text = "Jonathan raised the band to 1600 for the concert on 10.12."
    (kept,) = check(turn, text, turn, known=known).memories
    assert kept.candidate.content == text
    assert check(turn, text.replace("10.12", "11.12"), turn, known=known).memories == ()


def test_amount_may_have_its_unit_from_what_was_known():
    known = {"k1": "The landlord wants 7250 a month for the user's place."}
    turn = "the landlord blinked!!! 7000, 3 yr lease"
    item = memory(
        "The user's place costs 7000 a month.",
        turn,
        kind="value",
        subject="rent",
        value="7000 a month",
        corrects="k1",
    )
    found = ground({"memories": [item]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, known)
    assert [each.candidate.metadata["value"] for each in found.memories] == ["7000 a month"]
    other = item | {"value": "7000 a week"}
    found = ground({"memories": [other]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, known)
    assert found.memories == ()
