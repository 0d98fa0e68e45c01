"""Hits packed into a token budget: whole hits in order, then related memories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from commonplace.language.text.tokens import count_tokens, cut_to_tokens
from commonplace.lazy import lazy_imports
from commonplace.model.delta import shorten
from commonplace.model.quotation import quote, quote_if
from commonplace.model.sources.source import PASSAGE_KIND, is_source_id

with lazy_imports(__name__):
    from commonplace.language.text.date_mentions import find_date_mentions

_LONGEST_CURRENT = 80  # characters of what holds now, which is mostly a hit itself


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    id: str
    text: str
    strength: float
    quoted: bool = False  # words of a source


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of a hit."""

    source: str
    title: str | None = None
    position: int | None = None  # of a passage in its source
    speaker: str | None = None
    role: str | None = None  # of the speaker: user, assistant, system, tool
    session: str | None = None
    label: str | None = None  # its id in the original
    team: str | None = None  # the owning team, if any
    brought_by: str | None = None  # the user who ingested it, if another


@dataclass(frozen=True, slots=True)
class CurrentValue:
    """What holds now, for a passage that says something else; empty if that was forgotten."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    text: str
    kind: str
    category: str
    date: datetime
    similarity: float | None
    score: float
    source_type: str | None = None
    citation: Citation | None = None
    importance: int = 2
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    related: tuple[RelatedMemory, ...] = ()
    disputed: str | None = None  # the pending values of its conflict
    outdated: CurrentValue | None = None  # a passage that says what has changed since
    forgettable: bool = True
    summary: str | None = None  # of a memory, if it differs from the text
    evidence: tuple[str, ...] = ()  # the passages that a memory was made from
    said_as: str | None = None  # the passage of a memory, if it says more
    said_by: str | None = None  # the speaker, or the role, of that passage
    suspicious: bool = False
    weak: bool = False  # little evidence that it is about the query
    quoted: bool = False  # words of a source: prompts show them fenced
    proposed: bool = False  # for the profile; its owner has not decided yet
    why: str | None = None  # with explain
    parts: Mapping[str, float] | None = None  # with explain

    @property
    def is_anothers(self) -> bool:
        """True for passages of a team and for those shared by another user."""
        cited = self.citation
        is_passage = cited is not None and cited.position is not None
        return cited is not None and is_passage and bool(cited.team or cited.brought_by)

    @property
    def bullet(self) -> str:
        return f"- [{self.category}] {self.prompt_text}"

    @property
    def prompt_text(self) -> str:
        """The text for a prompt. The speaker's name is the source's, too: it is in the fence."""
        disputed = f" (disputed: {self.disputed})" if self.disputed else ""
        weak = "(weak match) " if self.weak else ""
        proposed = " (proposed, not confirmed)" if self.proposed else ""
        text = quote_if(self.quoted, self.said + self.text)
        more = f" (in full, {quote(self.said_as)})" if self.said_as else ""
        return f"{weak}{text}{more}{self._days_meant}{disputed}{proposed}{self._changed_since}"

    @property
    def _days_meant(self) -> str:
        """The dates of "tuesday" and "the 14th" in a passage, which is read weeks later."""
        if self.kind != PASSAGE_KIND:
            return ""
        found = find_date_mentions(self.text, self.date)
        return f" ({', '.join(f'{each.words} = {each.day}' for each in found)})" if found else ""

    @property
    def _changed_since(self) -> str:
        if self.outdated is None:
            return ""
        if not self.outdated.text:
            return " (outdated)"
        current = shorten(self.outdated.text, _LONGEST_CURRENT)
        return f" (outdated: now {quote_if(is_source_id(self.outdated.id), current)})"

    @property
    def said(self) -> str:
        """A passage's speaker, or the speaker's role, and date ("yesterday" is ambiguous without),
        and who ingested it. Of a memory: who ingested its source."""
        if self.citation is None:
            return ""
        author = self.citation.brought_by
        if self.citation.position is None:
            return f"(brought by {author}) " if author else ""
        speaker = self.citation.speaker or self.citation.role
        who = f"{speaker}, " if speaker else ""
        provenance = f", brought by {author}" if author else ""
        return f"({who}{self.date:%Y-%m-%d}{provenance}) "


CLEAR_LEAD = 1.5  # of the best score over the next


@dataclass(frozen=True, slots=True)
class Choice:
    """Several items match: nothing was done. Call again with the intended ids."""

    query: str
    candidates: tuple[Hit, ...]

    @property
    def is_empty(self) -> bool:
        return not self.candidates

    @property
    def clear_hit(self) -> Hit | None:
        """The only candidate, or one far ahead of the others."""
        first, *others = self.candidates or (None,)
        if first is None or (others and others[0].score * CLEAR_LEAD > first.score):
            return None
        return first


def merge_hits(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """The best hits of several wordings of one question: each item once, with its best score."""
    best: dict[str, Hit] = {}
    for hit in (hit for hits in answers for hit in hits):
        if hit.id not in best or hit.score > best[hit.id].score:
            best[hit.id] = hit
    return sorted(best.values(), key=lambda hit: hit.score, reverse=True)[:k]


def best_similarity(hits: Sequence[Hit]) -> float | None:
    return max((hit.similarity for hit in hits if hit.similarity is not None), default=None)


def as_text(hits: Sequence[Hit]) -> str:
    lines = []
    for hit in hits:
        lines += [one_line(hit.bullet), *related_lines(hit.related)]
    return "\n".join(lines)


def related_lines(related: Iterable[RelatedMemory]) -> list[str]:
    return [f"  - related: {one_line(quote_if(each.quoted, each.text))}" for each in related]


def one_line(text: str) -> str:
    """Prevents a text from posing as a heading or as another line."""
    return " ".join(text.split())


HitsToText = Callable[[Sequence[Hit]], str]
PackFunction = Callable[[Sequence[Hit], int | None], tuple[list[Hit], int]]


def pack(
    hits: Sequence[Hit], budget: int | None, as_text: HitsToText = as_text
) -> tuple[list[Hit], int]:
    """The hits that fit, and their tokens; never over the budget."""
    if budget is None:
        return list(hits), count_tokens(as_text(hits))
    packed: list[Hit] = []
    for hit in hits:
        bare = replace(hit, related=())
        if count_tokens(as_text([*packed, bare])) <= budget:
            packed.append(bare)
        elif not packed:
            packed = _cut_to_fit(bare, budget, as_text)
            if packed:  # the budget is used up
                break
    packed = _add_related(packed, {hit.id: hit.related for hit in hits}, budget, as_text)
    return packed, count_tokens(as_text(packed)) if packed else 0


def _cut_to_fit(hit: Hit, budget: int, as_text: HitsToText) -> list[Hit]:
    """Truncate the best hit, if it alone exceeds the budget."""
    room = budget - count_tokens(as_text([replace(hit, text="")]))
    while room > 1:
        cut = replace(hit, text=cut_to_tokens(hit.text, room))
        if not cut.text:
            return []
        if count_tokens(as_text([cut])) <= budget:
            return [cut]
        room -= 1
    return []


def _add_related(
    packed: list[Hit],
    related: Mapping[str, tuple[RelatedMemory, ...]],
    budget: int,
    as_text: HitsToText,
) -> list[Hit]:
    for place, hit in enumerate(packed):
        for each in related[hit.id]:
            richer = replace(packed[place], related=(*packed[place].related, each))
            candidate = [*packed[:place], richer, *packed[place + 1 :]]
            if count_tokens(as_text(candidate)) > budget:
                return packed
            packed = candidate
    return packed
