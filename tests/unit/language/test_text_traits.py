"""What a text is like besides its words, in one small number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.detect import (
    SCRIPT_SHIFT,
    Script,
    Trait,
    detect_script,
    script_codes,
    traits_of,
)

LOWER = (1 << SCRIPT_SHIFT) - 1


def traits(text):
    return Trait(traits_of(text) & LOWER) & ~Trait.KNOWN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there", Trait(0)),
        ("Is it far?", Trait.ENDS_IN_QUESTION | Trait.HAS_QUESTION),
        ("Is it far? Not really.", Trait.HAS_QUESTION),
        ("האם זה רחוק?", Trait.ENDS_IN_QUESTION | Trait.HAS_QUESTION),
        ("بعيد؟", Trait.ENDS_IN_QUESTION | Trait.HAS_QUESTION),
        ("see a.b?c=d for more", Trait(0)),
        ("we have 3 dogs", Trait.NUMBER),
        ("we have three dogs", Trait.NUMBER),
        ("see you tomorrow", Trait.TIME),
        ("in december it rains", Trait.TIME),
        ("it may rain", Trait(0)),
        ("back in 1999", Trait.TIME | Trait.NUMBER),
        ("at 5 pm", Trait.TIME | Trait.NUMBER),
        ("at 10:30", Trait.TIME | Trait.NUMBER),
        ("we met Dana there", Trait.NAME),
        ("Dana met us", Trait(0)),
        ("so I went and I'm back", Trait(0)),
        ("she read “Dune” again", Trait.NAME),
    ],
)
def test_traits_of_detects_question_number_time_and_name(text, expected):
    assert traits(text) == expected


@given(st.text(max_size=100))
def test_traits_of_any_text_encode_its_script(text):
    found = traits_of(text)
    assert found & Trait.KNOWN
    assert found >> SCRIPT_SHIFT in script_codes(frozenset([detect_script(text)]))
    assert found >> SCRIPT_SHIFT not in script_codes(frozenset(Script) - {detect_script(text)})
