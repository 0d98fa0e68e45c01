"""Lines that a mail program broke are read as one, and what was written in lines stays in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.sentences import unwrap_lines

WRAPPED = """Hi Maya,

it has been a while, and I wanted to tell you that my husband Yossi and
I moved to Haifa last month. I have been very busy since then because I
started working at Intel.

Dana"""


def test_unwrap_lines_joins_full_lines():
    assert "my husband Yossi and I moved to Haifa" in unwrap_lines(WRAPPED)
    assert "because I started working" in unwrap_lines(WRAPPED)
    assert unwrap_lines(WRAPPED).startswith("Hi Maya,\n\nit has")
    assert unwrap_lines(WRAPPED).endswith("Intel.\n\nDana")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One\nTwo\nThree",
        "Dana: I live in Haifa, where the sea is, and it is very nice there.\nMaya: Yes.",
        "- bring the plan of the house, the keys, and all of the old papers\n- call Dana, too",
        "A line that is far longer than any that a mail program leaves in one piece, as most notes "
        "are that people write in one go.\nAnother one.",
    ],
)
def test_unwrap_lines_keeps_short_lines_lists_and_speaker_lines(text):
    assert unwrap_lines(text) == text


@given(st.text(alphabet="ab \n-.", max_size=400))
def test_unwrap_lines_preserves_length_and_characters(text):
    joined = unwrap_lines(text)
    assert len(joined) == len(text)
    assert joined.replace("\n", " ") == text.replace("\n", " ")
