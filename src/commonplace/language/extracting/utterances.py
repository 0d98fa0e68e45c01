"""A source, sentence by sentence: who says what, and where the found nodes stand in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from commonplace.language.echoes import without_echoes
from commonplace.language.extracting.found import (
    Account,
    FoundNode,
    Place,
    Said,
    Span,
    Spotted,
)
from commonplace.language.normalise import fold
from commonplace.language.observing.own_words import (
    BLOT,
    Sentence,
    own_sentences,
    sentences_written,
)
from commonplace.language.observing.unkept import may_be_kept
from commonplace.model.categories import OWN_WORDS
from commonplace.model.graph.words import NodeType
from commonplace.model.kinds import Kind
from commonplace.model.source import SourceType

OWNER = 0  # the first of the nodes
_A_NAME = 0.5  # what is weaker is mostly the word that a sentence begins with
# "fine i guess. i'm at Acme now": who writes no capitals ends sentences all the same.
_SMALL_BEGINNING = re.compile(r"(?<=\w{2}[.…]) +(?=[a-z])|(?<=\w)\.{2,3} +(?=[a-z])")
_ABBREVIATED = re.compile(
    r"(?:^|\W)(?:e\.g|i\.e|[ap]\.m|etc|vs|approx|ca|incl|esp|dr|mr|mrs|ms|prof|st)\.$"
)
BULLETS = OWN_WORDS | frozenset(Kind)  # how lines begin that this memory gave out


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One sentence. Places of spans count from its own start."""

    passage: int
    number: int  # in its source: what follows one another in speech
    written: str
    own: str  # with what others wrote blotted out
    at: datetime
    speaker: int | None  # the node of whoever says "I"; None: nobody knows
    spans: tuple[Span, ...] = ()
    start: int = 0  # in its passage

    @property
    def place(self) -> Place:
        return Place(self.passage, self.start, self.start + len(self.written))


def utterances(account: Account, spotted: Spotted) -> Iterator[Utterance]:
    """Only of what people say: machines know nothing of their own, and what reads like orders to
    an agent is not believed."""
    meant = {n for n, node in enumerate(spotted.nodes) if node.confidence >= _A_NAME}
    spans = _by_passage([span for span in spotted.spans if span.node in meant])
    number = 0
    for said in account.said:
        if said.by_machine or said.suspicious:
            number += 1
            continue
        speaker = speaker_of(said, spotted.nodes)
        there = spans.get(said.number, [])
        starts = [span.start for span in there]
        for sentence in _parted(spoken_sentences(account, said)):
            yield Utterance(
                passage=said.number,
                number=number,
                written=sentence.written,
                own=sentence.own,
                at=said.at,
                speaker=speaker,
                spans=_inside(sentence, there, starts),
                start=sentence.start,
            )
            number += 1


def spoken_sentences(account: Account, said: Said) -> list[Sentence]:
    """Without what was recalled, and what its speaker asks not to keep."""
    to_an_agent = account.source_type is SourceType.CHAT and said.by_owner
    found = own_sentences(said.text) if to_an_agent else sentences_written(said.text)
    own = without_echoes(said.text, BULLETS)
    if said.speaker is not None or said.by_owner:
        own = may_be_kept(own).text
    return found if own == said.text else [each for each in found if each.written in own]


def _parted(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    for each in sentences:
        begin = 0
        for gap in _SMALL_BEGINNING.finditer(each.own):
            if not _ABBREVIATED.search(each.own[: gap.start()].lower()):
                yield _part(each, begin, gap.start())
                begin = gap.end()
        yield _part(each, begin, len(each.own))


def _part(sentence: Sentence, begin: int, end: int) -> Sentence:
    return Sentence(sentence.written[begin:end], sentence.own[begin:end], sentence.start + begin)


def speaker_of(said: Said, nodes: Sequence[FoundNode]) -> int | None:
    if said.by_owner:
        return OWNER
    if said.speaker is None:
        return None
    name = fold(said.speaker)
    for place, node in enumerate(nodes):
        names = map(fold, (node.name, *node.aliases, *node.addresses))
        if node.type is NodeType.PERSON and place != OWNER and name in names:
            return place
    return None


def _by_passage(spans: Sequence[Span]) -> dict[int, list[Span]]:
    found: dict[int, list[Span]] = {}
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        found.setdefault(span.passage, []).append(span)
    return found


def _inside(sentence: Sentence, spans: Sequence[Span], starts: Sequence[int]) -> tuple[Span, ...]:
    """Those that stand in a sentence, in what its speaker says; of two in one place the longer."""
    first, end = sentence.start, sentence.start + len(sentence.own)
    kept: list[Span] = []
    reach = 0
    for span in spans[bisect_left(starts, first) : bisect_left(starts, end)]:
        start, stop = span.start - first, span.end - first
        if start >= reach and stop <= len(sentence.own) and BLOT not in sentence.own[start:stop]:
            kept.append(Span(span.passage, start, stop, span.node))
            reach = stop
    return tuple(kept)
