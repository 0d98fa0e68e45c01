"""Where something is, said without a verb: «המפתח מתחת לשטיח», «Ключ под ковриком»."""

import re
from collections.abc import Sequence

from commonplace.language.statements.lexicon import data, word_list
from commonplace.language.statements.parse import Parsed
from commonplace.language.statements.token import Kind, Token

_PLACES = frozenset(word_list(data("single")["he"]["places"]))
_OPEN = frozenset(word_list(data("single")["ru"]["open"]))
_LOOKS_LIKE_A_VERB = re.compile(r"\w+(?:[аеиоуыюя]т|ла?|ли|ло|[ую]|[тс][ья]|ешь|ишь|ем|им)")


def is_where(parsed: Parsed, value: Sequence[Token]) -> bool:
    """Whether the text ends in this place, with nothing but a known thing before it."""
    if value[-1] is not parsed.content[-1] or value[0].is_value:
        return False
    thing = [t for t in parsed.tokens if t.end <= value[0].start]
    if any(t.role in ("verb", "have", "copula", "not") for t in thing):
        return False
    if parsed.language == "he":
        return _opens_place(value[0], thing) and _is_known(thing)
    if parsed.language == "ar":
        named = len(thing) == 2 and thing[0].word.startswith("ال")  # «المفتاح تحت السجادة»
        return named and thing[1].role == "prep"
    if parsed.language == "ru":
        return thing[-1:] != [] and thing[-1].role == "prep" and _is_noun(thing[:-1])
    return False


def _opens_place(first: Token, before: Sequence[Token]) -> bool:
    glued = first.word[:1] == "ב" and len(first.word) > 2
    return glued or first.word in _PLACES or (bool(before) and before[-1].role == "prep")


def _is_known(thing: Sequence[Token]) -> bool:
    """«המפתח הרזרבי», «הדרכון של דנה»: each word has its article, or follows its owner's "of"."""
    said = [t for t in thing if t.role != "prep"]
    if not said or said[0].word[:1] != "ה" or len(said[0].word) < 4:
        return False
    return all(
        t.word[:1] == "ה" or t.role in ("my", "pron", "of") or said[at - 1].role == "of"
        for at, t in enumerate(said)
    )


def _is_noun(thing: Sequence[Token]) -> bool:
    plain = [t for t in thing if t.term and t.kind in (Kind.WORD, Kind.NAME)]
    named = len(plain) == 1 and plain[0].kind is Kind.NAME and plain[0].start > 0
    verbal = any(t.word in _OPEN or _LOOKS_LIKE_A_VERB.fullmatch(t.word) for t in plain)
    return bool(plain) and not named and not verbal
