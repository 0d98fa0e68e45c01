"""The analyser: what text and query have in common."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.language.text.terms import analyse, count_terms, term_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# Without the Turkish letters i, whose upper and lower case meet other letters.
LATIN_TEXTS = st.text(
    st.characters(max_codepoint=0x17F, exclude_categories=["Cc"], exclude_characters="ıİ")
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The meetings were moved", ["meet", "move"]),
        ("I don't know", ["not", "know"]),
        ("I DON’T know", ["not", "know"]),
        ("She can't and won't come", ["not", "will", "not", "come"]),
        ("We cannot go", ["not", "go"]),
        ("Dan's car", ["dan", "car"]),
        ("a café", ["café"]),
        ("it costs 3.5 or 1,000 or 2,5", ["cost", "3.5", "1000", "2.5"]),
        ("call 052-1234567", ["call", "052", "1234567", "0521234567"]),
        ("mail dan_b@example.com", ["mail", "dan", "b", "exampl", "com"]),
        ("Ich habe keine Katzen", ["kein", "katz"]),
        ("Je n'ai pas l'adresse", ["pas", "adress"]),
        ("хорошие книги", ["хорош", "книг"]),
        ("我喜欢苹果", ["我喜", "喜欢", "欢苹", "苹果"]),
        ("水", ["水"]),
        ("用Python写", ["用", "python", "写"]),
        ("हिन्दी", ["हिन्दी"]),
        ("مُحَمَّد", ["محمد"]),
        ("", []),
    ],
)
def test_analyse_returns_the_expected_terms(text: str, terms: list[str]) -> None:
    assert analyse(text) == terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("הפגישה בבית", "בית"),
        ("ובמחשב", "מחשב"),
        ("המכונית", "מכונית"),
        ("שלום", "השלום"),
        ("הגעתי מירושלים", "ירושלים"),
        ("כשהרכבת", "רכבת"),
        ('שירתתי בצה"ל', "צהל"),
        ("שָׁלוֹם", "שלום"),
        ("לא", "שלא"),
        ("אין", "ואין"),
        ("פגישה על meetings", "meeting"),
        ("הודעה", "ההודעה"),
    ],
)
def test_analyse_matches_hebrew_words_with_and_without_prefix(text: str, query: str) -> None:
    assert set(analyse(query)) <= set(analyse(text))
    assert analyse(query)


@pytest.mark.parametrize("word", ["בית", "שלום", "מחשב", "ספר", "כסף"])
def test_analyse_keeps_short_hebrew_words_whole(word: str) -> None:
    assert analyse(word) == [word]


def test_analyse_accepts_a_given_language() -> None:
    assert analyse("trabajo", language="es") == analyse("Tengo que ir al trabajo")[-1:]


def test_count_terms_counts_stems_without_stop_words() -> None:
    assert count_terms("The dog and the dogs and a cat") == {"dog": 2, "cat": 1}


def test_analyse_cuts_terms_to_64_characters() -> None:
    assert analyse("ש" + "א" * 100) == ["א" * 63]
    assert all(len(term) <= 64 for term in analyse("x" * 1000))


@pytest.mark.parametrize("text", ["Dan's car", "Thanks Dan", "example.com", "Die Hard"])
def test_analyse_keeps_the_language_despite_one_foreign_stop_word(text: str) -> None:
    assert len(analyse(text)) == 2


def test_analyse_is_thread_safe() -> None:
    texts = [f"running{i} jumping{i} happiness{i} universities{i}" for i in range(300)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(analyse, texts * 2))
    term_of.cache_clear()
    assert together == [analyse(text) for text in texts * 2]


@given(TEXTS)
def test_analyse_is_deterministic_and_terms_hold_no_space_or_nul(text: str) -> None:
    terms = analyse(text)
    assert terms == analyse(text)
    for term in terms:
        assert term
        assert "\0" not in term
        assert not any(character.isspace() for character in term)


@given(LATIN_TEXTS)
def test_analyse_ignores_case_and_unicode_normal_form(text: str) -> None:
    terms = analyse(text)
    assert analyse(text.upper()) == terms
    assert analyse(unicodedata.normalize("NFD", text)) == terms
