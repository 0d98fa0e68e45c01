"""Tokens of a statement: kinds, scanning, titles, and equality of two tokens."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from commonplace.language.text.dates import dates_agree
from commonplace.language.text.lexicon import (
    ambiguous_names,
    fold_word,
    load_table,
    parse_word_list,
    word_roles,
)
from commonplace.language.text.normalise import COMBINING_MARKS, INVISIBLE, VOWEL_POINTS
from commonplace.language.text.sentences import is_past


class CompareTokenKind(StrEnum):
    """Kind of a token, by its form."""

    WORD = "word"
    NAME = "name"  # a capital where none is required, or quoted
    NUMBER = "number"  # a count, a quantity with its unit, a sum of money
    DATE = "date"
    TIME = "time"
    CODE = "code"  # versions, addresses, mixed letters and digits: compared exactly
    MARK = "mark"


OWNER_TERM = "@me"  # of "I", "my" and "the user"
VALUE_KINDS = frozenset(
    {CompareTokenKind.NUMBER, CompareTokenKind.DATE, CompareTokenKind.TIME, CompareTokenKind.CODE}
)


@dataclass(frozen=True, slots=True)
class CompareToken:
    """A piece of text with its meaning: tokens with equal terms are equal."""

    text: str  # as written
    word: str  # folded
    kind: CompareTokenKind
    start: int
    end: int
    role: str = ""  # function in the sentence: see grammar.toml
    term: str = ""  # compared; empty if the token adds no meaning
    bare: str = ""  # a quantity's number without its unit, for "weighs 70" and "weighs 70 kg"

    @property
    def is_value(self) -> bool:
        return self.kind in VALUE_KINDS

    def but(
        self,
        kind: CompareTokenKind | None = None,
        role: str | None = None,
        term: str | None = None,
        bare: str | None = None,
    ) -> "CompareToken":
        """A copy with changed fields; written for speed, because each word uses it."""
        return CompareToken(
            self.text,
            self.word,
            kind or self.kind,
            self.start,
            self.end,
            self.role if role is None else role,
            self.term if term is None else term,
            self.bare if bare is None else bare,
        )


def join_tokens(
    tokens: list[CompareToken], kind: CompareTokenKind, term: str, bare: str = ""
) -> CompareToken:
    """Several tokens as one."""
    first, last = tokens[0], tokens[-1]
    text = " ".join(token.text for token in tokens)
    word = " ".join(token.word for token in tokens)
    return CompareToken(text, word, kind, first.start, last.end, term=term, bare=bare)


_PAIRWISE_LIMIT = 50
HEBREW_PREFIXES = frozenset("בלמהוכש")


def is_same_term(one: CompareToken, other: CompareToken) -> bool:
    """Equal, or a date or quantity that leaves a part out."""
    if one.term == other.term:
        return True
    if one.kind is CompareTokenKind.WORD and other.kind is CompareTokenKind.WORD:
        return _is_prefixed_form(one.term, other.term) or _is_prefixed_form(other.term, one.term)
    if one.kind is CompareTokenKind.DATE and other.kind is CompareTokenKind.DATE:
        return (
            one.term.startswith("d:")
            and other.term.startswith("d:")
            and dates_agree(one.term, other.term)
        )
    if {one.kind, other.kind} == {CompareTokenKind.NUMBER, CompareTokenKind.TIME}:
        number, time = (one, other) if one.kind is CompareTokenKind.NUMBER else (other, one)
        return number.term == number.bare and time.term == f"t:{number.bare[2:]}:00"
    if one.kind is CompareTokenKind.NUMBER and other.kind is CompareTokenKind.NUMBER:
        unitless = one.term == one.bare or other.term == other.bare
        return bool(one.bare) and one.bare == other.bare and unitless
    return False


def _is_prefixed_form(longer: str, shorter: str) -> bool:
    """The analyser keeps the prefix of short Hebrew names: לדן is "to Dan"."""
    return len(shorter) > 1 and longer[1:] == shorter and longer[0] in HEBREW_PREFIXES


def unmatched_tokens(
    these: Iterable[CompareToken], those: Sequence[CompareToken]
) -> list[CompareToken]:
    """Tokens of the first sequence without a partner in the second; each partner is used once.

    Equal terms are matched first. Only the rest is compared pairwise, and only if it is short, so
    that long texts take linear time.
    """
    counts = Counter(token.term for token in those)
    lacking = []
    for token in these:
        if counts[token.term]:
            counts[token.term] -= 1
        else:
            lacking.append(token)
    if not lacking or len(lacking) > _PAIRWISE_LIMIT or counts.total() > _PAIRWISE_LIMIT:
        return lacking
    left = [token for token in reversed(those) if _take(counts, token.term)]
    return [token for token in lacking if not _take_partner(token, left)]


def _take(counts: Counter[str], term: str) -> bool:
    """Use up one occurrence of a term; False if none is left."""
    counts[term] -= 1
    return counts[term] >= 0


def _take_partner(token: CompareToken, left: list[CompareToken]) -> bool:
    for at, candidate in enumerate(left):
        if is_same_term(token, candidate):
            del left[at]
            return True
    return False


def tokens_text(tokens: Sequence[CompareToken]) -> str:
    return " ".join(token.text for token in tokens)[:80]


# Feminine endings, added to the masculine or replacing its ending.
_FEMININE_ENDINGS = {
    "de": (("", "in"),),
    "es": (("o", "a"), ("", "a"), ("e", "a")),
    "pt": (("o", "a"), ("", "a")),
    "it": (("o", "a"), ("e", "a"), ("tore", "trice")),
    "fr": (("", "e"), ("eur", "euse"), ("teur", "trice"), ("ien", "ienne"), ("er", "ère")),
    "ru": (("", "ка"), ("ь", "ница"), ("ник", "ница"), ("ец", "ица")),
    "he": (("", "ת"), ("", "ית"), ("", "ה"), ("ה", "ת")),
}
_UMLAUTS = str.maketrans("äöü", "aou")
_MIN_NOUN_LETTERS = 4
_HEBREW_ROLE = re.compile("ה[א-ת]{4,}")


def is_other_gender(one: CompareToken, other: CompareToken, language: str) -> bool:
    """The same noun for a man and for a woman. Names are different people: Daniel, Daniela."""
    if language == "he" and _is_construct_pair(one.word, other.word):
        return True
    if not _is_role_noun(one, language) or not _is_role_noun(other, language):
        return False
    man, woman = (token.word.translate(_UMLAUTS) for token in (one, other))
    return _is_gender_pair(man, woman, language) or _is_gender_pair(woman, man, language)


def _is_construct_pair(one: str, other: str) -> bool:
    """A noun before its owner: רואה החשבון, רואת החשבון. No name has this feminine ending."""
    man, woman = sorted((one, other), key=lambda word: (len(word), word[-1] == "ת"))
    return len(man) > 2 and woman in (man + "ת", man[:-1] + "ת" if man[-1] == "ה" else "")


def _is_role_noun(token: CompareToken, language: str) -> bool:
    if language == "he":
        return _HEBREW_ROLE.fullmatch(token.word) is not None
    # German capitalises all nouns.
    return len(token.word) >= _MIN_NOUN_LETTERS and (
        token.kind is CompareTokenKind.WORD or language == "de"
    )


def _is_gender_pair(man: str, woman: str, language: str) -> bool:
    return any(
        man.endswith(masculine) and woman == man[: len(man) - len(masculine)] + feminine
        for masculine, feminine in _FEMININE_ENDINGS.get(language, ())
    )


_CODE = CompareTokenKind.CODE
_LETTER = rf"[^\W\d_][{COMBINING_MARKS}]*"

# In order of precedence. Each repetition is over one character class and bounded or possessive, so
# that scanning takes linear time.
_TOKEN = re.compile(
    r"(?P<url>(?:https?://|www\.)\S{1,500}+)"
    r"|(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+)"
    r"|(?P<iso>(?<![\w.-])\d{4}-\d{1,2}-\d{1,2}(?![\w-]))"
    r"|(?P<slashed>(?<![\w./])\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})(?![\w/]))"
    r"|(?P<phone>(?<![\w.])(?:\+\d{1,3}[ -]?(?:\(\d{1,4}\)[ -]?)?\d[\d -]{5,14}\d"
    r"|0\d{1,3}-\d{3,4}-?\d{3,4}|\(\d{2,4}\) ?\d{3,4}-?\d{3,4}|\d{3}-\d{3}-\d{4}|0\d{8,10})(?!\w))"
    r"|(?P<time>(?<![\w.:])\d{1,2}:\d{2}(?: ?[ap]\.?m\b\.?)?|(?<![\w.])\d{1,2}h\d{2}(?!\w)"
    r"|(?<![\w.])\d{1,2} ?[ap]\.?m\b\.?)"
    r"|(?P<version>(?<![\w.])v?\d+(?:\.\d+){2,}|(?<![\w.])[vV]\d+(?:\.\d+)*)"
    r"|(?P<code>(?<![\w])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?!\d+(?:[.,]\d+)*(?:st|nd|rd|th|[a-zA-Z]{1,4})(?!\w))"
    r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*)"
    r"|(?P<grade>(?<!\w)[A-Z]{1,2}[+\u2212-]+(?!\w))"
    r"|(?P<number>(?<![\w.])[+\u2212-]?\d+(?:[.,\u00a0\u202f]\d+)*)"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|(?<=[א-ת])[\"'״׳](?=[א-ת])|['’](?={_LETTER}))*+)"
    r"|(?P<mark>[^\w\s])"
)

_QUOTED = re.compile(r"[\"“«„]([^\"“”«»„\n]{1,80})[\"”»“]")
_APOSTROPHES = str.maketrans("’ʼ", "''")
_HEBREW_MARKS = str.maketrans("", "", "\"'״׳")
_ELIDED = frozenset(parse_word_list("l d j n s m c qu t un all dell nell dall sull quell jusqu"))
_NEGATED_AUXILIARIES = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_DIGITS = re.compile(r"\D")

MAX_TOKEN_CHARACTERS = 64


def scan_tokens(text: str, elides: bool) -> list[CompareToken]:
    """Scan a text. `elides`: the language writes "l'homme" for two words."""
    found: list[CompareToken] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "word":
            found.extend(_word_tokens(match[0], match.start(), elides))
        elif kind == "mark":
            found.append(_match_token(match, match[0], CompareTokenKind.MARK))
        elif kind == "phone":
            found.append(_match_token(match, "tel:" + _DIGITS.sub("", match[0]), _CODE))
        elif kind in ("url", "mail", "version", "code", "grade"):
            folded = match[0].rstrip(".,;:!?)").replace("\u2212", "-")
            exact = folded.casefold().removeprefix("v" if kind == "version" else "")
            found.append(_match_token(match, "c:" + exact, _CODE))
        else:
            found.append(_match_token(match, kind, _KIND_BY_GROUP[kind]))
    return found


_KIND_BY_GROUP = {
    "iso": CompareTokenKind.DATE,
    "slashed": CompareTokenKind.DATE,
    "time": CompareTokenKind.TIME,
    "number": CompareTokenKind.NUMBER,
}


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Spans inside quotation marks."""
    return [match.span(1) for match in _QUOTED.finditer(text)]


def _match_token(match: re.Match[str], term: str, kind: CompareTokenKind) -> CompareToken:
    word = match[0].casefold()[:MAX_TOKEN_CHARACTERS]
    return CompareToken(match[0], word, kind, match.start(), match.end(), term=term)


def _word_tokens(text: str, start: int, elides: bool) -> Iterator[CompareToken]:
    """A word, or the words joined by an apostrophe."""
    plain = text.translate(_APOSTROPHES)
    if "'" not in plain and '"' not in plain and "״" not in plain and "׳" not in plain:
        if plain.lower() == "cannot":
            yield _word_token(text[:3], start)
            yield CompareToken(text[3:], "not", CompareTokenKind.WORD, start + 3, start + len(text))
            return
        yield _word_token(text, start)
        return
    if "א" <= text[0] <= "ת":
        yield CompareToken(
            text,
            _fold_token(text.translate(_HEBREW_MARKS)),
            CompareTokenKind.WORD,
            start,
            start + len(text),
        )
        return
    head, _, tail = plain.rpartition("'")
    low, ending = head.lower(), tail.lower()
    if ending == "t" and low.endswith("n"):
        whole = f"{low}'t"
        yield _word_token(text[: len(head)], start, _NEGATED_AUXILIARIES.get(whole, low[:-1]))
        yield CompareToken(
            text[-3:], "not", CompareTokenKind.WORD, start + len(head) - 1, start + len(text)
        )
    elif ending in ("s", "m", "re", "ve", "ll", "d") and not (elides and low in _ELIDED):
        yield _word_token(text[: len(head)], start)
        at, word = start + len(head), "have" if ending == "ve" else f"'{ending}"
        yield CompareToken(text[len(head) :], word, CompareTokenKind.WORD, at, start + len(text))
    elif elides and (cut := plain.find("'")) and plain[:cut].lower() in _ELIDED:
        yield CompareToken(
            text[: cut + 1], plain[: cut + 1].lower(), CompareTokenKind.WORD, start, start + cut + 1
        )
        yield from _word_tokens(text[cut + 1 :], start + cut + 1, elides)
    else:
        yield _word_token(text, start)


def _word_token(text: str, start: int, word: str | None = None) -> CompareToken:
    return CompareToken(
        text, word or _fold_token(text), CompareTokenKind.WORD, start, start + len(text)
    )


@lru_cache(maxsize=32_768)
def _fold_token(text: str) -> str:
    folded = fold_word(text)[:MAX_TOKEN_CHARACTERS]
    if folded.isascii():
        return folded
    return folded.translate(VOWEL_POINTS).translate(INVISIBLE)


_SENTENCE_ENDS = frozenset(".!?:\n")
_VERBAL = frozenset({"copula", "have", "verb", "past", "future", "maybe"})


def is_name_word(tokens: list[CompareToken], at: int, language: str) -> bool:
    """ "Will called Rose": words that are names if capitalised.

    At the start of a text every word is capitalised; there it needs a verb after it.
    """
    token = tokens[at]
    if token.word not in ambiguous_names(language) or not token.text.istitle():
        return False
    if at and tokens[at - 1].text not in _SENTENCE_ENDS:
        return True
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    if word_roles(language).get(following) in _VERBAL:
        return True
    return following.endswith(("s", "ed")) or is_past(following)


TITLE_PREFIX = "title:"


@cache
def _titles() -> dict[str, str]:
    """Titles with their terms: "Dr." and "Doctor" are equal."""
    lists = load_table("single")["any"]
    found = {word: word for word in parse_word_list(lists["titles"])}
    for row in lists["same_titles"]:
        words = parse_word_list(row)
        found.update(dict.fromkeys(words, words[0]))
    return found


def title_term(tokens: list[CompareToken], at: int, language: str) -> str:
    """The term of a title before a name, else ""."""
    title = _titles().get(tokens[at].word)
    named = tokens[at + 1] if at + 1 < len(tokens) else None
    if (
        title is None
        or named is None
        or named.kind not in (CompareTokenKind.WORD, CompareTokenKind.NAME)
    ):
        return ""
    has_capitals = language not in ("he", "ar")
    if has_capitals and not named.text[:1].isupper():
        return ""
    return "" if named.role else TITLE_PREFIX + title
