"""Abbreviations in a query, expanded to their long forms.

Abbreviations match whole words. One with capitals in the table matches only in this case, so that
"it" is never information technology; in a message in all capitals such abbreviations are ignored.
In Hebrew, prefix letters are stripped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

from commonplace.language.text.normalise import fold_case
from commonplace.model.profile.fields import Abbreviation

MAX_SHORT_FORM_WORDS = 4

_WORD = re.compile(r"\w+(?:['’&/.\"״׳-]\w+)*")
_MARKS = str.maketrans("״׳’", "\"''")
_ENDING = re.compile(r"(?:'s|s)$")  # "APIs", "the CEO's"
_HEBREW_PREFIX = re.compile(r"[ושהכבלמ]")


@dataclass(frozen=True, slots=True)
class AbbreviationMatch:
    """An abbreviation found in a text, with its position."""

    start: int
    end: int
    said: str
    abbreviation: Abbreviation


@dataclass(frozen=True, slots=True)
class Terminology:
    """All abbreviations of a user, by first word."""

    abbreviations: tuple[Abbreviation, ...]
    by_first: Mapping[str, tuple[Abbreviation, ...]] = field(repr=False)

    def find_matches(self, text: str) -> list[AbbreviationMatch]:
        """All abbreviations in the text, including those within longer ones."""
        if not self.by_first:
            return []
        found = list(_WORD.finditer(text))
        matches = [
            AbbreviationMatch(
                found[place].start(), end, text[found[place].start() : end], abbreviation
            )
            for place in range(len(found))
            for abbreviation in self._candidates(found[place][0])
            if (end := _match_end(found, place, abbreviation))
        ]
        if _is_all_capitals(matches, found):
            return [each for each in matches if not _has_capital(each.abbreviation.short)]
        return matches

    def _candidates(self, written: str) -> Iterable[Abbreviation]:
        forms = dict.fromkeys(map(abbreviation_key, _word_forms(written)))
        return [each for form in forms for each in self.by_first.get(form, ())]


def build_terminology(abbreviations: Sequence[Abbreviation]) -> Terminology:
    """The user's own abbreviations override shipped ones of the same short form, also as a prefix
    of a longer one: if YC is a yacht club, "YC app" is not Y Combinator's."""
    own = {abbreviation_key(each.short) for each in abbreviations if each.own}
    best: dict[str, Abbreviation] = {}
    for each in sorted(abbreviations, key=lambda each: each.own):
        key = abbreviation_key(each.short)
        if each.own or not _key_prefixes(key) & own:
            best[key] = each
    by_first: dict[str, list[Abbreviation]] = {}
    for key, each in best.items():
        by_first.setdefault(key.split()[0], []).append(each)
    return Terminology(
        tuple(sorted(best.values(), key=lambda each: abbreviation_key(each.short))),
        {first: tuple(several) for first, several in by_first.items()},
    )


def _key_prefixes(key: str) -> set[str]:
    words = key.split()
    return {" ".join(words[:end]) for end in range(1, len(words) + 1)}


NO_ABBREVIATIONS = Terminology((), {})


def abbreviation_key(short: str) -> str:
    """Lookup key of a short form, independent of spelling."""
    return " ".join(fold_case(short).translate(_MARKS).split())


def is_valid_short_form(short: str) -> bool:
    """Whether the short form can occur in tokenised text."""
    return bool(short.strip()) and all(_WORD.fullmatch(word) for word in short.split())


@cache
def load_shipped_abbreviations() -> tuple[Abbreviation, ...]:
    text = resources.files(__package__).joinpath("abbreviations.txt").read_text(encoding="utf-8")
    lines = (line.partition("=") for line in text.splitlines() if line[:1] != "#" and "=" in line)
    return tuple(Abbreviation(short.strip(), long.strip()) for short, _, long in lines)


def add_long_forms(text: str, matches: Sequence[AbbreviationMatch]) -> str:
    """Insert each long form in brackets after its short form; the longest if several begin at one
    place. Long forms that are in the text are not added again, so that the function is idempotent.
    """
    written: list[str] = []
    at = 0
    for each in missing_long_forms(text, matches):
        written += [text[at : each.end], f" ({each.abbreviation.long})"]
        at = each.end
    return "".join([*written, text[at:]])


def missing_long_forms(text: str, matches: Sequence[AbbreviationMatch]) -> list[AbbreviationMatch]:
    """Matches whose long form is not in the text, each once."""
    long_form_spans = _long_form_spans(text, matches)
    covered = sorted(span for spans in long_form_spans.values() for span in spans)
    first: dict[str, AbbreviationMatch] = {}
    for each in _outside_spans(longest_matches(matches), covered):
        if not long_form_spans[each.abbreviation.long]:
            first.setdefault(each.abbreviation.long, each)
    return list(first.values())


def _long_form_spans(
    text: str, matches: Sequence[AbbreviationMatch]
) -> dict[str, list[tuple[int, int]]]:
    """Spans where each long form already occurs."""
    longs = {each.abbreviation.long for each in matches}
    return {
        long: [found.span() for found in _phrase_pattern(long).finditer(text)] for long in longs
    }


def _phrase_pattern(long: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, long.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def _outside_spans(
    matches: Sequence[AbbreviationMatch], spans: Sequence[tuple[int, int]]
) -> Iterator[AbbreviationMatch]:
    """Matches outside these spans: a long form may contain short forms."""
    reach, place = 0, 0
    for each in matches:
        while place < len(spans) and spans[place][0] <= each.start:
            reach, place = max(reach, spans[place][1]), place + 1
        if each.end > reach:
            yield each


def longest_matches(matches: Sequence[AbbreviationMatch]) -> list[AbbreviationMatch]:
    """Matches in text order, without those inside another."""
    kept: list[AbbreviationMatch] = []
    for each in sorted(matches, key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _match_end(found: Sequence[re.Match[str]], place: int, abbreviation: Abbreviation) -> int:
    """End of the abbreviation if it begins at this word, else 0."""
    short = abbreviation.short.translate(_MARKS).split()
    words = found[place : place + len(short)]
    if len(words) < len(short):
        return 0
    last = len(short) - 1
    for nth, (match, word) in enumerate(zip(words, short, strict=True)):
        if nth and match.string[words[nth - 1].end() : match.start()].strip():
            return 0  # a comma between the words
        forms = _word_forms(match[0]) if nth in (0, last) else (match[0],)
        if not any(_is_same_form(form.translate(_MARKS), word) for form in forms):
            return 0
    return words[-1].end()


def _is_same_form(form: str, word: str) -> bool:
    return form == word if _has_capital(word) else fold_case(form) == fold_case(word)


def _has_capital(word: str) -> bool:
    return word != word.lower()


def _word_forms(written: str) -> tuple[str, ...]:
    """The word as written, without its ending, without Hebrew prefix letters."""
    plain = written.translate(_MARKS)
    if _HEBREW_PREFIX.match(plain):
        cuts = range(1, min(4, len(plain) - 1))
        return (plain, *(plain[cut:] for cut in cuts if _is_prefix(plain[:cut])))
    ended = _ENDING.sub("", plain)
    return (plain, ended) if ended and ended != plain else (plain,)


def _is_prefix(letters: str) -> bool:
    return re.fullmatch(r"ו?כ?ש?[הבלמ]?", letters) is not None


def _is_all_capitals(matches: Sequence[AbbreviationMatch], found: Sequence[re.Match[str]]) -> bool:
    """Whether capitals carry no information, as in "IT IS LATE": all words have them."""
    plain_words = _without_long_forms(found, matches) if matches else []
    if any(match[0] != match[0].upper() for match in plain_words):
        return False
    starts = {each.start for each in matches}
    others = (match[0] for match in plain_words if match.start() not in starts)
    return any(word.isalpha() and word != word.lower() for word in others)


def _without_long_forms(
    found: Sequence[re.Match[str]], matches: Sequence[AbbreviationMatch]
) -> list[re.Match[str]]:
    spans = _long_form_spans(found[0].string, matches).values()
    inside = {at for each in spans for start, end in each for at in range(start, end)}
    return [match for match in found if match.start() not in inside]
