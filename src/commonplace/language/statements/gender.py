"""Whether two words name one role, held by a woman and by a man: Chef, Chefin."""

import re

from commonplace.language.statements.token import Kind, Token

# What the feminine adds to the masculine, or has in place of its ending.
_ENDINGS = {
    "de": (("", "in"),),
    "es": (("o", "a"), ("", "a"), ("e", "a")),
    "pt": (("o", "a"), ("", "a")),
    "it": (("o", "a"), ("e", "a"), ("tore", "trice")),
    "fr": (("", "e"), ("eur", "euse"), ("teur", "trice"), ("ien", "ienne"), ("er", "ère")),
    "ru": (("", "ка"), ("ь", "ница"), ("ник", "ница"), ("ец", "ица")),
    "he": (("", "ת"), ("", "ית"), ("", "ה"), ("ה", "ת")),
}
_UMLAUTS = str.maketrans("äöü", "aou")
_SHORTEST = 4
_HEBREW_ROLE = re.compile("ה[א-ת]{4,}")


def other_gender(one: Token, other: Token, language: str) -> bool:
    """The same noun for a man and for a woman. Names are two people: Daniel, Daniela."""
    if language == "he" and _joined(one.word, other.word):
        return True
    if not _is_noun(one, language) or not _is_noun(other, language):
        return False
    man, woman = (token.word.translate(_UMLAUTS) for token in (one, other))
    return _pair(man, woman, language) or _pair(woman, man, language)


def _joined(one: str, other: str) -> bool:
    """A noun before its owner: רואה החשבון, רואת החשבון. No name ends like the feminine."""
    man, woman = sorted((one, other), key=lambda word: (len(word), word[-1] == "ת"))
    return len(man) > 2 and woman in (man + "ת", man[:-1] + "ת" if man[-1] == "ה" else "")


def _is_noun(token: Token, language: str) -> bool:
    if language == "he":
        return _HEBREW_ROLE.fullmatch(token.word) is not None
    # German writes every noun like a name.
    return len(token.word) >= _SHORTEST and (token.kind is Kind.WORD or language == "de")


def _pair(man: str, woman: str, language: str) -> bool:
    return any(
        man.endswith(his) and woman == man[: len(man) - len(his)] + hers
        for his, hers in _ENDINGS.get(language, ())
    )
