"""Rules that were rewritten to take linear time say the same as before."""

from __future__ import annotations

import random
import re
import unicodedata

from commonplace.language.text.detect import Trait, traits_of
from commonplace.language.text.sentences import MAX_SENTENCE, split_sentences
from commonplace.model.unicode_text import normal_form

# The rule as a pattern; it takes cubic time.
_QUESTION_END = re.compile(r"[?؟]\W*(?:\[[^\[\]]*\])?\W*$")


def test_question_at_the_end_is_found_as_by_the_pattern():
    dice = random.Random(17)
    for _ in range(20_000):
        text = "".join(dice.choices('?؟ a1[].\n"', k=dice.randint(1, 9)))
        ends_in_question = bool(traits_of(text) & Trait.ENDS_IN_QUESTION)
        assert ends_in_question == bool(_QUESTION_END.search(text)), repr(text)


def test_sentence_longer_than_the_limit_is_cut_at_white_space():
    words = [f"word{n}" for n in range(2000)]
    pieces = split_sentences(" ".join(words))
    assert max(map(len, pieces)) <= MAX_SENTENCE
    assert " ".join(pieces).split() == words


def test_sentence_without_white_space_is_cut_anywhere():
    assert "".join(split_sentences("a" * 120_000)) == "a" * 120_000


def test_normal_form_of_a_long_text_is_that_of_the_standard_library():
    dice = random.Random(17)
    text = "".join(
        dice.choices(["e", "\u0301", "\u0316", "é", "ש", "\u05bc", " ", "漢"], k=250_000)
    )
    for form in ("NFC", "NFKC"):
        assert normal_form(text, form) == unicodedata.normalize(form, text)
