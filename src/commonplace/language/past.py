"""Whether a sentence tells of the past, in English and Hebrew, by its verbs."""

import re

from commonplace.language.wordlists import word_lists
from commonplace.language.words import words

_VERBS = word_lists("past.txt")

_ENGLISH = re.compile(r"[a-z]{2,}ed")
# התקשר, החליטה, הוחלט, נפגשה; הלכתי; הלכו, but not the future ילכו. A noun with such letters passes
# for a verb, which costs a remark that was due and never makes a wrong one.
_HEBREW = re.compile(
    r"הת[א-ת]{2,}ה?|ה[א-ת]{2}י[א-ת]ה?|הו[א-ת]{2,3}ה?|נ[א-ת]{3}ה?"
    r"|[א-ת]{2,}(?:תי|תם|תן)|(?![יתנא])[א-ת]{3,}ו"
)
_AND_OR_THAT = "וש"


def is_past(sentence: str) -> bool:
    """Whether at least one verb of the sentence is in the past tense."""
    return any(_is_past_word(word) for word in words(sentence))


def _is_past_word(word: str) -> bool:
    if word.isascii():
        return _is_past_in("en", word, _ENGLISH)
    bare = word[1:] if word[0] in _AND_OR_THAT else word
    return _is_past_in("he", word, _HEBREW) or _is_past_in("he", bare, _HEBREW)


def _is_past_in(language: str, word: str, shape: re.Pattern[str]) -> bool:
    if word in _VERBS[language]:
        return True
    return bool(shape.fullmatch(word)) and word not in _VERBS[f"{language} not"]
