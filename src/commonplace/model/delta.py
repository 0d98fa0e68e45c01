"""Delta header: net changes since a revision, in at most three bullets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from commonplace.model.journal import Entry, Event, JournalNode, JournalRow, Op
from commonplace.model.quotation import quote_if

MAX_BULLETS = 3
BULLET_CHARACTERS = 120

_MARKS = {
    "created": "+created",
    "updated": "↑updated",
    "merged": "↔merged",
    "forgotten": "−forgotten",
    "deleted": "×deleted",
    "restored": "⟲restored",
    "disputed": "?disputed",
}


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The net effect on one item since the cursor."""

    what: str  # created, updated, merged, forgotten, deleted, restored, disputed
    id: str
    category: str | None
    text: str  # empty when the text is gone
    importance: int
    revision: int
    how: str = ""  # supersedes, overrides, seen again
    quoted: bool = False  # the text is not the owner's
    derived: bool = False  # extracted from what is listed itself: in no header

    @property
    def bullet(self) -> str:
        where = f"[{self.category}] " if self.category else ""
        suffix = f" (imp={self.importance})" if self.what == "created" else ""
        suffix += f" ({self.how})" if self.how and self.what == "updated" else ""
        text = quote_if(self.quoted, self.text) if self.text else "an item"
        return f"- {_MARKS[self.what]}: {where}{text}{suffix}"


@dataclass(frozen=True, slots=True)
class Delta:
    since: int
    revision: int
    changes: tuple[ChangeSummary, ...]  # most important first
    is_whole: bool = True  # False: there are less important ones that were not read
    elsewhere: int = 0  # changes in categories that were not requested
    is_first: bool = False  # the reader has not looked before in this thread

    @property
    def header(self) -> str:
        """Text for a prompt; empty when nothing changed."""
        return self.header_of(MAX_BULLETS)

    def header_of(self, bullets: int) -> str:
        if not has_news(self):
            return ""
        told = [change for change in self.changes if not change.derived]
        lines = [f"Memory updates since rev {self.since}:"]
        lines += [change.bullet for change in told[:bullets]]
        more = max(0, len(told) - bullets)
        if more:
            lines.append(f"- … and {more} more" + ("" if self.is_whole else ", and others"))
        if self.elsewhere:
            lines.append(f"- … and {self.elsewhere} in other categories")
        return "\n".join(lines)


def has_news(delta: Delta) -> bool:
    """False if nothing changed, and on a first look at more than a header can tell: where nothing
    was said before, nothing has changed, and a part of all there is says little."""
    count = sum(not change.derived for change in delta.changes) + delta.elsewhere
    return count > 0 and not (delta.is_first and count > MAX_BULLETS)


def has_left(change: ChangeSummary) -> bool:
    """True if the item was forgotten or deleted."""
    return change.what in _LEAVING


class DeltaItem(Protocol):
    """An item that a delta can describe: a memory, a source or an item of the graph."""

    @property
    def headline(self) -> str: ...  # one line
    @property
    def importance(self) -> int: ...
    @property
    def conflict(self) -> str | None: ...
    def is_live(self, now: datetime) -> bool: ...


def net_changes(
    rows: Iterable[JournalRow], item_of: Callable[[str], DeltaItem | None], now: datetime
) -> tuple[ChangeSummary, ...]:
    """One change per item: its state now compared with its state at the cursor."""
    by_subject: dict[str, list[JournalRow]] = {}
    for row in rows:
        effect = _effect(row.entry)
        if effect and row.entry.subject:
            by_subject.setdefault(row.entry.subject, []).append(row)
    changes = [
        change
        for subject, history in by_subject.items()
        if (change := _summarise_change(subject, history, item_of(subject), now))
    ]
    return tuple(sorted(changes, key=_rank))


def _rank(change: ChangeSummary) -> tuple[bool, int, int]:
    """Items of the graph come last: the memories and sources that they come from say more."""
    return change.id.startswith(_OF_THE_GRAPH), -change.importance, -change.revision


_OF_THE_GRAPH = ("node:", "edge:", "storyline:", "macro:")


def _is_derived(history: Sequence[JournalRow]) -> bool:
    """True for items of the graph that only a worker changed, which made them from sources."""
    entries = [row.entry for row in history]
    return all(
        (entry.subject or "").startswith(_OF_THE_GRAPH) and entry.node is JournalNode.WORKER
        for entry in entries
    )


def _summarise_change(
    subject: str, history: Sequence[JournalRow], item: DeltaItem | None, now: datetime
) -> ChangeSummary | None:
    if item is None or item.conflict is None:  # the conflict has been resolved
        history = [row for row in history if _effect(row.entry) != "disputed"]
    if not history:
        return None
    effects = [_effect(row.entry) for row in history]
    first, last = effects[0], effects[-1]
    what = "created" if first == "created" and last in ("updated", "restored") else last
    came_and_went = first in ("created", "restored") and what in _LEAVING
    replaced_since = what not in _LEAVING and (item is None or not item.is_live(now))
    if what is None or came_and_went or replaced_since:
        return None
    return ChangeSummary(
        what=what,
        id=subject,
        category=history[-1].entry.category,
        text="" if item is None else shorten(item.headline),
        importance=item.importance if item else 2,
        revision=history[-1].revision,
        how=_describe_update(history[-1].entry),
        derived=what not in _LEAVING and _is_derived(history),
    )


def _describe_update(entry: Entry) -> str:
    """How an item was updated, where `updated` alone is not specific enough."""
    match entry.event, entry.op:
        case Event.UPDATE, Op.CREATE:
            return "supersedes an earlier one"
        case Event.OVERRIDE, Op.CREATE:
            return "overrides an earlier one"
        case Event.UPDATE, Op.UPDATE if "relation" in entry.meta:
            return "stated again"
        case _:
            return ""


_LEAVING = ("forgotten", "deleted")

# Changes with these keys are not reported: the new side of a replacement reports it, or it comes
# from the conversation itself.
_QUIET_META = frozenset({"superseded_by", "turns", "described", "supported"})
DERIVED = {"derived": True}  # follows from the change of another item, which is reported


def _effect(entry: Entry) -> str | None:
    """The word for an entry; None for entries that are not reported: links, purges, the old side of
    a replacement, what is derived."""
    if DERIVED.keys() <= entry.meta.keys():
        return None
    match entry.event, entry.op:
        case Event.ADD, _:
            return None if _QUIET_META & entry.meta.keys() else "created"
        case Event.MERGE, Op.CREATE:
            return "merged"
        case ((Event.UPDATE | Event.OVERRIDE), Op.CREATE):
            return "updated"
        case Event.UPDATE, Op.HOLD:
            return "disputed" if "held" in entry.meta else None  # an alternative needs no decision
        case Event.UPDATE, Op.RESOLVE:
            return None
        case Event.UPDATE, _:
            return None if _QUIET_META & entry.meta.keys() else "updated"
        case ((Event.DELETE | Event.TTL), _) if entry.new_ref:
            return "forgotten"
        case ((Event.TTL | Event.ERASE), _):
            return "deleted"
        case Event.RESTORE, _:
            return "restored"
        case Event.CONSENT, Op.CREATE:
            return "created"
        case Event.CONSENT, Op.UPDATE:  # proposing and declining leave the profile as it is
            return "updated"
        case _:
            return None


def shorten(text: str, limit: int = BULLET_CHARACTERS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


DEFAULT_IMPORTANCE = 2  # the default importance of a memory


class UnratedItem:
    """Base of sources and graph items: default importance, never in conflict."""

    __slots__ = ()

    @property
    def importance(self) -> int:
        return DEFAULT_IMPORTANCE

    @property
    def conflict(self) -> str | None:
        return None
