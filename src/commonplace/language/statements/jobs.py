"""Words for what people do for a living: of these, one is true of a person at a time."""

import re
from collections.abc import Sequence
from functools import cache

from commonplace.language.statements.lexicon import data, word_list

# Endings that hardly any other word has.
_ENDING = {
    "en": re.compile(r"\w{3,}(?:ologist|iatrist|graphist|icist|grapher|ician|smith|ographer)"),
    "es": re.compile(r"\w{3,}(?:ólog[oa]|iatra|ógraf[oa]|ecari[oa])"),
    "fr": re.compile(r"\w{3,}(?:ologue|iatre|icien|icienne|ographe)"),
    "de": re.compile(
        r"\w{3,}(?:loge|login|iker|ikerin|graf|grafin|arzt|ärztin|lehrer|lehrerin|meister"
        r"|meisterin|berater|beraterin|leiter|leiterin|ingenieur|ingenieurin|pfleger|pflegerin)"
    ),
    "it": re.compile(r"\w{3,}(?:olog[oa]|iatra|ografo)"),
    "pt": re.compile(r"\w{3,}(?:ólog[oa]|iatra|ógraf[oa])"),
    "ru": re.compile(r"\w{3,}(?:олог|иатр|ограф)(?:ом)?"),
}
_FIRST_WORD = frozenset({"es", "fr", "it", "pt", "he", "ar", "ru"})  # "ingeniera de caminos"


@cache
def _known(language: str) -> frozenset[str]:
    return frozenset(word_list(data("jobs").get(language, "")))


def is_job(words: Sequence[str], language: str) -> bool:
    """Whether what somebody is said to be is a job."""
    heads = words[:1] if language in _FIRST_WORD else words
    shape = _ENDING.get(language)
    return any(word in _known(language) or (shape and shape.fullmatch(word)) for word in heads)
