"""Recall before and after its sources were extracted: what a graph of our own making adds.

Passages alone are asked for, so that memories which extraction makes take no place of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from commonplace.bench.quality import locomo, multihop
from commonplace.bench.quality.metrics import METRICS, Outcome, summarise
from commonplace.bench.quality.play import NO_FLOOR, K, Seat, Step, TimedEmbedder, a_store, seat
from commonplace.bench.report import Table
from commonplace.language.models.embedder import Embedder

WITHOUT, WITH = "without a graph", "with the graph of its own extraction"


def measure_own(data: Path, model: Embedder, step: Step) -> list[Table]:
    """A table for each set of conversations and of questions of several hops."""
    tables, timed = [], TimedEmbedder(model)
    with a_store(timed, None) as book:
        for loaded in (*locomo.load(data), *multihop.load(data)):
            outcomes: dict[str, list[Outcome]] = {WITHOUT: [], WITH: []}
            for owner in loaded.owners:
                here = seat(book, owner, step)
                outcomes[WITHOUT] += _ask_all(here, step)
                while here.me.extract().left:
                    step()
                outcomes[WITH] += _ask_all(here, step)
            if outcomes[WITHOUT]:
                tables.append(_table(loaded.name, model.name, outcomes))
            timed.forget()
    return tables


def _ask_all(here: Seat, step: Step) -> list[Outcome]:
    found = []
    for question in here.owner.questions:
        told = here.me.recall(question.text, k=K, threshold=NO_FLOOR, sources="only")
        ranked = tuple(here.unit_of(hit) for hit in told.hits)
        found.append(Outcome(question.category, question.gold, ranked))
        step()
    return found


def _table(name: str, embedder: str, outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    table = Table(
        f"own-graph-{name}", f"{name} with {embedder}: recall and its own graph", ("", *METRICS)
    )
    for method, mine in outcomes.items():
        numbers = summarise(mine)["all"]
        table.add(method, *(numbers[metric] for metric in METRICS))
    return table
