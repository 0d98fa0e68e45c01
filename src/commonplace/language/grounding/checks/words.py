"""Content words of a text, in the forms by which they are compared. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import cache

from commonplace.language.text.filler import empty_terms
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.normalise import is_cjk, split_words
from commonplace.language.text.terms import bigrams, term_of

_WORDS = load_word_lists("grounding/words.txt")
_STEM = 5  # letters that forms of one word share
_HEBREW_STEM = 3
_UNSPACED = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]+")  # Thai to Khmer
_HEBREW_VOWELS = str.maketrans("", "", "ויא")
_HYPHENATED = re.compile(r"(?<![\w-])[^\W\d_]{2,20}(?:-[^\W\d_]{2,20}){1,3}(?![\w-])")
_HEBREW_PREFIXES = "והבלכמש"
_HEBREW = re.compile("[א-ת]+")


def content_words(text: str, language: str) -> list[frozenset[str]]:
    """Each content word of a text, in the forms by which it is compared."""
    latin = language if language not in ("he", "ar", "ru") else "en"
    found = [frozenset((pair,)) for run in _UNSPACED.findall(text) for pair in bigrams(run)]
    joined = _HYPHENATED.findall(text)
    found += [_forms_of_compound(word, latin) for word in joined]
    for word in split_words(_HYPHENATED.sub(" ", text) if joined else text):
        if is_cjk(word):
            found += [frozenset((pair,)) for pair in bigrams(word)]
        elif _UNSPACED.match(word):
            continue
        elif (term := term_of(word, latin)) is not None and term not in empty_terms():
            found.append(_forms_of(term))
    return found


def _forms_of_compound(word: str, latin: str) -> frozenset[str]:
    """ "push-ups": as one word, and each part."""
    parts = [part for each in (word.replace("-", ""), word) for part in split_words(each)]
    terms = (term_of(part, latin) for part in parts)
    return frozenset().union(*(_forms_of(term) for term in terms if term))


def content_forms(text: str, language: str) -> frozenset[str]:
    return frozenset().union(*content_words(text, language))


def _forms_of(term: str) -> frozenset[str]:
    """The stem, and what forms of the same root share."""
    if _HEBREW.fullmatch(term):
        bare = {term}
        while len(term) > _HEBREW_STEM and term[0] in _HEBREW_PREFIXES:
            term = term[1:]
            bare.add(term)
        roots = {each.translate(_HEBREW_VOWELS)[:_HEBREW_STEM] for each in bare}
        return frozenset(bare | {f"{root}~" for root in roots if len(root) == _HEBREW_STEM})
    lengths = [length for length in (_STEM - 1, _STEM) if length <= len(term)]
    if len(term) > _STEM:
        lengths = [_STEM]
    return frozenset((term, *(f"{term[:length]}~" for length in lengths)))


@cache
def neutral_forms() -> frozenset[str]:
    """Words of the third person and of the frame: "is called", "has", "wants to"."""
    return frozenset().union(
        *(
            content_forms(" ".join(_WORDS[f"neutral {code}"]), code)
            for code in ("en", "he", "de", "es")
        )
    )


def count_found(words: Iterable[frozenset[str]], carried: Set[str]) -> int:
    """Words, each in its forms, that occur."""
    return sum(not forms.isdisjoint(carried) for forms in words)


def count_missing(words: Iterable[frozenset[str]], carried: Set[str]) -> int:
    """Words that do not occur, without those that only make a sentence."""
    missing = (forms for forms in words if forms.isdisjoint(carried))
    return sum(forms.isdisjoint(neutral_forms()) for forms in missing)
