"""Aggregates: accumulators of the values of a group."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from commonplace.engine.graph_search.cypher.execution.budget import (
    CELL_BYTES,
    QueryBudget,
    sorted_in_turns,
)
from commonplace.engine.graph_search.cypher.execution.operators import adder, divide
from commonplace.engine.graph_search.cypher.temporal.types import CypherDuration
from commonplace.engine.graph_search.cypher.values import (
    group_key,
    is_number,
    sort_key,
    type_name,
    weight,
)
from commonplace.errors import BadCypher


class Accumulator(ABC):
    """Takes the values of one group that are not null. ``extra`` is a second argument."""

    def __init__(self, budget: QueryBudget) -> None:
        self._budget = budget

    @abstractmethod
    def take(self, value: Any, extra: Any) -> None: ...

    @abstractmethod
    def result(self) -> Any: ...


class CountAccumulator(Accumulator):
    def __init__(self, budget: QueryBudget) -> None:
        super().__init__(budget)
        self._count = 0

    def take(self, value: Any, extra: Any) -> None:
        self._count += 1

    def result(self) -> int:
        return self._count


class CollectAccumulator(Accumulator):
    def __init__(self, budget: QueryBudget) -> None:
        super().__init__(budget)
        self._values: list[Any] = []

    def take(self, value: Any, extra: Any) -> None:
        self._budget.keep(8 + weight(self._budget, value))
        self._values.append(value)

    def result(self) -> list[Any]:
        return self._values


class SumAccumulator(Accumulator):
    def __init__(self, budget: QueryBudget) -> None:
        super().__init__(budget)
        self._total: Any = 0
        self._count = 0
        self._add = adder(budget)

    def take(self, value: Any, extra: Any) -> None:
        if not (is_number(value) or isinstance(value, CypherDuration)):
            raise BadCypher(f"sum() and avg() take numbers or durations, not {type_name(value)}.")
        if self._count and isinstance(value, CypherDuration) != isinstance(
            self._total, CypherDuration
        ):
            raise BadCypher("sum() and avg() do not mix numbers and durations.")
        self._total = self._add(self._total, value) if self._count else value
        self._count += 1

    def result(self) -> Any:
        return self._total


class AverageAccumulator(SumAccumulator):
    def result(self) -> Any:
        if not self._count:
            return None
        total = self._total
        return divide(total if isinstance(total, CypherDuration) else float(total), self._count)


class ExtremeAccumulator(Accumulator):
    """min() and max(), in the total order of all types."""

    def __init__(self, budget: QueryBudget, is_better: Callable[[Any, Any], bool]) -> None:
        super().__init__(budget)
        self._is_better = is_better
        self._best: Any = None
        self._key: Any = None
        self._size = 0

    def take(self, value: Any, extra: Any) -> None:
        key = sort_key(self._budget, value)
        if self._key is None or self._is_better(key, self._key):
            self._best, self._key = value, key
            self._budget.release(self._size)
            self._size = weight(self._budget, value)
            self._budget.keep(self._size)

    def result(self) -> Any:
        return self._best


class DeviationAccumulator(Accumulator):
    """Welford's algorithm: numerically stable for large values."""

    def __init__(self, budget: QueryBudget, ddof: int) -> None:
        super().__init__(budget)
        self._ddof = ddof
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0

    def take(self, value: Any, extra: Any) -> None:
        if not is_number(value):
            raise BadCypher(f"stDev() takes numbers, not {type_name(value)}.")
        self._count += 1
        difference = value - self._mean
        self._mean += difference / self._count
        self._squares += difference * (value - self._mean)

    def result(self) -> float:
        if self._count <= self._ddof:
            return 0.0
        return math.sqrt(self._squares / (self._count - self._ddof))


class PercentileAccumulator(Accumulator):
    def __init__(self, budget: QueryBudget, *, continuous: bool) -> None:
        super().__init__(budget)
        self._continuous = continuous
        self._values: list[float] = []
        self._share: float | None = None

    def take(self, value: Any, extra: Any) -> None:
        if not is_number(value) or not is_number(extra) or not 0 <= extra <= 1:
            raise BadCypher("A percentile takes numbers, and a share between 0 and 1.")
        self._budget.keep(CELL_BYTES)
        self._values.append(value)
        self._share = extra if self._share is None else self._share

    def result(self) -> Any:
        if not self._values or self._share is None:
            return None
        ordered = sorted_in_turns(self._values, float, self._budget)
        if not self._continuous:
            return ordered[max(0, math.ceil(self._share * len(ordered)) - 1)]
        position = self._share * (len(ordered) - 1)
        below, above = math.floor(position), math.ceil(position)
        if below == above:
            return float(ordered[below])
        return ordered[below] * (above - position) + ordered[above] * (position - below)


class DistinctAccumulator(Accumulator):
    """Passes each value on once."""

    def __init__(self, budget: QueryBudget, inner: Accumulator) -> None:
        super().__init__(budget)
        self._inner = inner
        self._seen: set[Any] = set()

    def take(self, value: Any, extra: Any) -> None:
        key = group_key(self._budget, value)
        if key not in self._seen:
            self._budget.keep(CELL_BYTES + weight(self._budget, value))
            self._seen.add(key)
            self._inner.take(value, extra)

    def result(self) -> Any:
        return self._inner.result()


_MAKERS: dict[str, Callable[[QueryBudget], Accumulator]] = {
    "count": CountAccumulator,
    "collect": CollectAccumulator,
    "sum": SumAccumulator,
    "avg": AverageAccumulator,
    "min": lambda budget: ExtremeAccumulator(budget, lambda one, best: one < best),
    "max": lambda budget: ExtremeAccumulator(budget, lambda one, best: one > best),
    "stdev": lambda budget: DeviationAccumulator(budget, 1),
    "stdevp": lambda budget: DeviationAccumulator(budget, 0),
    "percentilecont": lambda budget: PercentileAccumulator(budget, continuous=True),
    "percentiledisc": lambda budget: PercentileAccumulator(budget, continuous=False),
}


def accumulator(name: str, distinct: bool, budget: QueryBudget) -> Accumulator:
    inner = _MAKERS[name](budget)
    return DistinctAccumulator(budget, inner) if distinct else inner
