"""Subject and value of a short statement: "the gate code is 1948#".

A subject is a noun phrase whose noun has a value by nature (a password, a bill, a size: see
attributes.txt), or any short one if the value is an amount. Everything else is prose.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from commonplace.language.fields.names import is_two_word_role
from commonplace.language.fields.phone_email import find_emails
from commonplace.language.text.lexicon import load_word_lists

_LONGEST = 160
_SUBJECT_WORDS = 7
_VALUE_WORDS = 7
_LISTS = load_word_lists("fields/attributes.txt")


# A one-time payment is not a lasting value, unless the noun has one by nature.
_PAST = ("was", "היה", "הייתה")
_DENIED = ("not", "no", "never", "לא", "אין")


class ValueType(StrEnum):
    """The form of a noun's values; named like the sections of attributes.txt."""

    CODE = "code"
    AMOUNT = "amount"
    DATE = "date"
    TEXT = "text"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class KeyValue:
    subject: str
    value: str


@dataclass(frozen=True, slots=True)
class _KeyValueSplit:
    """One way to split a statement; `link`: the words between, may be empty."""

    subject: str
    value: str
    link: str


# ——— split of subject and value ———

_LINK_EN = (
    r"(?:is|are|was|equals)(?: (?:now|currently|set to|going to be))?|"
    r"(?:has |was |is |got )?(?:changed|updated|reset|raised|lowered|moved) to|"
    r"(?:went|goes|came|comes) (?:up |down )?to|costs?|weighs|it's|it is|which is"
)
_LINK_HE = (
    r"(?:הוא|היא|הם|הן|זה|זו|היה|הייתה)(?: (?:עכשיו|כעת|כרגע))?|"
    r"עולה|עולים|עולות|שוקל|שוקלת|שווה"
)
_MOVED_HE = r"(?:השתנה|השתנתה|עלה|עלתה|ירד|ירדה|שונה|שונתה|עודכן|עודכנה)"
_LINK = re.compile(
    rf"(?<=\S)(?:\s*(?P<sign>[:=→])\s+|,?\s+(?P<verb>{_LINK_EN}|{_LINK_HE}):?\s+"
    rf"|\s+(?P<moved>{_MOVED_HE})\s+ל-?\s*)",
    re.IGNORECASE,
)
_SIGN = re.compile(r"(?<=\w)\s*[:=]\s*(?=\S)")
# "bank account number 4455-889911": the value begins with the first digit.
_JUXTAPOSED = re.compile(
    r"^(?P<subject>[^\d,;:]*[^\W\d_][^\d,;:]*?)\s+(?P<value>[#*$€£₪]?\S*\d.*)$"
)
_VALUE_FIRST = re.compile(
    r"^(?P<value>\S*\d\S*) is (?P<subject>(?:the|my|our) .+)$|"
    r"^(?P<value_he>\S*\d\S*) (?:זה|זו|הוא|היא) (?P<subject_he>[א-ת].+)$",
    re.I,
)

# ——— form of a value ———

_NUMBER = r"[-+~]?\d[\d,.]*+(?:\s?[kKmM]\b)?"
_CURRENCY = r"(?:[$€£₪¥]|USD|EUR|ILS|NIS|GBP)"
_UNIT = (
    r"(?:%|percent|dollars?|bucks|euros?|pounds?|cents?|shekels?|shekel|nis|ils|usd|eur|gbp|kr|yen|"
    r"kg|kgs|kilos?|grams?|g|mg|lbs?|oz|cm|mm|m|km|kms|meters?|metres?|miles?|mi|ft|feet|inch(?:es)?|"
    r"l|liters?|litres?|ml|gb|mb|tb|mbps|kwh|kw|w|v|mah|sqm|m2|m²|degrees?|°c?f?|minutes?|mins?|"
    r"hours?|hrs?|days?|weeks?|months?|years?|people|seats?|points?|pages?|calories|kcal|bpm|"
    r'שקל|שקלים|ש"ח|ש״ח|שח|₪|דולר|דולרים|יורו|אחוז|אחוזים|קילו|ק"ג|ק״ג|קג|גרם|ס"מ|ס״מ|סמ|מטר|מטרים|'
    r'ק"מ|ק״מ|קמ|ליטר|מ"ל|דקות|שעות|ימים|שבועות|חודשים|שנים|מעלות|מ"ר|מ״ר)'
)
_PER = r"(?:\s*/\s*\w+|\s+(?:per|an?|each|every|כל)\s+\w+|\s+[לב][א-ת]+)?"
_AMOUNT = re.compile(
    rf"(?:{_CURRENCY}\s?{_NUMBER}|{_NUMBER}\s?(?:{_CURRENCY}|{_UNIT})){_PER}", re.IGNORECASE
)
_MONEY = re.compile(
    rf"{_CURRENCY}|%|dollar|buck|euro|pounds|shekel|\b(?:nis|percent)\b|"
    r'שקל|ש"ח|ש״ח|שח\b|דולר|יורו|אחוז',
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)\b|"
    r"(?<![א-ת])(?:אחד|אחת|שתיים|שניים|שלוש|שלושה|ארבע|ארבעה|חמש|חמישה|שש|שישה|שבע|שבעה|שמונה|תשע|תשעה|"
    r"עשר|עשרה|עשרים|שלושים|ארבעים|חמישים|שישים|שבעים|מאה|מאתיים|אלף|אלפיים|מיליון)(?![א-ת])",
    re.I,
)
_WHEN = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b|\b\w+day\b|"
    r"\b(?:noon|midnight)\b|ינואר|פברואר|מרץ|אפריל|מאי|יוני|יולי|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר|"
    r"יום (?:ראשון|שני|שלישי|רביעי|חמישי|שישי|שבת)",
    re.I,
)
_SINGLED_OUT = re.compile(r"\d|^[A-Z]|\.\w|[א-ת].*[a-zA-Z]")
_AT_A_TIME = re.compile(r"^(?:on|at|by|in|from)\s+(?:the )?(?=\S)|^ב-?(?=\d|יום )", re.I)
_NOW = re.compile(
    r"(?<=\S),?\s+(?:right )?(?:now|nowadays|currently|עכשיו|כעת|כרגע)$", re.IGNORECASE
)
_QUOTED = re.compile(r"""^["“”'‘«](.+)["”“'’»]$""")
_CLAUSE_CONTINUES = re.compile(
    r"[,;]|\s(?:and|but|so|because|if|when|which|who|then|or|until|unless|since|while|though|"
    r"that|isn't|is|was|are|will|should|אבל|כי|אז|אם|כאשר|וגם|אלא|לפני|אחרי)\s|\s[–-]\s",
    re.I,
)
# "5 Herzl St, Tel Aviv", "May 3, 1990"
_LISTED_PLACE = re.compile(r"(?<=\w),\s?(?=\d|[A-Z])|(?<=\d),\s?(?=[א-ת]+(?: [א-ת]+)?$)")

_ARTICLE = re.compile(r"^(?:(?:the|my|our|a|an|new|current|latest)\s+)+(?=\S)", re.IGNORECASE)
_PREPOSITION = re.compile(r"\s(?:of|for|to|in|at|on|from|by|with)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\s,;:()]+")
_HEBREW = re.compile("[א-ת]")
_APOSTROPHES = str.maketrans("\u2019\u02bc", "''")


def parse_key_value(text: str, asked: bool = False) -> KeyValue | None:
    """Subject and value of a statement; None for prose. `asked`: the caller gives the kind."""
    if len(text) > _LONGEST or "\n" in text or text.endswith("?"):
        return None
    for split in _splits(text.translate(_APOSTROPHES)):
        subject, value = _clean_subject(split.subject), _clean_value(split.value)
        if subject and value and _is_key_value(subject, value, split.link, asked):
            return KeyValue(subject, _AT_A_TIME.sub("", value) if _WHEN.search(value) else value)
    return None


def _splits(text: str) -> Iterator[_KeyValueSplit]:
    """Ways to split a text, most certain first."""
    link = _LINK.search(text) or _SIGN.search(text)
    if link:
        groups = link.groupdict()
        verb = (groups.get("verb") or groups.get("moved") or ":").casefold()
        yield _KeyValueSplit(text[: link.start()], text[link.end() :], verb)
    turned = _VALUE_FIRST.match(text)
    if turned:
        yield _KeyValueSplit(
            turned["subject"] or turned["subject_he"],
            turned["value"] or turned["value_he"],
            "turned",
        )
    together = _JUXTAPOSED.match(text)
    if together and not link:
        yield _KeyValueSplit(together["subject"], together["value"], "")


def _is_key_value(subject: str, value: str, link: str, asked: bool) -> bool:
    words = _words(subject)
    if not words or len(words) > _SUBJECT_WORDS or _begins_a_clause(words):
        return False
    sort = value_type_of(subject)
    if not link:
        return sort is not None and _is_juxtaposed_value(words, sort, value)
    if sort is not None:
        return _fits_type(sort, value) or (asked and len(_words(value)) <= _VALUE_WORDS)
    if link == "turned" or any(letter.isdigit() for letter in subject):
        return False
    if link == ":":
        code = len(words) <= 3 and re.fullmatch(r"\S*\d\S*", value)
        return bool(code or _AMOUNT.fullmatch(value)) or asked
    if _AMOUNT.fullmatch(value) and _MONEY.search(value):
        return asked or link not in _PAST
    return asked and len(_words(value)) <= _VALUE_WORDS


def _is_juxtaposed_value(words: list[str], sort: ValueType, value: str) -> bool:
    """Whether a value directly after its subject is valid: "gate code 1948#"."""
    single = len(_words(value)) == 1
    if sort is ValueType.DATE:
        return len(words) > 1 and _fits_type(sort, value)
    if sort in (ValueType.TEXT, ValueType.PLACE):
        return len(words) > 1 and single
    return words != ["number"] and (single or bool(_AMOUNT.fullmatch(value)))


def _fits_type(sort: ValueType, value: str) -> bool:
    """Whether the noun can have such a value."""
    words = _words(value)
    if not words or len(words) > _VALUE_WORDS or _is_prose(value) or words[0] in _DENIED:
        return False
    match sort:
        case ValueType.AMOUNT:
            return bool(_FIGURE.search(" ".join(words[:2])))
        case ValueType.DATE:
            return bool(_WHEN.search(" ".join(words[:4])))
        case ValueType.PLACE:
            return bool(_SINGLED_OUT.search(value)) and not _is_state(words)
        case ValueType.CODE:
            return not _is_state(words)
        case ValueType.TEXT:
            return value[0].isupper() or not _is_state(words)


def _is_prose(value: str) -> bool:
    """Whether a clause continues after the value; a comma in a date or an address does not
    count."""
    if find_emails(value):
        return False
    return bool(_CLAUSE_CONTINUES.search(_LISTED_PLACE.sub(" ", value)))


def _is_state(words: list[str]) -> bool:
    first = words[0]
    language = "he" if _HEBREW.search(first) else "en"
    if first in _LISTS[f"{language} state"]:
        return True
    return language == "en" and len(words) > 1 and bool(re.fullmatch(r"[a-z]+(?:ed|ing|ly)", first))


def _begins_a_clause(words: list[str]) -> bool:
    return any(word in _LISTS["en clause"] or word in _LISTS["he clause"] for word in words)


def value_type_of(subject: str) -> ValueType | None:
    """The type of a subject's values; None if its noun has none by nature."""
    words = _words(subject)
    if _HEBREW.search(subject):
        if is_two_word_role(words):  # «רואה החשבון» is a person, not an account
            return None
        heads = [bare for word in words[:2] for bare in (word, word.removeprefix("ה"))]
        return _type_of_noun("he", heads, words)
    phrase = _words(_PREPOSITION.split(subject)[0])
    return _type_of_noun("en", phrase[-1:], words)


def _type_of_noun(language: str, heads: list[str], words: list[str]) -> ValueType | None:
    if any(word.removeprefix("ה") in _LISTS[f"{language} favourite"] for word in words):
        return ValueType.TEXT
    for head in heads:
        for sort in ValueType:
            if head in _LISTS[f"{language} {sort}"]:
                return sort
    return None


def _clean_subject(written: str) -> str:
    return _ARTICLE.sub("", written.strip(" ,:–-")).strip()


def _clean_value(written: str) -> str:
    """The value without quotation marks, final full stop and "now"."""
    bare = _NOW.sub("", written.strip().removesuffix(".").strip())
    quoted = _QUOTED.match(bare)
    return (quoted[1] if quoted else bare).strip()


def _words(text: str) -> list[str]:
    return [word.casefold().strip("'\"") for word in _WORD.findall(text)]
