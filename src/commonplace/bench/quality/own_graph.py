"""Recall before and after its sources were extracted: what a graph of our own making adds.

Passages alone are asked for, so that memories which extraction makes take no place of theirs. Hits
tell what the graph adds to their score, so that one answer shows every weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from commonplace.bench.quality import locomo, multihop
from commonplace.bench.quality.graph_arms import ASKED_FOR, WEIGHTS
from commonplace.bench.quality.metrics import METRICS, Outcome, summarise
from commonplace.bench.quality.play import NO_FLOOR, K, Seat, Step, TimedEmbedder, a_store, seat
from commonplace.bench.report import Table
from commonplace.language.models.embedder import Embedder
from commonplace.recall.graph_arms import WEIGHT
from commonplace.recall.pack import Hit

WITHOUT, FLOOR_WITHOUT, FLOOR_WITH = "without", "with the floor: without", "with the floor: with"


def measure_own(data: Path, model: Embedder, step: Step) -> list[Table]:
    """A table for each set of conversations and of questions of several hops."""
    tables, timed = [], TimedEmbedder(model)
    with a_store(timed, None) as book:
        for loaded in (*locomo.load(data), *multihop.load(data)):
            outcomes: dict[str, list[Outcome]] = {}
            for owner in loaded.owners:
                here = seat(book, owner, step)
                _ask_all(here, {WITHOUT: 0.0}, FLOOR_WITHOUT, outcomes, step)
                while here.me.extract().left:
                    step()
                weights = {f"weight {weight:g}": weight for weight in sorted({*WEIGHTS, WEIGHT})}
                _ask_all(here, weights, FLOOR_WITH, outcomes, step)
            if outcomes:
                tables.append(_table(loaded.name, model.name, outcomes))
            timed.forget()
    return tables


def _ask_all(
    here: Seat,
    weights: Mapping[str, float],
    with_floor: str,
    outcomes: dict[str, list[Outcome]],
    step: Step,
) -> None:
    for question in here.owner.questions:
        asked = here.me.recall(
            question.text, k=ASKED_FOR, threshold=NO_FLOOR, sources="only", explain=True
        )
        found = {name: at_weight(asked.hits, weight) for name, weight in weights.items()}
        found[with_floor] = here.me.recall(question.text, k=K, sources="only").hits
        for method, hits in found.items():
            ranked = tuple(here.unit_of(hit) for hit in hits)
            outcome = Outcome(question.category, question.gold, ranked)
            outcomes.setdefault(method, []).append(outcome)
        step()


def at_weight(hits: Sequence[Hit], weight: float) -> Sequence[Hit]:
    """In the order that they would have if the graph counted for so much."""

    def score(hit: Hit) -> float:
        added = (hit.parts or {}).get("graph", 0.0)
        return hit.score + added * (weight / WEIGHT - 1)

    return sorted(hits, key=lambda hit: (-score(hit), hit.id))


def _table(name: str, embedder: str, outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    table = Table(
        f"own-graph-{name}", f"{name} with {embedder}: recall and its own graph", ("", *METRICS)
    )
    for method, mine in outcomes.items():
        numbers = summarise(mine)["all"]
        table.add(method, *(numbers[metric] for metric in METRICS))
    table.notes.append(f"Recall takes the weight {WEIGHT:g}: of the best hit's score.")
    return table
