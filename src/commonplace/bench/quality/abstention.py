"""Does an answer stay empty when there is none? Each owner is asked the others' questions.

The share of empty answers stands beside R@10 on the owner's own questions, since whoever never
answers is never wrong. With floors given, once for each of them: the curve to choose one from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle

import commonplace
from commonplace.bench.quality.metrics import ALL, Numbers, Outcome, percent, recall_at
from commonplace.bench.quality.play import NOW, Seat, Step, TimedEmbedder, ask
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
    """`own`: what came back for their own questions with no floor at all."""
    best = _found(own)
    told = {ALL: _at_floor(book, seats, model, best, step)}
    for floor in floors:
        with commonplace.open(
            book.url, embedder=model, clock=lambda: NOW, tidy_on_open=False, recall_floor=floor
        ) as other:
            moved = [replace(each, me=other.user(each.me.principal.user_id)) for each in seats]
            told[f"floor {floor:g}"] = _at_floor(other, moved, model, best, step)
    return told


def _at_floor(
    book: Commonplace, seats: Sequence[Seat], model: TimedEmbedder, best: float, step: Step
) -> Numbers:
    mine = [(each, question) for each in seats for question in _answerable(each)]
    own = [ask(book, each, question, model, None) for each, question in _counted(mine, step)]
    foreign = [
        ask(book, each, question, model, None)
        for each, question in _counted(strangers(seats), step)
    ]
    return {
        "R@10": percent(_found(own)),
        "R@10 lost": percent(best - _found(own)),
        "empty": percent(_empty(foreign)),
        "own empty": percent(_empty(own)),
    }


def _counted(pairs: Iterable[tuple[Seat, Question]], step: Step) -> Iterator[tuple[Seat, Question]]:
    for pair in pairs:
        yield pair
        step()


def _found(own: Sequence[Outcome]) -> float:
    mine = [each for each in own if each.category != ADVERSARIAL]
    return sum(recall_at(10, o.ranked, o.gold) for o in mine) / len(mine) if mine else 0.0


def questions_asked(seats: Sequence[Seat], floors: Sequence[float]) -> int:
    """How many, for a progress bar."""
    own = sum(len(list(_answerable(seat))) for seat in seats)
    return (1 + len(floors)) * (own + len(strangers(seats)))


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


def _empty(outcomes: Sequence[Outcome]) -> float:
    return sum(not each.ranked for each in outcomes) / len(outcomes) if outcomes else 0.0
