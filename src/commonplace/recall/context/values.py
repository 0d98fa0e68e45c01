"""What a context is made of, and what a program gets."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.model.delta import Delta
from commonplace.recall.pack import Citation

BETWEEN = "\n\n"  # two parts


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a layer, before anybody knows whether there is room for it."""

    line: str
    id: str | None = None
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What one layer says."""

    layer: str
    stable: bool
    text: str
    tokens: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """An item that the text rests on. Only lines of the volatile part carry a mark: a number in
    the stable part would change with whatever comes before it."""

    mark: str | None
    id: str
    layer: str
    source: Citation | None = None


@dataclass(frozen=True, slots=True)
class Context:
    query: str | None  # as it was looked for; None: nothing was
    stable_text: str
    volatile_text: str
    tokens: int
    budget_tokens: int
    parts: tuple[Part, ...]
    citations: tuple[Cited, ...]
    delta: Delta | None  # what changed since this agent last looked; None: a look at the past
    degraded: bool = False  # recalled by words alone: the embedder is down

    @property
    def text(self) -> str:
        """The stable part, then the volatile one; both parts joined as `parts` are."""
        return BETWEEN.join(filter(None, (self.stable_text, self.volatile_text)))

    @property
    def is_empty(self) -> bool:
        return not self.parts
