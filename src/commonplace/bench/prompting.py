"""A context beside one recall, and how much of the next prompt a prefix cache already knows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from commonplace.bench.measure import Method, interleaved
from commonplace.bench.plan import Plan
from commonplace.bench.report import Table
from commonplace.bench.shelf import Shelf
from commonplace.book import User
from commonplace.language.tokens import count_tokens

WARM_UP = 3

_RULES = ("spending", "calling", "deleting", "sending", "booking", "sharing", "paying", "moving")
_LAYERS: tuple[dict[str, Any], ...] = (
    *({"kind": "soul", "content": f"Be {word}"} for word in ("kind", "brief", "exact")),
    *(
        {"kind": "rule", "content": f"Ask before {word}", "evidence": ["said so"]}
        for word in _RULES
    ),
    *(
        {"kind": "note", "category": "preferences", "content": f"I prefer letter {n} to others"}
        for n in range(30)
    ),
    *({"kind": "event", "content": f"Dana painted wall {n}"} for n in range(30)),
    *({"kind": "summary", "content": f"Job {n} is done"} for n in range(8)),
)


class Prompting:
    def __init__(self, plan: Plan):
        self._plan = plan
        self.table = Table(
            "context",
            "A context beside one recall",
            (
                "memories",
                "database",
                "recall p50 ms",
                "context p50 ms",
                "x recall",
                "x recall, working",
                "first p50 ms",
                "tokens",
                "% shared",
            ),
            notes=[
                "Every layer has something to say, and the budget of 1,300 tokens is used up.",
                "Working: by the time that the caller's thread had a processor.",
                "First: in a thread that never looked before, its delta header included.",
                "Shared: tokens of a context that stand in the beginning it has in common with the "
                "one before, after one more memory and with another question.",
            ],
        )

    def measure(self, shelves: Sequence[Shelf], size: int, queries: Sequence[str]) -> None:
        for shelf in shelves:
            shelf.me.profile_set("preferred_name", "Ana")
            shelf.me.remember_many(list(_LAYERS))
            self._measure(shelf, size, queries)

    def _measure(self, shelf: Shelf, size: int, queries: Sequence[str]) -> None:
        agent = shelf.me.agent("supervisor")
        tokens = agent.context(queries[0]).tokens
        methods: dict[str, Method] = {
            "recall": partial(_recall, shelf.me, queries),
            "context": partial(_context, agent, queries),
            "first": partial(_first, agent, queries),
        }
        rounds = min(self._plan.recalls, len(queries) - WARM_UP)
        timings = interleaved(methods, rounds, after=shelf.book.flush, warm_up=WARM_UP)
        recall, context = timings["recall"], timings["context"]
        self.table.add(
            size,
            shelf.database.name,
            recall.p50,
            context.p50,
            context.p50 / recall.p50,
            context.cpu_p50 / recall.cpu_p50,
            timings["first"].p50,
            tokens,
            100 * _shared(shelf.me, agent, queries),
        )


def _recall(me: User, queries: Sequence[str], number: int) -> None:
    me.recall(queries[number])


def _context(agent: User, queries: Sequence[str], number: int) -> None:
    agent.context(queries[number])


def _first(agent: User, queries: Sequence[str], number: int) -> None:
    agent.context(queries[number], thread=f"thread {number}")


def _shared(me: User, agent: User, queries: Sequence[str]) -> float:
    before = agent.context(queries[0])
    me.remember(f"{queries[1]} once more", kind="note")
    after = agent.context(queries[1])
    pairs = enumerate(zip(before.text, after.text, strict=False))
    differs = next((place for place, (one, other) in pairs if one != other), len(after.text))
    return count_tokens(after.text[:differs]) / after.tokens
