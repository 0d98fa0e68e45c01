"""What is known counts for the names and words of an item, and never for its numbers and values."""

from commonplace.language.grounding.ground import ground
from commonplace.language.grounding.values import DropReason
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, given, memory

KNOWN = {"k1": "The user's essay for Dr Renata Silva is due on Friday 12 May."}


def check(turn, text, quote, **fields):
    item = memory(text, quote, kind="plan", **fields)
    return ground({"memories": [item]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT, KNOWN)


def test_name_of_a_known_statement_completes_a_text():
    turn = "she gave me until the 19th"
    text = "Dr Renata Silva gave the user until the 19th for the essay."
    (kept,) = check(turn, text, turn, corrects="k1").memories
    assert kept.known == "k1"
    assert kept.corrects == KNOWN["k1"]


def test_number_of_a_known_statement_is_no_evidence():
    turn = "she gave me more time for the essay"
    found = check(turn, "Dr Renata Silva moved the user's essay to 12 May.", turn)
    assert found.memories == ()
    assert DropReason.UNGROUNDED_NUMBER in found.dropped


def test_known_statement_about_something_else_is_not_corrected():
    turn = "my bike is in the cellar"
    (kept,) = check(turn, "The user's bike is in the cellar.", turn, corrects="k1").memories
    assert kept.known == ""
    assert kept.corrects == ""
