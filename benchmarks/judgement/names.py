"""Named entities in marked text (WNUT-17, NEMO), against a capitals baseline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.report import Table, Target
from commonplace.language.extract.values import (
    GROUP,
    LOCATION,
    ORGANIZATION,
    AttributedPassage,
    ExtractionInput,
    FoundNode,
    NodeSpan,
    OwnerIdentity,
    RecognisedNodes,
)
from commonplace.model.graph.types import NodeType
from commonplace.model.sources.source import SourceType

PERSON, ORGANISATION, PLACE = SORTS = ("person", "organisation", "place")
ALL = "all"
LEAST_LEAD = 1.0  # points of F1 that count as better than the baseline

NameFinder = Callable[[ExtractionInput], RecognisedNodes]


@dataclass(frozen=True, slots=True)
class MarkedName:
    """A run of words, from ``first`` up to and without ``end``."""

    first: int
    end: int
    sort: str

    @property
    def untyped(self) -> MarkedName:
        return MarkedName(self.first, self.end, "")


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    words: tuple[str, ...]
    names: frozenset[MarkedName]


# ——— the files ———

_ENGLISH_SORTS = {
    "person": PERSON,
    "corporation": ORGANISATION,
    "group": ORGANISATION,
    "location": PLACE,
}
_HEBREW_SORTS = {"PER": PERSON, "ORG": ORGANISATION, "GPE": PLACE, "LOC": PLACE, "FAC": PLACE}


def read_english(folder: Path) -> list[MarkedSentence]:
    return [
        MarkedSentence(tuple(words), frozenset(_names(tags, _ENGLISH_SORTS)))
        for words, tags in _blocks(folder / "emerging.dev.conll", "\t")
    ]


def read_hebrew(folder: Path) -> list[MarkedSentence]:
    """The file has a word's parts one by one; people write, and rules read, whole words."""
    found = []
    for parts, tags in _blocks(folder / "nemo-hebrew-dev.bmes", " "):
        words, word_of = _joined(parts)
        names = {
            MarkedName(word_of[name.first], word_of[name.end - 1] + 1, name.sort)
            for name in _names(tags, _HEBREW_SORTS)
        }
        found.append(MarkedSentence(words, frozenset(names)))
    return found


def _blocks(path: Path, between: str) -> Iterator[tuple[list[str], list[str]]]:
    """Sentences are apart by an empty line; each line is a word and its tag."""
    for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()):
        pairs = [line.rsplit(between, 1) for line in block.split("\n") if line.strip()]
        yield [pair[0].strip() for pair in pairs], [pair[-1].strip() for pair in pairs]


def _names(tags: Sequence[str], sorts: Mapping[str, str]) -> Iterator[MarkedName]:
    """B- and S- begin a name; I- and E- of the same sort go on with it."""
    place = 0
    while place < len(tags):
        mark, _, tag = tags[place].partition("-")
        end = place + 1
        if mark in ("B", "S"):
            while end < len(tags) and tags[end] in (f"I-{tag}", f"E-{tag}"):
                end += 1
            if tag in sorts:
                yield MarkedName(place, end, sorts[tag])
        place = end


_PREFIXES = frozenset({"ו", "ה", "ב", "ל", "כ", "מ", "ש", "כש", "מש", "לכש", "שב"})
_SWALLOWED = frozenset({"ה_", "_של_"})  # ב + ה_ + בית is written בבית
_MARK = "_"  # where a part was made out of what is not written, or an ending begins


def _joined(parts: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Whole words, and of each part the place of its word."""
    words: list[str] = []
    word_of: list[int] = []
    goes_on = False
    for part in parts:
        if not (words and (goes_on or part.startswith(_MARK))):
            words.append("")
        if part not in _SWALLOWED:
            words[-1] += part.strip(_MARK)
        word_of.append(len(words) - 1)
        goes_on = part in _PREFIXES or part in _SWALLOWED
    return tuple(words), word_of


# ——— finders ———

_AFTER_NO_SPACE = frozenset("([{#@$“'’´")
_BEFORE_NO_SPACE = frozenset(".,!?;:%)]}'’´…”")
_QUOTE = '"'  # opens, and then closes
_READER = OwnerIdentity(name="Reader of Others")
_SAID_AT = datetime(2026, 3, 11, 12, tzinfo=UTC)
_WORD = re.compile(r"\w+")


def found_names(sentence: MarkedSentence, spot: NameFinder) -> set[MarkedName]:
    """What extraction takes for names. Words that stand for a name (she, my sister) are none."""
    text, starts = _written(sentence.words)
    said = AttributedPassage(number=1, text=text, at=_SAID_AT)
    account = ExtractionInput(
        passages=(said,), owner=_READER, source_type=SourceType.TEXT_IMPORT, date=_SAID_AT
    )
    spotted = spot(account)
    found = set()
    for span in spotted.spans:
        node = spotted.nodes[span.node]
        sort = _sort_of(node)
        start, end = _without_title(text, span, node)
        if sort and not node.is_owner and _is_named(text[start:end], node):
            places = _places(sentence.words, starts, start, end)
            found.add(MarkedName(places[0], places[-1] + 1, sort))
    return found


def _without_title(text: str, span: NodeSpan, node: FoundNode) -> tuple[int, int]:
    """Whoever marked the texts left titles out; a span may have them before the node's name."""
    at = text.find(node.name, span.start, span.end)
    return (span.start, span.end) if at < 0 else (at, at + len(node.name))


def _written(words: Sequence[str]) -> tuple[str, list[int]]:
    """The words as somebody would write them, and where each begins."""
    text, starts = "", []
    is_apart = is_quoting = False
    for word in words:
        closes = word == _QUOTE and is_quoting
        if is_apart and not closes and word[0] not in _BEFORE_NO_SPACE:
            text += " "
        starts.append(len(text))
        text += word
        is_quoting ^= word == _QUOTE
        opens = word == _QUOTE and is_quoting
        is_apart = not opens and word not in _AFTER_NO_SPACE
    return text, starts


def _places(words: Sequence[str], starts: Sequence[int], start: int, end: int) -> list[int]:
    """The words that a stretch of the text touches."""
    return [
        place
        for place, (word, at) in enumerate(zip(words, starts, strict=True))
        if at < end and start < at + len(word)
    ]


def _sort_of(node: FoundNode) -> str | None:
    if node.type == NodeType.PERSON:
        return PERSON
    return {ORGANIZATION: ORGANISATION, GROUP: ORGANISATION, LOCATION: PLACE}.get(node.subtype)


def _is_named(words: str, node: FoundNode) -> bool:
    names = " ".join((node.name, *node.aliases)).casefold()
    return set(_WORD.findall(words.casefold())) <= set(_WORD.findall(names))


_STOPS = frozenset(".!?…")


def capitalised_names(sentence: MarkedSentence) -> set[MarkedName]:
    """The plain baseline: words in a row with a capital, unless the sentence begins there."""
    found = set()
    first: int | None = None
    for place, word in enumerate((*sentence.words, "")):
        begins = place == 0 or sentence.words[place - 1] in _STOPS
        has_capital = word[:1].isupper() and word != "I" and not begins
        if has_capital and first is None:
            first = place
        elif not has_capital and first is not None:
            found.add(MarkedName(first, place, PERSON))
            first = None
    return found


# ——— counts ———


@dataclass(frozen=True, slots=True)
class NameScore:
    right: int
    found: int
    due: int

    @property
    def precision(self) -> float | None:
        return 100 * self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return 100 * self.right / self.due if self.due else None

    @property
    def f1(self) -> float:
        whole = self.found + self.due
        return 200 * self.right / whole if whole else 0.0


NameFindings = Sequence[tuple[MarkedSentence, set[MarkedName]]]


def score(finding: NameFindings, sort: str = ALL) -> NameScore:
    """A name is right when its first word, its last word and its sort are."""
    right = found = due = 0
    for sentence, names in finding:
        mine = {name for name in names if sort in (ALL, name.sort)}
        wanted = {name for name in sentence.names if sort in (ALL, name.sort)}
        right, found, due = right + len(mine & wanted), found + len(mine), due + len(wanted)
    return NameScore(right, found, due)


def score_untyped(finding: NameFindings) -> NameScore:
    """As if every name that was found had the right sort."""
    return score(
        [
            (
                MarkedSentence(sentence.words, frozenset(name.untyped for name in sentence.names)),
                {name.untyped for name in names},
            )
            for sentence, names in finding
        ]
    )


_RIGHT = "A name is right when its first word, its last word and its type are."


@dataclass(frozen=True, slots=True)
class NameComparison:
    title: str
    capitals: NameFindings
    findings: Mapping[str, NameFindings]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        table = Table(
            f"names {self.title}",
            f"Names in {self.title}, %",
            ("finder", "of", "found", "precision", "recall", "F1"),
            notes=[_RIGHT, *self.notes],
        )
        self._add(table, "capitals, types given", "any type", score_untyped(self.capitals))
        self._add(table, "capitals, all people", ALL, score(self.capitals))
        for name, finding in self.findings.items():
            self._add(table, name, "any type", score_untyped(finding))
            for sort in (ALL, *SORTS):
                self._add(table, name, sort, score(finding, sort))
        return table

    def _add(self, table: Table, finder: str, sort: str, got: NameScore) -> None:
        table.add(finder, sort, got.found, got.precision, got.recall, got.f1)

    def targets(self) -> list[Target]:
        """Types and all, a finder must be better than capitals whose types are given."""
        bar = score_untyped(self.capitals).f1
        return [
            Target(
                f"F1 behind capitals, {name}, {self.title}", -LEAST_LEAD, bar - score(finding).f1
            )
            for name, finding in self.findings.items()
        ]


def compare_finders(
    title: str,
    sentences: Sequence[MarkedSentence],
    spots: Mapping[str, NameFinder],
    notes: tuple[str, ...] = (),
) -> NameComparison:
    """All finders over the same sentences, the baseline first."""
    capitals = [(sentence, capitalised_names(sentence)) for sentence in sentences]
    findings = {
        name: [(sentence, found_names(sentence, spot)) for sentence in sentences]
        for name, spot in spots.items()
    }
    return NameComparison(title, capitals, findings, notes)
