"""What passages give as evidence: their words, names, numbers and values, read once each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache, cached_property
from itertools import accumulate, islice
from types import MappingProxyType

from commonplace.language.extract.values import OwnerIdentity
from commonplace.language.fields.names import fold_name
from commonplace.language.fields.phone_email import email_key, find_emails
from commonplace.language.grounding.checks.actors import TextOfSpeaker, name_of
from commonplace.language.grounding.checks.counted import has_number_of_another
from commonplace.language.grounding.checks.names import is_named, name_words, unknown_names
from commonplace.language.grounding.checks.negation import polarity_of
from commonplace.language.grounding.checks.numbers import TextNumbers, numbers_of
from commonplace.language.grounding.checks.predicates import (
    SaidWords,
    lacks_predicate,
    shares_words,
    stems_of,
)
from commonplace.language.grounding.checks.time_names import (
    NamedTime,
    named_times,
    times_of_days,
    unknown_times,
)
from commonplace.language.grounding.checks.words import (
    content_forms,
    content_words,
    count_found,
    count_missing,
)
from commonplace.language.grounding.quotes import FoldedPassage, fold_passage, fold_quote
from commonplace.language.grounding.values import GivenPassage, SpokenBy
from commonplace.language.safety.secrets import secret_values
from commonplace.language.text.dates import iso_dates
from commonplace.language.text.detect import detect_language
from commonplace.language.text.lexicon import load_word_lists
from commonplace.language.text.normalise import split_words

BEFORE, AFTER = 4, 1  # passages around a quote that count
_MIN_NAME = 3  # letters
_MIN_PHONE_DIGITS = 6
_MAX_DIGIT_RUNS = 500  # of a passage; more is a table
_MAX_OCCURRENCES = 100  # of a value in a passage
_WORDS = load_word_lists("grounding/words.txt")
ENOUGH_WORDS = 0.3  # share of the item's content words that must occur
_CONFIRMED_WORDS = 3  # at the start of a turn that confirms the one before
_AGREED_WORDS = 6  # a longer turn does not just agree
_VALUE_PARTS = re.compile(r"[,;\n]")
_AMOUNT = re.compile(r"[$€£₪]?\d+(?:[.,:]\d+)*[$€£₪]?")
_SCALED = re.compile(r"(\d+(?:\.\d+)?)\s?[km]", re.IGNORECASE)
_DIGIT_RUN = re.compile(r"\+?\d[\d\s().\-/]*")


class PassageEvidence:
    """One passage. What is not asked for is not computed."""

    def __init__(self, given: GivenPassage) -> None:
        self.given = given

    @property
    def is_by_machine(self) -> bool:
        return self.given.by is SpokenBy.MACHINE

    @cached_property
    def folded(self) -> FoldedPassage:
        return fold_passage(self.given.text)

    def has(self, words: str) -> bool:
        """Whether the passage has these words, one after the other."""
        folded = fold_quote(words)
        wanted = f" {folded} " if folded.isascii() else folded
        return bool(folded) and wanted in self.folded.text

    @cached_property
    def said(self) -> TextOfSpeaker:
        """ "I" is the owner, or who speaks."""
        if self.given.by is SpokenBy.OWNER:
            return TextOfSpeaker(self.given.text)
        return TextOfSpeaker(self.given.text, name_of(self.given.speaker or str(self.given.by)))

    @cached_property
    def named_times(self) -> frozenset[NamedTime]:
        return named_times(self.given.text)

    @cached_property
    def language(self) -> str:
        return detect_language(self.given.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        return content_forms(self.given.text, self.language)

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems_of(self.given.text)

    @cached_property
    def denies(self) -> bool:
        return polarity_of(self.given.text).has_negation

    @cached_property
    def words(self) -> frozenset[str]:
        return name_words(f"{self.given.speaker or ''}\n{self.given.text}")

    @cached_property
    def numbers(self) -> TextNumbers:
        return numbers_of(self.given.text, self.language)

    @cached_property
    def compact(self) -> str:
        return self.folded.text.replace(" ", "")

    @cached_property
    def token_places(self) -> frozenset[int]:
        """Where the words of the compact text begin, and its end."""
        lengths = map(len, self.folded.text.split())
        return frozenset(accumulate(lengths, initial=0))

    @cached_property
    def digit_runs(self) -> list[str]:
        runs = islice(_DIGIT_RUN.finditer(self.given.text), _MAX_DIGIT_RUNS)
        return ["".join(filter(str.isdecimal, run[0])) for run in runs]

    @cached_property
    def emails(self) -> frozenset[str]:
        return frozenset(
            key for found in find_emails(self.given.text) if (key := email_key(found.text))
        )

    @cached_property
    def secrets(self) -> list[str]:
        return secret_values(self.given.text)

    @cached_property
    def start_words(self) -> list[str]:
        """The first words, at most one more than those of a turn that just agrees."""
        return split_words(self.given.text[:200])[: _AGREED_WORDS + 1]

    @property
    def confirms(self) -> bool:
        """ "Yes, exactly": what was said right before counts as said by this speaker."""
        start = self.start_words[:_CONFIRMED_WORDS]
        if not start or not _spoken("no").isdisjoint(start):
            return False
        return not _spoken("yes").isdisjoint(start)

    @property
    def agrees(self) -> bool:
        """ "Sounds good": a plan that was suggested right before is one now."""
        if len(self.start_words) > _AGREED_WORDS or not _spoken("no").isdisjoint(self.start_words):
            return False
        return self.confirms or not _spoken("agreed").isdisjoint(self.start_words)


class Support:
    """The passages that may carry an item. ``witnesses``: those whose numbers and values count;
    what a machine says does not, unless the owner confirms it. ``known_words``: names of the owner
    and of all speakers. ``known``: earlier statements, of which names and words count.
    ``everywhere``: passages whose names count: "he" may have been named long before."""

    def __init__(
        self,
        passages: Sequence[PassageEvidence],
        witnesses: Sequence[PassageEvidence],
        known_words: frozenset[str],
        language: str,
        known: Sequence[PassageEvidence] = (),
        everywhere: Sequence[PassageEvidence] = (),
    ) -> None:
        self.passages = passages
        self.known = known
        self._naming = (*(everywhere or passages), *known)
        self.witnesses = witnesses
        self._language = language
        self._known_words = known_words

    @cached_property
    def _names(self) -> frozenset[str]:
        return self._known_words.union(*(each.words for each in self._naming))

    @cached_property
    def known_days(self) -> frozenset[date]:
        """The dates that earlier statements name: what is said now may be about the same day."""
        return frozenset(day for each in self.known for day in iso_dates(each.given.text))

    @cached_property
    def _compact(self) -> str:
        return "\n".join(each.compact for each in self.passages)

    @cached_property
    def numbers(self) -> list[TextNumbers]:
        return [each.numbers for each in self.witnesses]

    def has_times(
        self, text: str, days: Iterable[date], corrected: Iterable[PassageEvidence] = ()
    ) -> bool:
        """Whether the weekdays, months and "tomorrow" of a text occur, or are those of the days."""
        said = (each.named_times for each in (*self.passages, *corrected))
        known = times_of_days(days).union(*said)
        return not unknown_times(text, known)

    def has_number_of_another(self, text: str, corrected: Sequence[PassageEvidence] = ()) -> bool:
        """Whether a number of the text is said of something else than in the text."""
        said = [each.given.text for each in (*self.witnesses, *corrected)]
        return has_number_of_another(text, said, self.language_of(text))

    def has_name(self, name: str) -> bool:
        return is_named(name, self._names, self._compact)

    def language_of(self, text: str) -> str:
        """Short turns have too few words to tell: then the item's own words decide."""
        return detect_language(text) if self._language == "en" else self._language

    def has_part_of_name(self, name: str) -> bool:
        """Whether a word of the name occurs, long enough to be no initial."""
        parts = (part for part in name.split() if len(part) > 1)
        return any(is_named(part, self._names, self._compact) for part in parts)

    def unknown_names(self, text: str, fuller: Iterable[str] = ()) -> list[str]:
        """``fuller``: names that are known from other passages. They count where a part of them
        occurs."""
        language = self.language_of(text)
        unknown = unknown_names(text, language, self._names, self._compact)
        if not unknown:
            return []
        known = name_words("\n".join(name for name in fuller if self.has_part_of_name(name)))
        return [name for name in unknown if not is_named(name, known, "")]

    def has_value(self, value: str) -> bool:
        """Letters and digits of a value, in this order; a number also in words."""
        tokens = fold_quote(value).split()
        if not tokens:
            return False
        if any(_has_run("".join(tokens), each) for each in self.witnesses):
            return True
        parts = [part for part in _VALUE_PARTS.split(value) if part.strip()]
        if len(parts) > 1:
            return all(map(self.has_value, parts))
        if self._has_amount(value):
            return True
        numeral = value.strip().strip("$€£₪")
        scaled = _SCALED.fullmatch(numeral)
        if scaled and self._is_scaled_somewhere(scaled[0]):
            numeral = scaled[1]
        is_amount = numeral.replace(",", "").replace(".", "").isdecimal()
        return is_amount and any(each.has(numeral) for each in self.numbers)

    def _has_amount(self, value: str) -> bool:
        """ "7000 a month": its number is said, and the words around it here or before."""
        numerals, words = _AMOUNT.findall(value), _AMOUNT.sub(" ", value)
        if not numerals or not split_words(words):
            return False
        said = all(any(each.has(numeral) for each in self.numbers) for numeral in numerals)
        return said and self.has_all_words(words)

    def has_all_words(self, text: str) -> bool:
        """Whether each content word occurs, also in what was known before."""
        carrying = (*self.passages, *self.known)
        return all(
            any(not form.isdisjoint(each.terms) for each in carrying)
            for form in content_words(text, self.language_of(text))
        )

    def _is_scaled_somewhere(self, numeral: str) -> bool:
        """ "it's 45 now", of what was 38k: the scale may be another's word."""
        return any(each.has(numeral) for each in self.passages)

    def has_phone(self, phone: str) -> bool:
        digits = "".join(filter(str.isdecimal, phone))
        runs = (run for each in self.witnesses for run in each.digit_runs)
        return bool(digits) and any(_is_same_number(digits, run) for run in runs)

    def has_email(self, email: str) -> bool:
        key = email_key(email)
        return key is not None and any(key in each.emails for each in self.witnesses)

    @cached_property
    def said(self) -> SaidWords:
        return said_words(self.passages, self.known)

    def lacks_predicate(self, text: str, corrected: Iterable[PassageEvidence] = ()) -> bool:
        """Whether the text says of somebody what the turns have no words for. What was known
        before does not count, but what a corrected statement says does."""
        said = said_words((*self.passages, *corrected), self.known) if corrected else self.said
        return lacks_predicate(text, said, self.language_of(text))

    def text_around(self, *names: str) -> str:
        """What the passages say, and what is known of one of the names."""
        known = [
            each.given.text for each in self.known if any(map(each.has, filter(_is_long, names)))
        ]
        return " .\n".join((*(each.given.text for each in self.passages), *known))

    def has_said_word(self, text: str) -> bool:
        """Whether a word of it, besides names, occurs in the passages."""
        return shares_words(text, self.said)

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset().union(*(each.terms for each in (*self.passages, *self.known)))

    def has_some_word(self, text: str) -> bool:
        """Whether any occurs, also of those that only make a sentence: "answer in French"."""
        forms = content_words(text, self.language_of(text))
        return not forms or count_found(forms, self._terms) > 0

    def has_words(self, text: str, *, is_anchored: bool = False) -> bool:
        """Whether enough of the content words occur. Those that only make a sentence of them count
        neither way. ``is_anchored``: a name, a number or a time was found: one other word may be
        the model's."""
        forms = content_words(text, self.language_of(text))
        found = count_found(forms, self._terms)
        counted = found + count_missing(forms, self._terms)
        return found >= ENOUGH_WORDS * counted or (is_anchored and counted == 1)


def _has_run(wanted: str, passage: PassageEvidence) -> bool:
    """Whole words that are equal when written together: "LK 48 ZRT" and "LK48ZRT"."""
    if wanted not in passage.compact:
        return False
    if not wanted.isascii():
        return True  # prefixes, and scripts without spaces
    starts, start = passage.token_places, -1
    for _ in range(_MAX_OCCURRENCES):
        start = passage.compact.find(wanted, start + 1)
        if start < 0:
            return False
        if start in starts and start + len(wanted) in starts:
            return True
    return False


def _is_same_number(digits: str, run: str) -> bool:
    """Also a part of the longer form: +972 52-123-4567 and 052-1234567."""
    if digits == run:
        return True
    short, long = sorted((digits.lstrip("0"), run.lstrip("0")), key=len)
    return len(short) >= _MIN_PHONE_DIGITS and long.endswith(short) and len(long) - len(short) <= 4


def _is_long(name: str) -> bool:
    """No "me"."""
    return len(name) >= _MIN_NAME


def said_words(
    passages: Iterable[PassageEvidence], known: Iterable[PassageEvidence] = ()
) -> SaidWords:
    every = list(passages)
    return SaidWords(
        frozenset().union(*(each.terms for each in every)),
        frozenset().union(*(each.stems for each in every)),
        frozenset().union(*(each.terms for each in known)),
        any(each.denies for each in every),
    )


class GivenEvidence:
    """All passages that a model was given, in their order."""

    def __init__(
        self,
        given: Sequence[GivenPassage],
        owner: OwnerIdentity,
        known: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.passages = [PassageEvidence(each) for each in given]
        self.known = known
        self.statements = {key: PassageEvidence(_as_passage(text)) for key, text in known.items()}
        self.by_number = {each.number: place for place, each in enumerate(given)}
        self._supports: dict[tuple[int, bool], Support] = {}
        named = (owner.name, *owner.names, *(each.speaker or "" for each in given))
        self.known_words = name_words("\n".join(named))
        self.owner_words = frozenset(
            word for name in (owner.name, *owner.names) for word in split_words(name)[:1]
        )
        self.owner_names = frozenset(
            " ".join(map(fold_name, name.split())) for name in (owner.name, *owner.names) if name
        )

    @cached_property
    def folded(self) -> list[FoldedPassage]:
        return [each.folded for each in self.passages]

    @cached_property
    def folded_of_people(self) -> list[FoldedPassage]:
        """Empty for what machines say."""
        nothing = fold_passage("")
        return [nothing if each.is_by_machine else each.folded for each in self.passages]

    def support_at(self, index: int, *, is_plan: bool = False) -> Support:
        """Around the passage: those before it and the one after it."""
        known = self._supports.get((index, is_plan))
        if known is None:
            around = self.passages[max(0, index - BEFORE) : index + AFTER + 1]
            confirmed = self.confirmed_by(index, is_plan=is_plan)
            witnesses = [each for each in around if not each.is_by_machine or each is confirmed]
            language = self.passages[index].language
            known = Support(
                around,
                witnesses,
                self.known_words,
                language,
                list(self.statements.values()),
                self.passages,
            )
            self._supports[index, is_plan] = known
        return known

    def confirmed_by(self, index: int, *, is_plan: bool = False) -> PassageEvidence | None:
        """What a machine said right before, and the owner confirms here."""
        here = self.passages[index]
        if index == 0 or here.given.by is not SpokenBy.OWNER:
            return None
        before = self.passages[index - 1]
        is_confirmed = here.confirms or (is_plan and here.agrees)
        return before if before.is_by_machine and is_confirmed else None

    def has_name_somewhere(self, name: str) -> bool:
        """Whether one of the passages has the whole name."""
        return any(is_named(name, each.words, each.compact) for each in self.passages)

    def is_owner_name(self, name: str) -> bool:
        return " ".join(map(fold_name, name.split())) in self.owner_names


def _as_passage(statement: str) -> GivenPassage:
    return GivenPassage(number=0, text=statement, at=datetime.min, by=SpokenBy.OWNER)


@cache
def _spoken(name: str) -> frozenset[str]:
    return frozenset(form for word in _WORDS[name] for form in split_words(word))
