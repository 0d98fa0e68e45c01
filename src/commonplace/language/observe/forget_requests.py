"""Requests to forget: what they are about, and turns that say nothing else.

The patterns are in requests.toml.
"""

from __future__ import annotations

import re

from commonplace.language.text.filler import is_filler
from commonplace.language.text.lexicon import (
    any_pattern,
    first_match,
    first_named_group,
    load_patterns,
)
from commonplace.language.text.sentences import split_sentences

_DATA = load_patterns("observe/requests")
_FORGET_REQUEST, _ABOUT, _REMOVAL = (
    tuple(any_pattern([each], _DATA["words"]) for each in _DATA[name])
    for name in ("forget", "about", "removal")
)
_MAX_REQUEST_CHARACTERS = 300  # a longer turn says something else as well
# The reason of a request: "…, I sold it", "… because it's wrong", "… – that's private".
_AFTERTHOUGHT = re.compile(
    r"(?:[,;.]|\s[-–—])\s+(?:it|that|this|he|she|they|i|we|there|because|since|cause|now that|"
    r"no longer|not|as|thanks|please|הוא|היא|זה|זו|הם|אני|אנחנו|כי|כבר|לא|מכרתי|מכרנו|"
    r"טעיתי|תודה)\b.*$"
    r"|\s+(?:because|since|cause|as (?:i|it|we|he|she|they)|now that)\b.*$"
    r"|\s+(?:כי|מפני ש\S*|בגלל ש\S*)\s.*$|\s+(?:please|בבקשה)\W*$",
    re.IGNORECASE | re.DOTALL,
)


def detect_forget_request(sentence: str) -> str | None:
    """What the user asks to forget."""
    found = first_match(_FORGET_REQUEST, sentence)
    what = first_named_group(found, "what") if found else None
    return _without_lead(_without_reason(what)) if what else None


def asks_to_remove(sentence: str) -> bool:
    """Whether it has a word for removing, or for not keeping: without one, nobody has asked."""
    return any(each.search(sentence) for each in _REMOVAL)


def asks_only_to_forget(turn: str) -> bool:
    """Whether a turn is a request to forget and says nothing else."""
    if len(turn) > _MAX_REQUEST_CHARACTERS:
        return False
    said = [each for each in split_sentences(turn) if not is_filler(each)]
    return bool(said) and all(map(detect_forget_request, said))


def clean_forget_query(query: str) -> str:
    """What a query to forget is about: without the request itself and without its reason."""
    if len(query) > _MAX_REQUEST_CHARACTERS:
        return query
    return detect_forget_request(query) or _without_lead(_without_reason(query)) or query


def _without_lead(what: str) -> str:
    """Without "everything about"."""
    found = first_match(_ABOUT, what)
    return (first_named_group(found, "what") if found else None) or what


def _without_reason(what: str) -> str:
    return _AFTERTHOUGHT.sub("", " ".join(what.split())).strip(" .,!?")
