"""A telling: what one source, or somebody's own word, says of a node or of an edge.

Tellings are what is kept; nodes and edges are folded from them. So what a node's tellings come to
does not depend on the order in which sources came, what only one source told goes with it, and what
others tell, too, is as if that source had never been met.

Of whom a source tells is decided when it is taken in, by who is known then, and stays so. Where a
name could be several people's ("Sarah", of a friend Sarah, a Sarah Chen and a Sarah Levi) another
order may come to other nodes; a merge or a split says who is who.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commonplace.model.graph.words import NodeType
from commonplace.model.memory import Sensitivity
from commonplace.model.source import SourceType

WEIGHTS = {SourceType.SLACK_THREAD: 0.25, SourceType.EMAIL: 0.5}  # others: 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """The source of a telling. It may be a team's: then it is owned elsewhere."""

    scope: str  # its owner's key
    id: str  # source:<uuid>
    source_type: SourceType
    said_at: datetime  # the source's own date
    sensitivity: Sensitivity = Sensitivity.NORMAL
    passage: int | None = None  # its number, where the words stand

    @property
    def weight(self) -> float:
        return WEIGHTS.get(self.source_type, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTelling:
    id: str
    node: str
    source: Cited | None  # None: somebody's own word
    by: str  # who told it
    recorded_at: datetime
    type: NodeType
    name: str  # as it was written
    key: str  # as it is compared; "": it was only spoken of by that name, or by its id
    subtype: str = ""
    aliases: tuple[str, ...] = ()
    not_called: tuple[str, ...] = ()  # of an own word: names, addresses that are not its
    addresses: tuple[str, ...] = ()
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL  # of an own word: that of what it is about
    stands: bool = True  # False: its source is forgotten, and may come back

    @property
    def said_at(self) -> datetime:
        return self.source.said_at if self.source else self.recorded_at


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTelling:
    id: str
    edge: str  # which edge it is folded into
    a: str
    b: str
    type: str
    source: Cited | None
    by: str
    recorded_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    ends: bool = False  # it tells that the relation is over, since valid_from
    # It holds beside others, also where one has only one at a time: it ends none, and none ends it.
    beside: bool = False
    attitude: int | None = None  # None: nothing is said of it
    proximity: int | None = None
    description: str = ""
    confidence: float = 0.8
    sensitivity: Sensitivity = Sensitivity.NORMAL
    stands: bool = True


class Told(Protocol):
    """A telling, or a note."""

    @property
    def source(self) -> Cited | None: ...

    @property
    def sensitivity(self) -> Sensitivity: ...


def is_high(told: Told) -> bool:
    cited = told.source is not None and told.source.sensitivity is Sensitivity.HIGH
    return cited or told.sensitivity is Sensitivity.HIGH
