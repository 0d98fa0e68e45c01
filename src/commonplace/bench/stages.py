"""How long ingesting spends in each of its stages."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any
from unittest.mock import patch

from commonplace import desk
from commonplace.desk import Desk
from commonplace.ingest import process, receive

# Each stage, and the functions that it consists of.
_FUNCTIONS: dict[str, tuple[tuple[Any, str], ...]] = {
    "read": ((receive, "chosen_format"), (receive, "read"), (process, "read_parts")),
    "cut": ((process, "cut_into_passages"),),
    "describe": ((process, "describe"),),
    "analyse": ((desk, "passage_indexing"),),
    "embed": ((Desk, "embed"),),
}
STAGES = tuple(_FUNCTIONS)


class Stages:
    """While this is open, every stage's seconds add up."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._patches = ExitStack()

    def __enter__(self) -> Stages:
        for stage, functions in _FUNCTIONS.items():
            for owner, name in functions:
                timed = self._timed(stage, getattr(owner, name))
                self._patches.enter_context(patch.object(owner, name, timed))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._patches.close()

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds[stage] += time.perf_counter() - start

        return timed
