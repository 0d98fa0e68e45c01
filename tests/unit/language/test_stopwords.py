"""The lists of small words and of negations."""

import pytest

from commonplace.language.stopwords import LANGUAGES, negations, stop_words


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_both_lists_and_they_do_not_overlap(language: str) -> None:
    assert len(stop_words(language)) >= 60
    assert len(negations(language)) >= 5
    assert not stop_words(language) & negations(language)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "no not never"),
        ("de", "nicht kein nie"),
        ("fr", "pas non jamais"),
        ("es", "no nunca"),
        ("it", "non mai"),
        ("pt", "não nunca"),
        ("nl", "niet geen"),
        ("ru", "не нет"),
        ("he", "לא אין אל בלי"),
    ],
)
def test_negations_are_no_stop_words(language: str, words: str) -> None:
    assert set(words.split()) <= negations(language)
    assert not set(words.split()) & stop_words(language)


def test_an_unknown_language_has_no_words() -> None:
    assert stop_words("xx") == negations("xx") == frozenset()
