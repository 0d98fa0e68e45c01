"""Who is spoken of: first names, relatives, and people whom the caller knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from commonplace.language.names import bare, name_parts
from commonplace.language.stopwords import stop_words
from commonplace.language.wordlists import word_lists

_FILE = "asking/first_names.txt"
_WORD = re.compile(r"[^\W_]+(?:['’\"״-][^\W_]+)*['’]?")
_PREFIXES = re.compile(r"^(?:ו?[לבמכש]|ו)(?=[א-ת]{2})")
_POINTING = frozenset(("my", "our", "his", "her", "their", "this", "that"))
_OWNING = frozenset(("של", "שלי", "שלנו", "שלו", "שלה", "שלהם"))
_BESIDE_A_NAME = frozenset(("עם", "של", "אצל", "בשביל", "ועם"))
_BEFORE_NO_NAME = frozenset(("in", "on", "since", "until", "during", "last", "next", "by", "of"))
_SENTENCE_END = re.compile(r"[.!?:\n]")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Mention:
    """A person as a text names them, and where."""

    start: int
    end: int
    text: str  # without a possessive or a glued prefix

    @property
    def key(self) -> str:
        return bare(self.text)


def is_kin(word: str) -> bool:
    return word.lower() in _lists("en kin") | _lists("en alone")


def persons_in(text: str, known: Collection[str] = ()) -> list[Mention]:
    """In their order. ``known`` are folded first names that the caller has met."""
    found = list(_WORD.finditer(text))
    return list(_mentions(found, known))


def _mentions(found: Sequence[re.Match[str]], known: Collection[str]) -> Iterator[Mention]:
    place = 0
    while place < len(found):
        mention, used = _english(found, place, known), 1
        mention = mention or _hebrew(found, place, known)
        if mention is not None:
            mention, used = _with_surname(mention, found, place)
            yield mention
        place += used


def _english(found: Sequence[re.Match[str]], place: int, known: Collection[str]) -> Mention | None:
    match = found[place]
    word, capital = bare(match[0]), match[0][0].isupper()
    before = bare(found[place - 1][0]) if place else ""
    if word in _lists("en ordinary"):
        named = capital and _is_inside(found, place) and not _is_a_date(found, place)
    else:
        named = (word in _lists("en") or word in known) and not _is_in_a_title(found, place)
    if named or (word in _lists("en alone") and before not in _POINTING):
        return _mention(match, match.start())
    if word in _lists("en kin") | _lists("en alone") and before in _POINTING:
        return _mention(match, found[place - 1].start())
    return None


def _is_in_a_title(found: Sequence[re.Match[str]], place: int) -> bool:
    """ "the Mona Lisa": a capital before it that no beginning and no other name explains."""
    if place < 2 or not found[place][0][0].isupper():
        return False
    before = found[place - 1]
    beside = before.string[before.end() : found[place].start()].isspace()
    word = bare(before[0])
    is_one = word in _lists("en") | _lists("en kin") | _lists("en alone") | _lists("en titles")
    return beside and before[0][0].isupper() and not is_one and before[0] != "I"


def _is_a_date(found: Sequence[re.Match[str]], place: int) -> bool:
    """ "in May", "4 May", "May 2025"."""
    before = bare(found[place - 1][0])
    after = found[place + 1][0] if place + 1 < len(found) else ""
    return before in _BEFORE_NO_NAME or before[:1].isdigit() or after[:1].isdigit()


def _is_inside(found: Sequence[re.Match[str]], place: int) -> bool:
    """At the beginning of a sentence everything has a capital, so it says nothing there."""
    if not place:
        return False
    match, before = found[place], found[place - 1]
    return not _SENTENCE_END.search(match.string, before.end(), match.start())


def _mention(match: re.Match[str], start: int) -> Mention:
    end = match.end() - len(found[0] if (found := _POSSESSIVE.search(match[0])) else "")
    return Mention(start, end, match.string[start:end])


def _hebrew(found: Sequence[re.Match[str]], place: int, known: Collection[str]) -> Mention | None:
    match = found[place]
    if match[0].isascii():
        return None
    word = match[0]
    after = found[place + 1][0] if place + 1 < len(found) else ""
    before = found[place - 1][0] if place else ""
    for form in dict.fromkeys((word, _PREFIXES.sub("", word))):
        start = match.end() - len(form)
        if form in _lists("he ordinary"):
            named = form == word and before in _BESIDE_A_NAME
        else:
            named = form in _lists("he") or form in known or form in _lists("he alone")
        if named or form in _mine():
            return Mention(start, match.end(), form)
        if form.removeprefix("ה") in _lists("he kin") and after in _OWNING:
            end = match.end() if after == "של" else found[place + 1].end()
            return Mention(start, end, match.string[start:end])
    return None


@cache
def _mine() -> frozenset[str]:
    """Relatives of the user in one word: אחותי is "my sister". Others are words like any."""
    return frozenset(
        word for word in _lists("he kin") if word.endswith("י") and word not in _lists("he")
    )


def _with_surname(
    mention: Mention, found: Sequence[re.Match[str]], place: int
) -> tuple[Mention, int]:
    """ "Sarah Cohen" is one mention."""
    if place + 1 == len(found) or mention.end != found[place].end():
        return mention, 1
    text, after = found[place].string, found[place + 1]
    is_beside = text[mention.end : after.start()] == " "
    if not (is_beside and text[mention.start].isupper() and after[0][0].isupper()):
        return mention, 1
    if after[0].isupper() or bare(after[0]) in _lists("en"):
        return mention, 1
    joined = _mention(after, mention.start)
    return joined, 2


def first_names(people: Iterable[str]) -> frozenset[str]:
    """Of people as they are called in full; an address, a part or a role is nobody's name."""
    parts = (name_parts(person) for person in people if "@" not in person and person[:1].isupper())
    found = {each[0] for each in parts if each and len(each[0]) > 2}
    return frozenset(found - _no_names())


@cache
def _no_names() -> frozenset[str]:
    lists = word_lists("people.txt")
    roles = (name for name in lists if name.split()[1] in ("role", "field"))
    return frozenset().union(stop_words("en"), _lists("en ordinary"), *(lists[r] for r in roles))


@cache
def _lists(name: str) -> frozenset[str]:
    return word_lists(_FILE)[name]


def may_be(mention: Mention, pronoun: str) -> bool:
    """Whether he or she can mean them; of a name we do not know."""
    last = mention.key.split()[-1] if mention.key else ""
    other = {"he": "en she", "she": "en he"}.get(pronoun)
    return other is None or last not in _lists(other)
