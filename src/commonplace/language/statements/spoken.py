"""Which language a statement is in, as far as its words tell."""

import re
from collections import Counter
from functools import lru_cache

from commonplace.language.detect import Script, script
from commonplace.language.statements.lexicon import LATIN, evidence

_HEARD = 1_000  # characters that tell the language
_SCRIPTS = {Script.HEBREW: "he", Script.ARABIC: "ar", Script.CYRILLIC: "ru"}
_WORDS = re.compile(r"[^\W\d_]+")
_FRENCH_PAST = re.compile(r"\b(?:a|ai|as|ont|avons|est|sont) \w{2,40}ée?s?\b")  # "a visité Rome"


def language_of(*texts: str) -> str:
    """The language of one text, or the common one of several."""
    alone = {_alone(text[:_HEARD]) for text in texts}
    if len(alone) == 1 and (only := next(iter(alone))):
        return only
    return languages_of(*texts)[0]


@lru_cache(maxsize=4_096)
def _alone(text: str) -> str:
    """The language of a text that leaves no doubt, else nothing."""
    found = languages_of(text)
    return found[0] if len(found) == 1 else ""


def languages_of(*texts: str) -> tuple[str, ...]:
    """The languages that most words speak for: more than one where a short text leaves it open."""
    counts = dict.fromkeys(LATIN, 0)
    for text in texts:
        written_in, found = _spoken_for(text[:_HEARD])
        if written_in:
            return (written_in,)
        for language, count in found:
            counts[language] += count
    most = max(counts.values())
    return tuple(language for language in LATIN if counts[language] == most)


@lru_cache(maxsize=4_096)
def _spoken_for(text: str) -> tuple[str | None, tuple[tuple[str, int], ...]]:
    """The language that a script stands for, or how many words speak for which language."""
    written_in = _SCRIPTS.get(script(text))
    if written_in:
        return written_in, ()
    known = evidence()
    heard = Counter(
        language for word in _WORDS.findall(text.casefold()) for language in known.get(word, ())
    )
    heard["fr"] += 2 * bool(_FRENCH_PAST.search(text))
    return None, tuple(heard.items())
