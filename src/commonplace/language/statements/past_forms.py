"""Whether a word is a verb in the past, by its form."""

import re

from commonplace.language.past import is_past

# Endings of verbs in the past, where one word tells it. Endings that many nouns share are left out.
_ENDING = {
    "es": re.compile(r"\w{2,}(?:ó|aron|ieron|amos|imos|aste)"),
    "pt": re.compile(r"\w{2,}(?:ou|aram|eram|iram|ámos)"),
    # Past forms stand without the ו of the present (כתבה, כותבת); ours and mine end in נו and תי.
    "he": re.compile(r"(?!מ)[א-ת][א-הז-ת][א-ת]ה?|[א-ת]{2,}(?:נו|תי)|הת[א-ת]{2,}ה?"),
    "ar": re.compile(r"(?![تين])\w{2,}ت"),
    "ru": re.compile(r"\w{2,}(?:[аеиоуыюя]л[аи]?|л[аи]?сь|лся)"),
}


def is_deed_word(word: str, language: str) -> bool:
    """Whether a word tells what was done."""
    if language == "en":
        return is_past(word)
    ending = _ENDING.get(language)
    return ending is not None and ending.fullmatch(word) is not None
