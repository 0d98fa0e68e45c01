"""What was recalled, on a terminal: each hit with where it is from, and with reasons as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from commonplace.model.delta import shorten
from commonplace.model.source import PASSAGE
from commonplace.recall.fuse import MEANING, WORDS
from commonplace.recall.pack import Hit
from commonplace.recall.recall import Recalled
from commonplace.surfaces.cli.draw import SUSPICIOUS, drawn, several

BAR = 24  # characters: a part of 1


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of the score as people read it."""

    label: str
    colour: str
    told: str  # for the page on recall


REASONS: dict[str, Reason] = {
    "words": Reason(
        "its words",
        "green",
        "how many of the question's words it holds, the rare ones counting more (BM25)",
    ),
    "words_near": Reason(
        "words beside it",
        "green",
        "the same, of the turns right beside it",
    ),
    "words_wide": Reason(
        "words around it",
        "green",
        "the same, of the turns further around it",
    ),
    "meaning": Reason(
        "its meaning",
        "cyan",
        "how close its vector is to the question's",
    ),
    "meaning_near": Reason(
        "meaning beside it",
        "cyan",
        "the same, of the turns right beside it",
    ),
    "meaning_session": Reason(
        "meaning of its talk",
        "cyan",
        "the same, of the whole sitting it belongs to",
    ),
    "speaker": Reason(
        "who said it",
        "magenta",
        "the question names somebody who takes part, and they said it; in a log of an "
        "assistant: the question is about oneself, and the user said it",
    ),
    "date": Reason(
        "when it was said",
        "magenta",
        "the question names a month or a year, and it was said then, or just after",
    ),
    "answer": Reason(
        "can be the answer",
        "blue",
        "it holds what is asked for: a time, a number or a name",
    ),
    "follows": Reason(
        "follows the question",
        "blue",
        "somebody asked with the question's words, and this is what was said next",
    ),
    "named": Reason(
        "called by name",
        "blue",
        "a memory that the question calls by its name",
    ),
    "title": Reason(
        "title mentioned",
        "blue",
        "a document that one of the best hits mentions by its title",
    ),
    "graph": Reason(
        "led to by names",
        "blue",
        "a passage to which names in the question lead, from what is known to what is known",
    ),
    "relation": Reason(
        "linked",
        "yellow",
        "a memory that is linked to others",
    ),
    "recency": Reason(
        "recent",
        "yellow",
        "how new it is: down to a third after thirty days",
    ),
    "importance": Reason(
        "important",
        "yellow",
        "how important it was said to be",
    ),
    "length": Reason(
        "says enough",
        "yellow",
        "short remarks say little",
    ),
    "asks": Reason(
        "is itself a question",
        "red",
        "a question is seldom the answer: this counts against it",
    ),
}
_WIDTH = max(len(reason.label) for reason in REASONS.values()) + 1
_LEAST = 0.0005  # less than this is drawn as 0.000


@drawn.register
def _recalled(answer: Recalled) -> Any:
    if answer.is_empty:
        return Text("Nothing relevant is remembered.", "yellow")
    lines: list[Any] = []
    if answer.degraded:
        lines.append(Text("Found by words alone: the embedder is down.", "yellow"))
    for place, hit in enumerate(answer.hits, 1):
        lines += _hit(place, hit)
    lines.append(Text(f"{several(len(answer.hits), 'hit')}, {answer.tokens} tokens", "dim"))
    return Group(*lines)


def _hit(place: int, hit: Hit) -> Iterator[RenderableType]:
    speaker = hit.citation.speaker if hit.citation else None
    yield Text.assemble(
        (f"{place}. ", "bold"),
        (f"[{hit.category}] ", "cyan"),
        (f"{speaker}: " if speaker else "", "bold"),
        hit.text,
    )
    yield Text(f"   {' · '.join(_particulars(hit))}\n   id {hit.id}", "dim")
    for related in hit.related:
        yield Text(f"   ↳ {related.text}", "dim")
    if hit.disputed:
        yield Text(f"   ? disputed: {hit.disputed}", "yellow")
    if hit.suspicious:
        yield Text(f"   ! {SUSPICIOUS}", "yellow")
    if hit.why:
        yield Padding(Text(hit.why, "italic"), (0, 0, 0, 3), expand=False)
    for name, part in parts_to_draw(hit).items():
        yield _bar(REASONS[name], part)


def _particulars(hit: Hit) -> Iterator[str]:
    yield hit.kind if hit.kind != PASSAGE else str(hit.source_type)
    if hit.citation and hit.citation.title:
        yield f"“{shorten(hit.citation.title)}”"
    if hit.citation and hit.citation.team:
        yield f"team {hit.citation.team}"
    if hit.citation and hit.citation.brought_by:
        yield f"brought by {hit.citation.brought_by}"
    yield f"{hit.date:%Y-%m-%d}"
    yield f"similarity {'?' if hit.similarity is None else f'{hit.similarity:.2f}'}"


def parts_to_draw(hit: Hit) -> Mapping[str, float]:
    """In one order. A memory stands alone: what is around it is itself."""
    parts = dict(hit.parts or {})
    if hit.kind != PASSAGE:
        for whole in (WORDS, MEANING):
            parts[whole[0]] = sum(parts.pop(name, 0.0) for name in whole)
    ordered = {name: parts.get(name, 0.0) for name in REASONS}
    return {name: part for name, part in ordered.items() if abs(part) >= _LEAST}


def _bar(reason: Reason, part: float) -> Text:
    """What speaks against it is hollow."""
    block = "█" if part > 0 else "░"
    drawing = block * round(abs(part) * BAR)
    return Text.assemble(f"   {reason.label:<{_WIDTH}}", (drawing, reason.colour), f" {part:.3f}")
