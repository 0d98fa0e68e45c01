"""Where sentences end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four… Five", ["One.", "Two!", "Three?", "Four…", "Five"]),
        ("Dr. Smith paid 3.5 dollars.", ["Dr. Smith paid 3.5 dollars."]),
        ("Bring fruit, e.g. Apples. Thanks.", ["Bring fruit, e.g. Apples.", "Thanks."]),
        ("J. R. Tolkien wrote it. Good.", ["J. R. Tolkien wrote it.", "Good."]),
        ("It is I. Open up.", ["It is I.", "Open up."]),
        ("See no. 5. He said no. She left.", ["See no. 5.", "He said no.", "She left."]),
        ("Well... maybe so. Yes.", ["Well... maybe so.", "Yes."]),
        ('He said "Go!" Then he left.', ['He said "Go!"', "Then he left."]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("1. Open the door\n2. Go in", ["1. Open the door", "2. Go in"]),
        ("今日は晴れ。明日は雨！本当？", ["今日は晴れ。", "明日は雨！", "本当？"]),
        ("הלכתי הביתה. אכלתי.", ["הלכתי הביתה.", "אכלתי."]),
        ("Visit example.com today. OK.", ["Visit example.com today.", "OK."]),
        ("", []),
        ("\n \n", []),
        (
            "I work at Acme Corp. My manager is Dana. Acme Inc. Berlin opens at 5 p.m. Fridays.",
            [
                "I work at Acme Corp.",
                "My manager is Dana.",
                "Acme Inc. Berlin opens at 5 p.m. Fridays.",
            ],
        ),
    ],
)
def test_split_sentences_finds_the_expected_boundaries(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.timeout(20)  # a pattern that backtracks would take hours
@pytest.mark.parametrize("text", ["." * 100_000, "Dr. " * 25_000, '."' * 50_000, "\n" * 100_000])
def test_split_sentences_is_fast_on_repetitive_text(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@given(st.text(alphabet="ab A.!?…。\n\"'3"))
def test_split_sentences_loses_no_character(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
