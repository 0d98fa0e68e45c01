"""Weekdays: of how things are, every week; of what happens once, that day."""

import pytest

from commonplace.language.grounding.ground import ground
from commonplace.model.sources.source import SourceType
from support.given_passages import OWNER, given, memory


def content(turn, text, kind, when=""):
    item = memory(text, turn, kind=kind, when=when)
    found = ground({"memories": [item]}, given(f"owner: {turn}"), OWNER, SourceType.CHAT)
    return found.memories[0].candidate.content


@pytest.mark.parametrize(
    ("turn", "text", "when"),
    [
        ("omri comes on sunday at 4", "Omri comes on Sunday at 4.", "on sunday at 4"),
        ("we rehearse on thursday evening", "The user rehearses on Thursday evening.", ""),
        ("עומרי לומד ביום ראשון ב16:00", "עומרי לומד ביום ראשון ב16:00.", "ביום ראשון"),
    ],
)
def test_weekday_of_how_things_are_stays_a_weekday(turn, text, when):
    assert content(turn, text, "fact", when) == text


@pytest.mark.parametrize(
    ("turn", "text", "kind", "when"),
    [
        ("omri comes on sunday", "Omri comes on Sunday.", "plan", "on sunday"),
        ("mum stays till friday", "The user's Mum stays till Friday.", "fact", "till friday"),
        ("the sale is this saturday", "The sale is this Saturday.", "fact", "this saturday"),
    ],
)
def test_weekday_of_what_happens_once_is_a_date(turn, text, kind, when):
    assert "2026-03-" in content(turn, text, kind, when)
