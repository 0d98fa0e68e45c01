"""Does an answer stay empty when there is none? Each owner is asked the others' questions.

The share of empty answers stands beside R@10 on the owner's own questions, since whoever never
answers is never wrong. With floors given, once for each of them: the curve to choose one from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

from commonplace.bench.quality.metrics import ALL, Numbers, Outcome, percent, recall_at
from commonplace.bench.quality.play import Seat, Step, TimedEmbedder, ask
from commonplace.bench.quality.values import ADVERSARIAL, Question
from commonplace.book import Commonplace

NAME = "abstention"


def measure(
    book: Commonplace,
    seats: Sequence[Seat],
    model: TimedEmbedder,
    own: Sequence[Outcome],
    floors: Sequence[float],
    step: Step,
) -> dict[str, Numbers]:
    """`own`: what came back for their own questions, with the product's own floor."""
    told = {ALL: _numbers(own, _asked(book, strangers(seats), model, None, step))}
    mine = [(seat, question) for seat in seats for question in seat.owner.questions]
    for floor in floors:
        answers = _asked(book, mine, model, floor, step)
        foreign = _asked(book, strangers(seats), model, floor, step)
        told[f"floor {floor:g}"] = _numbers(answers, foreign)
    return told


def questions_asked(seats: Sequence[Seat], floors: Sequence[float]) -> int:
    """How many, for a progress bar."""
    own = sum(len(seat.owner.questions) for seat in seats)
    foreign = len(strangers(seats))
    return foreign + len(floors) * (own + foreign)


def strangers(seats: Sequence[Seat]) -> list[tuple[Seat, Question]]:
    """Every question once, to someone else; the others take turns, so that all are asked all."""
    pairs = []
    for place, asker in enumerate(seats):
        others = [*seats[place + 1 :], *seats[:place]]
        if others:
            pairs += list(zip(cycle(others), _answerable(asker), strict=False))
    return pairs


def _answerable(seat: Seat) -> Iterator[Question]:
    return (each for each in seat.owner.questions if each.category != ADVERSARIAL)


def _asked(
    book: Commonplace,
    pairs: Sequence[tuple[Seat, Question]],
    model: TimedEmbedder,
    floor: float | None,
    step: Step,
) -> list[Outcome]:
    outcomes = []
    for seat, question in pairs:
        outcomes.append(ask(book, seat, question, model, floor))
        step()
    return outcomes


def _numbers(own: Sequence[Outcome], foreign: Sequence[Outcome]) -> Numbers:
    mine = [each for each in own if each.category != ADVERSARIAL]
    return {
        "R@10": percent(sum(recall_at(10, o.ranked, o.gold) for o in mine) / len(mine)),
        "empty": percent(_empty(foreign)),
        "own empty": percent(_empty(mine)),
    }


def _empty(outcomes: Sequence[Outcome]) -> float:
    return sum(not each.ranked for each in outcomes) / len(outcomes) if outcomes else 0.0
