"""People's names and roles in a text: matching, folding, parsing.

An exact name matches in any case, unless it is also an ordinary word (Will, May, Rose): then it
needs a capital, and a month must not follow a preposition. Nicknames and misspellings need a
capital, too. In Hebrew, prefix letters are stripped.

A role is at the beginning or the end of a person's description, without possessives and "new"
("my", "new", «שלי», «החדשה»).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from commonplace.language.text.detect import ambiguous_months, month_names
from commonplace.language.text.lexicon import ambiguous_names, load_word_lists, stop_words
from commonplace.language.text.normalise import fold_case
from commonplace.model.unicode_text import normal_form

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*['’]?")
_PREFIXED = re.compile(r"^[ולבמהכש](?=[א-ת]{2})")
_DOUBLED = re.compile(r"(.)\1")
_BEFORE_A_MONTH = frozenset(
    ("in", "on", "since", "until", "till", "during", "last", "next", "this", "of", "by", "before")
)
_MIN_SIMILARITY = 0.8
_SHORTEST_MISSPELT = 5  # Jon is not John
_SHORTEST_NICKNAME = 3
MAX_GUESSED_NAMES = 500  # with more people, only exact names match

# Speakers that are roles in a log, not names.
SPEAKER_ROLES = frozenset(
    ["user", "assistant", "system", "tool", "human", "ai", "bot", "agent", "speaker", "unknown"]
)


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """People named in a question; one mention may match several spellings of a person."""

    mentions: tuple[frozenset[str], ...] = ()
    words: frozenset[str] = frozenset()  # as written in the question

    @property
    def people(self) -> frozenset[str]:
        return frozenset().union(*self.mentions)


@dataclass(frozen=True, slots=True)
class _NameWord:
    """A word of the question that may be a name."""

    written: str
    forms: tuple[str, ...]  # folded, and without prefix letters
    has_capital: bool
    is_first: bool
    is_month: bool  # in this context


def find_named_people(text: str, people: Iterable[str]) -> NamedPeople:
    found = find_name_words(text, people)
    return NamedPeople(_group_mentions(found), frozenset().union(*found.values()))


def find_name_words(text: str, people: Iterable[str]) -> dict[str, frozenset[str]]:
    """Named people with the words that name them."""
    known = [person for person in people if fold_case(person) not in SPEAKER_ROLES]
    candidates = list(_name_candidates(text)) if known else []
    guess = len(known) <= MAX_GUESSED_NAMES and any(map(_may_be_misspelt, candidates))
    forms = frozenset(form for word in candidates for form in word.forms)
    words_by_person = {
        person: frozenset(_words_naming(person, candidates, guess))
        for person in known
        if guess or not forms.isdisjoint(name_parts(person))
    }
    return {person: words for person, words in words_by_person.items() if words}


def _group_mentions(found: dict[str, frozenset[str]]) -> tuple[frozenset[str], ...]:
    """People named by the same word are one mention."""
    groups: list[tuple[set[str], set[str]]] = []  # words, people
    for person, naming_words in sorted(found.items()):
        joined = [group for group in groups if group[0] & naming_words]
        words, people = set(naming_words), {person}
        for group in joined:
            words |= group[0]
            people |= group[1]
            groups.remove(group)
        groups.append((words, people))
    return tuple(frozenset(people) for _, people in groups)


def _name_candidates(text: str) -> Iterator[_NameWord]:
    before = ""
    for place, match in enumerate(_WORD.finditer(text)):
        written, folded = match[0], fold_name(match[0])
        capital = written[0].isupper()
        if folded not in stop_words("en") or (capital and place and folded in _ordinary_words()):
            is_month = folded in _month_names() and (
                before in _BEFORE_A_MONTH or re.match(r"\s+\d", text[match.end() :]) is not None
            )
            forms = tuple(dict.fromkeys((folded, strip_hebrew_prefix(folded))))
            yield _NameWord(written, forms, capital and written != "I", place == 0, is_month)
        before = folded


def name_word_forms(text: str) -> frozenset[str]:
    """All forms of all words of a text that may be part of a name."""
    return frozenset(form for word in _name_candidates(text) for form in word.forms)


def strip_hebrew_prefix(word: str) -> str:
    """In Hebrew "to", "in", "and" … are prefix letters."""
    return _PREFIXED.sub("", word)


def _words_naming(person: str, candidates: Sequence[_NameWord], guess: bool) -> set[str]:
    parts = name_parts(person)
    if not parts:
        return set()
    exact = {
        part: word.written
        for word in candidates
        for part in parts
        if part in word.forms
        and not word.is_month
        and (word.has_capital or part not in _ordinary_words())
    }
    if len(exact) == len(parts):
        return set(exact.values())
    if {parts[0], parts[-1]} & exact.keys() and not _is_job_title(parts):
        return set(exact.values())
    if not guess:
        return set()
    return {
        word.written
        for word in candidates
        if _may_be_misspelt(word)
        for part in (parts[0], parts[-1])
        if _is_nickname(word, part) or _is_similar(word.forms[0], part)
    }


def _may_be_misspelt(word: _NameWord) -> bool:
    """Whether it can be a nickname or another spelling of a name."""
    return word.has_capital and not word.is_month and not word.written.isupper()


def _is_job_title(parts: Sequence[str]) -> bool:
    """ "Project Manager" needs both words: each alone is ordinary."""
    lists = load_word_lists("fields/people.txt")
    roles = lists["en role"] | lists["en field"]
    return len(parts) > 1 and any(part in roles for part in parts)


def _is_nickname(word: _NameWord, name: str) -> bool:
    """Mel for Melanie. At the start of a sentence a capital is no evidence."""
    form = word.forms[0]
    return (
        not word.is_first
        and len(form) >= _SHORTEST_NICKNAME
        and form not in _month_names()
        and name.startswith(form)
    )


@lru_cache(maxsize=65_536)
def _is_similar(word: str, name: str) -> bool:
    if not word or not name or word[0] != name[0]:
        return False
    if _DOUBLED.sub(r"\1", word) == _DOUBLED.sub(r"\1", name):  # Anna for Ana
        return True
    if min(len(word), len(name)) < _SHORTEST_MISSPELT:
        return False
    return SequenceMatcher(None, word, name).ratio() >= _MIN_SIMILARITY


@cache
def _ordinary_words() -> frozenset[str]:
    """Words that are names only if capitalised."""
    return ambiguous_names("en") | ambiguous_months() | stop_words("en")


@cache
def _month_names() -> frozenset[str]:
    return frozenset().union(*month_names().values())


def capitalised_words(text: str) -> list[str]:
    """Capitalised words except the first, and except words in all capitals."""
    found = list(_WORD.finditer(text))
    return [match[0] for match in found[1:] if match[0][0].isupper() and not match[0].isupper()]


def fold_name(word: str) -> str:
    """Folded, without accents and possessive."""
    folded = fold_case(word).replace("’", "'")
    folded = folded.removesuffix("'s").removesuffix("'")
    if folded.isascii():
        return folded
    decomposed = normal_form(folded, "NFD")
    return normal_form("".join(c for c in decomposed if not _is_accent(c)), "NFC")


def _is_accent(character: str) -> bool:
    return "\u0300" <= character <= "\u036f"


@lru_cache(maxsize=65_536)
def name_parts(person: str) -> tuple[str, ...]:
    """Parts of a name; of an address those before the @."""
    parts = [fold_name(match[0]) for match in _WORD.finditer(person.partition("@")[0])]
    return tuple(part for part in parts if len(part) > 1 and part not in SPEAKER_ROLES)


def remove_names(text: str, named: NamedPeople) -> str:
    """The question without the names, for the embedding when people are matched by name."""
    if not named.words:
        return text
    kept = _WORD.sub(lambda match: "" if match[0] in named.words else match[0], text)
    return " ".join(kept.split())


_ROLE_LISTS = load_word_lists("fields/people.txt")
_TWO_WORD_ROLES = frozenset(
    tuple(role.split("-")) for role in _ROLE_LISTS["he role"] if re.fullmatch("[א-ת]+-[א-ת]+", role)
)
_HEBREW = re.compile("[א-ת]")
_DETERMINERS = re.compile(r"(?:(?:the|my|our|his|her|a|an|new|current|usual)\s+)+", re.IGNORECASE)
_ROLE_PLACE = re.compile(r"\s(?:at|of|for|from|in)\s", re.IGNORECASE)
_ENGLISH_WORDS = 4


@dataclass(frozen=True, slots=True)
class LeadingRole:
    """The role at the start of a phrase, and the words after it."""

    role: str
    rest: tuple[str, ...]


def parse_role(phrase: str) -> str:
    """The role if the phrase is nothing else, else ""."""
    if _HEBREW.search(phrase):
        opening = parse_hebrew_role(phrase.split())
        return opening.role if opening and not opening.rest else ""
    return parse_english_role(phrase)


def parse_english_role(phrase: str) -> str:
    """ "piano teacher" of "my new piano teacher"; capitalised without "my" it is a name."""
    owner = _DETERMINERS.match(phrase)
    role = phrase[owner.end() :] if owner else phrase
    words = _ROLE_PLACE.split(role)[0].split()
    if not 1 <= len(words) <= _ENGLISH_WORDS:
        return ""
    if not {words[-1].casefold(), "-".join(words[-2:]).casefold()} & _ROLE_LISTS["en role"]:
        return ""
    named = len(words) > 1 and words[0][0].isupper()
    sure = owner or words[0].endswith("'s") or words[0].casefold() in _ROLE_LISTS["en field"]
    return "" if named and not sure else role


def parse_hebrew_role(words: list[str]) -> LeadingRole | None:
    """The role at the start of Hebrew words, with its modifiers."""
    length = _hebrew_length(words)
    if not length:
        return None
    role, rest = words[:length], words[length:]
    while rest:
        if rest[0] in _ROLE_LISTS["he owner"]:
            rest = rest[1:]
        elif rest[0] == "של" and len(rest) > 1:
            owner_length = 3 if rest[2:3] and rest[2] in _ROLE_LISTS["he owner"] else 2
            role, rest = [*role, *rest[:owner_length]], rest[owner_length:]
        else:
            break
    return LeadingRole(" ".join([_strip_article(role[0]), *role[1:]]), tuple(rest))


def is_two_word_role(words: list[str]) -> bool:
    """Whether Hebrew words begin with a two-word role: «רואה החשבון», «בעל הבית»."""
    return (
        len(words) > 1 and (_strip_article(words[0]), words[1].removeprefix("ה")) in _TWO_WORD_ROLES
    )


def _hebrew_length(words: list[str]) -> int:
    """Number of words of the role; 0 if there is none."""
    if is_two_word_role(words):
        return 2
    if not words or _strip_article(words[0]) not in _ROLE_LISTS["he role"]:
        return 0
    field = words[1] if len(words) > 1 else ""
    unprefixed = field[1:] if field[:1] in ("ה", "ל") else field  # רופאת השיניים, מורה לפסנתר
    return 2 if {field, unprefixed} & _ROLE_LISTS["he field"] else 1


def _strip_article(word: str) -> str:
    """A Hebrew noun without its article; an initial ו is doubled after the article (הווטרינר)."""
    if word in _ROLE_LISTS["he role"]:  # הנדימן
        return word
    bare = word.removeprefix("ה")
    return bare.replace("וו", "ו", 1) if bare.startswith("וו") else bare
