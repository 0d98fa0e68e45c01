"""What a source is about, in its own words: summary, keywords, tags, purpose. No model needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from math import log, sqrt

from commonplace.ingest.purpose import purpose_of
from commonplace.language.analyse import analyse
from commonplace.language.categorise import categorise
from commonplace.language.keywords import keywords
from commonplace.language.sentences import sentences
from commonplace.language.summarise import summarise
from commonplace.model.source import ContextType, Reading, Turn

SUMMARY_LENGTH = 300  # characters, of one or two sentences
KEYWORDS = 10
TAGS = 5

_CANDIDATES = 120  # words that are looked at for keywords
_LOOKED_AT = 50_000  # characters: a book is described by its beginning
_MOST_SENTENCES = 2
_FEWEST_TERMS = 3  # less is a greeting or a yes
_LONGEST = 200  # characters of a sentence, so that two fit
_GRACE = 4  # terms: without it the shortest sentences would always win
_ASKS = 0.7
_EARLY = 1.3  # people say what it is about at the beginning


@dataclass(frozen=True, slots=True)
class Description:
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context_type: ContextType | None


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    shown: str
    terms: frozenset[str]  # that say something


def describe(reading: Reading) -> Description:
    reading = replace(reading, turns=_beginning(reading))
    text = "\n".join(turn.text for turn in reading.turns)
    summary, found = _summary(reading, text), _keywords(reading, text)
    return Description(
        summary=summary,
        keywords=found,
        tags=_tags(reading, summary, found),
        context_type=purpose_of(reading),
    )


def _beginning(reading: Reading) -> tuple[Turn, ...]:
    """The turns that are looked at."""
    kept: list[Turn] = []
    room = _LOOKED_AT
    for turn in reading.turns:
        if room <= 0:
            break
        kept.append(replace(turn, text=turn.text[:room]))
        room -= len(turn.text)
    return tuple(kept)


def _summary(reading: Reading, text: str) -> str:
    """The whole when it is short, else the one or two sentences that share most with the rest."""
    found = list(_sentences(reading))
    whole = " ".join(one.shown for one in found)
    if len(found) <= _MOST_SENTENCES and len(whole) <= SUMMARY_LENGTH:
        return whole
    counts = Counter(term for one in found for term in one.terms)
    telling = [one for one in found if _is_telling(one)]
    ranked = sorted(telling, key=lambda one: -_weight(one, counts, len(found)))
    if not ranked:
        return summarise(text, SUMMARY_LENGTH) if text else ""
    best = ranked[0]
    others = [one for one in ranked[1:] if _adds_to(best, one)][: _MOST_SENTENCES - 1]
    chosen = sorted([best, *others], key=lambda one: one.place)
    return _fitting(" ".join(one.shown for one in chosen), best.shown)


def _is_telling(sentence: _Sentence) -> bool:
    return len(sentence.terms) >= _FEWEST_TERMS and len(sentence.shown) <= _LONGEST


def _fitting(both: str, best: str) -> str:
    """Both sentences if they fit, else the better one, cut where it must be."""
    if len(both) <= SUMMARY_LENGTH:
        return both
    return best if len(best) <= SUMMARY_LENGTH else summarise(best, SUMMARY_LENGTH)


def _adds_to(best: _Sentence, other: _Sentence) -> bool:
    """Whether another sentence says something else, and fits beside the best."""
    fits = len(best.shown) + len(other.shown) < SUMMARY_LENGTH
    return fits and 2 * len(other.terms & best.terms) <= len(other.terms)


def _weight(sentence: _Sentence, counts: Counter[str], total: int) -> float:
    """How much its terms are spoken of elsewhere; early sentences gain, questions lose."""
    shared = sum(log(counts[term]) for term in sentence.terms)
    early = _EARLY if sentence.place < max(3, total // 10) else 1.0
    asks = _ASKS if sentence.shown.endswith("?") else 1.0
    return early * asks * (shared + 1) / sqrt(len(sentence.terms) + _GRACE)


def _sentences(reading: Reading) -> Iterator[_Sentence]:
    """The sentences in their order, with who says them where several speak."""
    several = len({turn.speaker for turn in reading.turns}) > 1
    little = _small_talk() | frozenset(analyse(" ".join(reading.participants)))
    place = 0
    for turn in reading.turns:
        for text in sentences(turn.text):
            shown = f"{turn.speaker}: {text}" if several and turn.speaker else text
            yield _Sentence(place, shown, frozenset(analyse(text)) - little)
            place += 1


def _keywords(reading: Reading, text: str) -> tuple[str, ...]:
    """The words that are spoken of most; who took part is told elsewhere."""
    names = frozenset(analyse(" ".join(reading.participants)))
    return _distinct(keywords(text, _CANDIDATES), KEYWORDS, names | _small_talk())


def _distinct(
    words: Iterable[str], most: int, but: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The first words of different terms, in their order."""
    seen = set(but)
    kept: list[str] = []
    for word in words:
        if len(kept) == most:
            break
        terms = set(analyse(word)) or {word}
        if not terms <= seen:
            kept.append(word)
        seen |= terms
    return tuple(kept)


@cache
def _small_talk() -> frozenset[str]:
    """The terms of small_talk.txt, which is for people to read."""
    file = resources.files(__package__).joinpath("small_talk.txt")
    lines = file.read_text(encoding="utf-8").splitlines()
    listed = " ".join(line for line in lines if not line.startswith(("#", "[")))
    return frozenset(analyse(listed, "en"))


def _tags(reading: Reading, summary: str, found: tuple[str, ...]) -> tuple[str, ...]:
    """Coarser than keywords: category, channel, the title's words, then what is spoken of most."""
    title = reading.title or ""
    channel = reading.provenance.get("channel")
    category = categorise(f"{title}\n{summary}")
    candidates = (
        *([category] if category else []),
        *([channel.casefold()] if isinstance(channel, str) else []),
        *_distinct(keywords(title), 2, _small_talk()),
        *found,
    )
    return _distinct(candidates, TAGS)
