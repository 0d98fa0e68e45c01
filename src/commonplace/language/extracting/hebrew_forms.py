"""Hebrew says "I" and "my" in the ending of a word: «אחותי», «עבדתי». Here they get a word.

So the patterns need one form: «אחות של ⟨p0i⟩», «⟨p0i⟩ עבד».
"""

from __future__ import annotations

import re
from functools import cache

from commonplace.language.extracting.table import data

_START, _END = r"(?<![\w\"״׳'])", r"(?![\w\"״׳'])"
_I = re.compile(rf"{_START}(?P<and>ו)?(?:אני|אנחנו){_END}")
_WITH_ME = re.compile(rf"{_START}(?:איתי|אתי|איתנו){_END}")


def _pairs(listed: str) -> dict[str, str]:
    pairs = (each.split(":") for each in listed.split())
    return {form: word.replace("_", " ") for form, word in pairs}


MY = _pairs(data("said")["hebrew"]["my"])  # «אחותי» → «אחות»
MINE = tuple(MY)
POSSESSIVES = frozenset(data("said")["hebrew"]["possessive"].split())


def in_two_words(text: str, me: str) -> str:
    i_did, mine = _forms()
    text = mine.sub(f"של {me}", text)
    text = _WITH_ME.sub(f"עם {me}", text)
    text = _I.sub(lambda found: f"{found['and'] or ''}{me}", text)
    text = re.sub(
        rf"{_START}(ו?)({'|'.join(MINE)}){_END}", lambda f: f"{f[1]}{MY[f[2]]} של {me}", text
    )
    return re.sub(
        rf"{_START}(ו?)({'|'.join(i_did)}){_END}", lambda f: f"{f[1]}{me} {i_did[f[2]]}", text
    )


@cache
def _forms() -> tuple[dict[str, str], re.Pattern[str]]:
    mine = re.compile(rf"{_START}(?:{'|'.join(sorted(POSSESSIVES))}){_END}")
    return _pairs(data("said")["hebrew"]["i_did"]), mine
