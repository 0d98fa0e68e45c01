"""The lists of small words and of negations."""

import pytest

from commonplace.language.text.lexicon import STOP_WORD_LANGUAGES, negation_words, stop_words


@pytest.mark.parametrize("language", STOP_WORD_LANGUAGES)
def test_stop_words_and_negations_exist_per_language_and_are_disjoint(language: str) -> None:
    assert len(stop_words(language)) >= 60
    assert len(negation_words(language)) >= 5
    assert not stop_words(language) & negation_words(language)


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
def test_stop_words_exclude_negations(language: str, words: str) -> None:
    assert set(words.split()) <= negation_words(language)
    assert not set(words.split()) & stop_words(language)


def test_stop_words_of_an_unknown_language_are_empty() -> None:
    assert stop_words("xx") == negation_words("xx") == frozenset()
