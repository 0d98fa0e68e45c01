"""Hebrew glues "and", "the", "in", "to", "from" and "that" to the next word; this takes them off.

The rule looks only at what is left of the word, so that a word and the same word with prefixes end
in one form: מחשב, המחשב and ובמחשב all meet.
"""

import re

from commonplace.language.stopwords import negations, stop_words

# How many letters must be left. Many words of four letters begin with מ, ש or כ as part of their
# root (מספר, שלום, כתבה), few begin with ה, ב or ל, so the former are taken off longer words only.
_LEFT_AFTER = {"ה": 3, "ב": 3, "ל": 3, "מ": 4, "ש": 4, "כ": 4}
_AND = "ו"
_LEFT_AFTER_AND = 3

_HEBREW_WORD = re.compile("[א-ת]+")
# Prefixed negations are too short for the rule above, and must stay findable as negations.
_NEGATION = re.compile("(?:ו?כ?ש|ו)(לא|אין|בלי|אינו|אינה|אינם|אינן)")


def hebrew_term(word: str) -> str | None:
    """The searchable form of a Hebrew word, None for a stop word; other words are left alone."""
    if not _HEBREW_WORD.fullmatch(word):
        return word
    negated = _NEGATION.fullmatch(word)
    if negated:
        return negated[1]
    # "And" can only be the first prefix; elsewhere in a word ו is a vowel.
    if word.startswith(_AND) and len(word) > _LEFT_AFTER_AND and not _is_known(word):
        word = word[1:]
    while not _is_known(word) and len(word) > _LEFT_AFTER.get(word[0], len(word)):
        word = word[1:]
    return None if word in stop_words("he") else word


def _is_known(word: str) -> bool:
    """Small words are taken whole: the ל of לפני is not a prefix."""
    return word in stop_words("he") or word in negations("he")
