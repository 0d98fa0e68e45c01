"""A question: what it asks for, its months and persons, its terms spell-checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Protocol

from commonplace.language.fields.names import fold_name, name_parts
from commonplace.language.text.detect import Trait, ambiguous_months, month_names, question_words
from commonplace.language.text.lexicon import load_word_lists, stop_words
from commonplace.language.text.normalise import fold_case, split_words

_OPENING_WORDS = 3  # "ok so where": where a question shows that it is one
_QUESTION_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PREFIXED = re.compile(r"^[בלמהוכש](?=[א-ת]{3})")  # prefix letters: in, to, from …
_NUMBER_NEXT = re.compile(r"\s+\d")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    asks_for: Trait  # kind of the expected answer; empty: not stated
    months: frozenset[int]
    years: frozenset[int]
    of_the_user: bool  # the user is mentioned
    about_the_asker: bool = False  # asks for something about the user themself: "where do I live?"
    of_what_i_do: bool = False  # the asker is its subject: not "what is my code?"
    is_asked: bool = False  # a question, not only words to look up
    of_the_assistant: bool = False  # asks for what the assistant said: "what did you suggest?"
    time_words: frozenset[str] = frozenset()  # words that name its months and years
    idle_words: frozenset[str] = frozenset()  # words that do not depend on the topic

    @property
    def is_dated(self) -> bool:
        return bool(self.months or self.years)


def parse_question(text: str, names: Collection[str] = ()) -> ParsedQuestion:
    """``names``: words of the text that name a person; April may be one."""
    words = split_words(text)
    by_month = _month_words(text, names)
    years = _YEAR.findall(text)
    return ParsedQuestion(
        asks_for=_asked_trait(words),
        months=frozenset(by_month.values()),
        years=frozenset(map(int, years)),
        of_the_user=bool(set(words) & question_words("self")),
        about_the_asker=any(_is_about_asker(words, place) for place in range(len(words))),
        of_what_i_do=any(
            _is_about_asker(words, place)
            for place, word in enumerate(words)
            if word not in question_words("my")
        ),
        is_asked="?" in text or not question_words("opening").isdisjoint(words[:_OPENING_WORDS]),
        of_the_assistant=_is_of_assistant(words),
        time_words=frozenset((*by_month, *years)),
        idle_words=frozenset(words) & question_words("anything"),
    )


def _is_about_asker(words: Sequence[str], place: int) -> bool:
    """Whether the word makes the question one about the asker. "Tell me what Dan said", "how do I
    open it?" and "what did my team agree on?" are about something else."""
    word, before = words[place], words[max(0, place - 2) : place]
    after, nearest = words[place + 1 : place + 2], before[-1] if before else ""
    if word in question_words("my"):
        return question_words("group").isdisjoint((*before, *after))
    if word in question_words("i"):
        return _is_subject(before, nearest) and question_words("not_after").isdisjoint(after)
    if word in question_words("to_me"):
        return nearest in question_words("about")
    return nearest in question_words("asked_before") and _HEBREW_PAST.fullmatch(word) is not None


def _is_subject(before: Sequence[str], nearest: str) -> bool:
    """ "do I", "where I"; but not "how do I"."""
    if nearest == "do" and "how" in before:
        return False
    is_asked = not question_words("asked_before").isdisjoint(before)
    return is_asked or nearest in question_words("verb_before")


def _is_of_assistant(words: Sequence[str]) -> bool:
    """ "you suggested", "your advice"; a Hebrew verb has the person in its ending."""
    said, you = question_words("said_by_you"), question_words("you")
    return any(
        word in said and (not word.isascii() or not you.isdisjoint(words[max(0, at - 2) : at]))
        for at, word in enumerate(words)
    )


_HEBREW_PAST = re.compile(r"[א-ת]{2,12}תי")  # first person


def _asked_trait(words: list[str]) -> Trait:
    present = set(words)
    if present & question_words("asks_amount") or _asks_how_much(words):
        return Trait.NUMBER
    if present & question_words("asks_when") or _asks_what(words, question_words("when")):
        return Trait.TIME
    if present & question_words("name") or _asks_what(words, question_words("named")):
        return Trait.NAME
    return Trait(0)


def _asks_how_much(words: list[str]) -> bool:
    how, amount = question_words("how"), question_words("amount")
    return any(word in how and after in amount for word, after in pairwise(words))


def _asks_what(words: list[str], things: frozenset[str]) -> bool:
    """ "which city", "what kind of book": the thing is one of the next words."""
    which = question_words("which")
    at = next((at for at, word in enumerate(words) if word in which), len(words))
    return bool(set(words[at + 1 : at + 4]) & things)


def _month_words(text: str, names: Collection[str]) -> dict[str, int]:
    """Months by their words as written."""
    found: dict[str, int] = {}
    for match in _QUESTION_TOKEN.finditer(text):
        word = fold_case(match[0])
        if match[0] in names or (word in ambiguous_months() and not _is_a_month(match)):
            continue
        forms = {word, _PREFIXED.sub("", word)}
        for number, month_words in month_names().items():
            if forms & month_words:
                found[match[0]] = number
    return found


def _is_a_month(match: re.Match[str]) -> bool:
    """ "May" with a capital; at the start of a text it also needs a number after it."""
    if not match[0][0].isupper():
        return False
    return match.start() > 0 or _NUMBER_NEXT.match(match.string, match.end()) is not None


_MIN_TERM_LETTERS = 4
_PREFIX_LETTERS = 2  # misspellings are rare in the first letters
_MIN_SIMILARITY = 0.8
_MAX_LENGTH_DIFFERENCE = 2


class TermVocabulary(Protocol):
    def __contains__(self, term: str) -> bool: ...
    def beginning_with(self, letters: str) -> list[str]: ...


def correct_spelling(
    terms: Iterable[str], known: TermVocabulary, proper: Collection[str] = ()
) -> dict[str, str]:
    """Names are not corrected: a similar name is another person."""
    return {
        term: term if term in known or term in proper else _nearest_term(term, known)
        for term in terms
    }


def _nearest_term(term: str, known: TermVocabulary) -> str:
    """The nearest known term, or the term itself; numbers and short words are never corrected."""
    if len(term) < _MIN_TERM_LETTERS or any(character.isdigit() for character in term):
        return term
    matcher = SequenceMatcher(None, b=term)
    best, found = _MIN_SIMILARITY, term
    for other in known.beginning_with(term[:_PREFIX_LETTERS]):
        if len(other) < _MIN_TERM_LETTERS or abs(len(other) - len(term)) > _MAX_LENGTH_DIFFERENCE:
            continue
        matcher.set_seq1(other)
        if matcher.quick_ratio() < best:
            continue
        alike = matcher.ratio()
        if alike > best or (alike == best and (found == term or other < found)):
            best, found = alike, other
    return found


_FIRST_NAMES_FILE = "query/first_names.txt"
_PERSON_TOKEN = re.compile(r"[^\W_]+(?:['’\"״-][^\W_]+)*['’]?")
_PREFIXES = re.compile(r"^(?:ו?[לבמכש]|ו)(?=[א-ת]{2})")
_POINTING = frozenset(("my", "our", "his", "her", "their", "this", "that"))
_OWNING = frozenset(("של", "שלי", "שלנו", "שלו", "שלה", "שלהם"))
_BEFORE_A_NAME = frozenset(("עם", "של", "אצל", "בשביל", "ועם"))
_BEFORE_NO_NAME = frozenset(("in", "on", "since", "until", "during", "last", "next", "by", "of"))
_SENTENCE_END = re.compile(r"[.!?:\n]")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class PersonMention:
    """A mention of a person, with its position."""

    start: int
    end: int
    text: str  # without possessive or prefix letters

    @property
    def key(self) -> str:
        return fold_name(self.text)


def is_kin_word(word: str) -> bool:
    return word.lower() in _name_list("en kin") | _name_list("en alone")


def find_persons(text: str, known: Collection[str] = ()) -> list[PersonMention]:
    """Mentions in text order. ``known``: folded first names that the caller knows."""
    found = list(_PERSON_TOKEN.finditer(text))
    return list(_iterate_mentions(found, known))


def _iterate_mentions(
    found: Sequence[re.Match[str]], known: Collection[str]
) -> Iterator[PersonMention]:
    place = 0
    while place < len(found):
        mention, used = _english_mention(found, place, known), 1
        mention = mention or _hebrew_mention(found, place, known)
        if mention is not None:
            mention, used = _with_surname(mention, found, place)
            yield mention
        place += used


def _english_mention(
    found: Sequence[re.Match[str]], place: int, known: Collection[str]
) -> PersonMention | None:
    match = found[place]
    word, capital = fold_name(match[0]), match[0][0].isupper()
    before = fold_name(found[place - 1][0]) if place else ""
    if word in _name_list("en ordinary"):
        named = capital and _is_inside(found, place) and not _is_a_date(found, place)
    else:
        named = (word in _name_list("en") or word in known) and not _is_in_a_title(found, place)
    if named or (word in _name_list("en alone") and before not in _POINTING):
        return _build_mention(match, match.start())
    if word in _name_list("en kin") | _name_list("en alone") and before in _POINTING:
        return _build_mention(match, found[place - 1].start())
    return None


def _is_in_a_title(found: Sequence[re.Match[str]], place: int) -> bool:
    """ "the Mona Lisa": after a capitalised word that is no sentence start and no name."""
    if place < 2 or not found[place][0][0].isupper():
        return False
    before = found[place - 1]
    is_adjacent = before.string[before.end() : found[place].start()].isspace()
    word = fold_name(before[0])
    is_explained = word in _name_list("en") | _name_list("en kin") | _name_list(
        "en alone"
    ) | _name_list("en titles")
    return is_adjacent and before[0][0].isupper() and not is_explained and before[0] != "I"


def _is_a_date(found: Sequence[re.Match[str]], place: int) -> bool:
    """ "in May", "4 May", "May 2025"."""
    before = fold_name(found[place - 1][0])
    after = found[place + 1][0] if place + 1 < len(found) else ""
    return before in _BEFORE_NO_NAME or before[:1].isdigit() or after[:1].isdigit()


def _is_inside(found: Sequence[re.Match[str]], place: int) -> bool:
    """Whether it is inside a sentence; at its start a capital carries no information."""
    if not place:
        return False
    match, before = found[place], found[place - 1]
    return not _SENTENCE_END.search(match.string, before.end(), match.start())


def _build_mention(match: re.Match[str], start: int) -> PersonMention:
    end = match.end() - len(found[0] if (found := _POSSESSIVE.search(match[0])) else "")
    return PersonMention(start, end, match.string[start:end])


def _hebrew_mention(
    found: Sequence[re.Match[str]], place: int, known: Collection[str]
) -> PersonMention | None:
    match = found[place]
    if match[0].isascii():
        return None
    word = match[0]
    after = found[place + 1][0] if place + 1 < len(found) else ""
    before = found[place - 1][0] if place else ""
    for form in dict.fromkeys((word, _PREFIXES.sub("", word))):
        start = match.end() - len(form)
        if form in _name_list("he ordinary"):
            named = form == word and before in _BEFORE_A_NAME
        else:
            named = form in _name_list("he") or form in known or form in _name_list("he alone")
        if named or form in _hebrew_relatives():
            return PersonMention(start, match.end(), form)
        if form.removeprefix("ה") in _name_list("he kin") and after in _OWNING:
            end = match.end() if after == "של" else found[place + 1].end()
            return PersonMention(start, end, match.string[start:end])
    return None


@cache
def _hebrew_relatives() -> frozenset[str]:
    """Relatives of the user in one word: אחותי is "my sister"."""
    return frozenset(
        word for word in _name_list("he kin") if word.endswith("י") and word not in _name_list("he")
    )


def _with_surname(
    mention: PersonMention, found: Sequence[re.Match[str]], place: int
) -> tuple[PersonMention, int]:
    """ "Sarah Cohen" is one mention."""
    if place + 1 == len(found) or mention.end != found[place].end():
        return mention, 1
    text, after = found[place].string, found[place + 1]
    is_adjacent = text[mention.end : after.start()] == " "
    if not (is_adjacent and text[mention.start].isupper() and after[0][0].isupper()):
        return mention, 1
    if after[0].isupper() or fold_name(after[0]) in _name_list("en"):
        return mention, 1
    joined = _build_mention(after, mention.start)
    return joined, 2


def first_names(people: Iterable[str]) -> frozenset[str]:
    """First names of people given by full name; addresses and roles have none."""
    parts = (name_parts(person) for person in people if "@" not in person and person[:1].isupper())
    found = {each[0] for each in parts if each and len(each[0]) > 2}
    return frozenset(found - words_never_names())


@cache
def words_never_names() -> frozenset[str]:
    lists = load_word_lists("fields/people.txt")
    roles = (name for name in lists if name.split()[1] in ("role", "field"))
    return frozenset().union(
        stop_words("en"), _name_list("en ordinary"), *(lists[r] for r in roles)
    )


@cache
def _name_list(name: str) -> frozenset[str]:
    return load_word_lists(_FIRST_NAMES_FILE)[name]


def may_refer_to(mention: PersonMention, pronoun: str) -> bool:
    """Whether "he" or "she" may refer to the mention; True for unknown names."""
    last = mention.key.split()[-1] if mention.key else ""
    other = {"he": "en she", "she": "en he"}.get(pronoun)
    return other is None or last not in _name_list(other)
