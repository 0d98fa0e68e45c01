"""One person's year of chats with an assistant, made up from `life.toml` and a seed.

Facts that change, things that happened once, projects of some months, weekly appointments, small
talk and requests; told as people type, some in Hebrew, some twice. Every day has five conversations
of two to eight turns. A question knows its answer on every day. The same seed gives the same year,
and the first days of a year do not depend on how many are asked for.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

DAYS = 365
FIRST_DAY = date(2025, 1, 1)
ZONE = timezone(timedelta(hours=2))
CONVERSATIONS_A_DAY = 5
FEWEST_TURNS, MOST_TURNS = 2, 8
BETWEEN_TURNS = timedelta(seconds=40)

_HOURS = (7, 10, 13, 17, 21)
_FIRST_TOLD_BY = 20  # the day by which every changing fact was told
_AGAIN = 0.35  # share of days on which something known is told again
_HEBREW = 0.12  # share of the conversations without news
_LIFE = tomllib.loads((Path(__file__).parent / "life.toml").read_text(encoding="utf-8"))
_TYPED = (
    ("because", "bc"),
    ("about", "abt"),
    ("with", "w"),
    ("tomorrow", "tmrw"),
    ("please", "pls"),
    ("you", "u"),
)


@dataclass(frozen=True, slots=True)
class YearTurn:
    role: str
    text: str
    at: datetime
    is_question: bool = False  # to the assistant, about what the person has told


@dataclass(frozen=True, slots=True)
class YearConversation:
    thread: str
    turns: tuple[YearTurn, ...]


@dataclass(frozen=True, slots=True)
class YearDay:
    number: int
    date: date
    conversations: tuple[YearConversation, ...]

    @property
    def is_sunday(self) -> bool:
        return self.date.weekday() == 6

    @property
    def ends_month(self) -> bool:
        return (self.date + timedelta(days=1)).month != self.date.month

    @property
    def turns(self) -> int:
        return sum(len(each.turns) for each in self.conversations)


@dataclass(frozen=True, slots=True)
class DatedValue:
    since: int  # the day on which it is told
    value: str  # with "|" between the forms in which an answer may have it

    @property
    def said(self) -> str:
        return self.value.split("|")[0]


@dataclass(frozen=True, slots=True)
class PlantedQuestion:
    id: str
    ask: str
    kind: str  # changing, once, project
    values: tuple[DatedValue, ...]  # by day

    def answer_on(self, day: int) -> str | None:
        """None: it was not told yet. What is told today counts from tomorrow."""
        told = [each for each in self.values if each.since < day]
        return told[-1].value if told else None

    def former_on(self, day: int) -> tuple[str, ...]:
        return tuple(each.value for each in self.values if each.since < day)[:-1]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to tell."""

    text: str
    lang: str = "en"
    answer: str | None = None  # of a question that the assistant can answer


class GeneratedYear:
    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self.person: str = _LIFE["id"]
        self.name: str = _LIFE["name"]

    def days(self, count: int = DAYS) -> Iterator[YearDay]:
        for number in range(min(count, DAYS)):
            yield self._day(number)

    @cached_property
    def questions(self) -> tuple[PlantedQuestion, ...]:
        return (
            *self._questions_about_changes(),
            *(
                PlantedQuestion(f"once-{place}", each["ask"], "once", (self._once_told(place),))
                for place, each in enumerate(_LIFE["once"])
            ),
            *(
                PlantedQuestion(
                    f"project-{place}",
                    each["ask"],
                    "project",
                    (DatedValue(self._day_of_answer(each), each["answer"]),),
                )
                for place, each in enumerate(_LIFE["project"])
            ),
        )

    def _random(self, *purpose: object) -> Random:
        return Random(" ".join(map(str, (self.seed, *purpose))))

    # ——— what is true when ———

    @cached_property
    def _changes(self) -> dict[str, tuple[DatedValue, ...]]:
        return {each["key"]: tuple(self._values_of(each)) for each in _LIFE["changing"]}

    def _values_of(self, changing: Mapping[str, Any]) -> Iterator[DatedValue]:
        chance = self._random("values", changing["key"])
        values = changing["values"]
        stretch = DAYS // len(values)
        for place, value in enumerate(values):
            is_first = place == 0
            jitter = chance.randrange(_FIRST_TOLD_BY) if is_first else chance.randrange(stretch)
            yield DatedValue(place * stretch + (jitter if is_first else jitter // 2), value)

    def _once_told(self, place: int) -> DatedValue:
        once = _LIFE["once"]
        stretch = DAYS / len(once)
        order = list(range(len(once)))
        self._random("order").shuffle(order)
        chance = self._random("once", place)
        day = int(order[place] * stretch + chance.random() * stretch)
        return DatedValue(day, once[place]["answer"])

    def _questions_about_changes(self) -> Iterator[PlantedQuestion]:
        for each in _LIFE["changing"]:
            for place, ask in enumerate(each["asks"]):
                values = self._changes[each["key"]]
                yield PlantedQuestion(f"{each['key']}-{place}", ask, "changing", values)

    def _steps_of(self, project: Mapping[str, Any]) -> list[tuple[int, str]]:
        steps = project["steps"]
        apart = (project["ends"] - project["begins"]) / (len(steps) - 1)
        return [(int(project["begins"] + place * apart), step) for place, step in enumerate(steps)]

    def _day_of_answer(self, project: Mapping[str, Any]) -> int:
        forms = project["answer"].lower().split("|")
        return next(
            day
            for day, step in self._steps_of(project)
            if any(form in step.lower() for form in forms)
        )

    # ——— what is told on which day ———

    @cached_property
    def _news(self) -> dict[int, list[_Piece]]:
        news: dict[int, list[_Piece]] = defaultdict(list)
        for each in _LIFE["changing"]:
            chance = self._random("news", each["key"])
            for place, held in enumerate(self._changes[each["key"]]):
                before = self._changes[each["key"]][max(place - 1, 0)].said
                wording = chance.choice(each["changed" if place else "first"])
                text = wording.format(v=held.said, old=before)
                news[held.since].append(_Piece(text, each.get("lang", "en")))
        for place, each in enumerate(_LIFE["once"]):
            news[self._once_told(place).since].append(_Piece(each["tell"], each.get("lang", "en")))
        for each in _LIFE["project"]:
            for day, step in self._steps_of(each):
                news[day].append(_Piece(step))
        return news

    def _day(self, number: int) -> YearDay:
        chance = self._random("day", number)
        day = FIRST_DAY + timedelta(days=number)
        topics = [[piece] for piece in self._news.get(number, ())]
        if chance.random() < _AGAIN and (again := self._told_again(number, chance)):
            topics.append([again])
        if chance.random() < _AGAIN and (question := self._question(number, chance)):
            topics.append([question])
        chance.shuffle(topics)
        pieces: list[list[_Piece]] = [[] for _ in range(CONVERSATIONS_A_DAY)]
        for place, topic in enumerate(topics):
            pieces[place % CONVERSATIONS_A_DAY] += topic
        chance.shuffle(pieces)
        return YearDay(
            number,
            day,
            tuple(
                self._conversation(number, place, day, told, chance)
                for place, told in enumerate(pieces)
            ),
        )

    def _told_again(self, number: int, chance: Random) -> _Piece | None:
        """What holds, in other words than the first time."""
        each = chance.choice(_LIFE["changing"])
        held = [value for value in self._changes[each["key"]] if value.since < number]
        if not held:
            return None
        return _Piece(chance.choice(each["again"]).format(v=held[-1].said), each.get("lang", "en"))

    def _question(self, number: int, chance: Random) -> _Piece | None:
        known = [each for each in self.questions if each.answer_on(number)]
        if not known:
            return None
        question = chance.choice(known)
        answer = (question.answer_on(number) or "").split("|")[0]
        return _Piece(question.ask, _language_of(question.ask), answer)

    # ——— conversations ———

    def _conversation(
        self, number: int, place: int, day: date, told: Sequence[_Piece], chance: Random
    ) -> YearConversation:
        is_hebrew = any(each.lang == "he" for each in told) or (
            not told and chance.random() < _HEBREW
        )
        lang = "he" if is_hebrew else "en"
        exchanges = chance.choice((1, 1, 2, 2, 3, 4))
        pieces = list(told[:4])
        while len(pieces) < exchanges:
            pieces.insert(chance.randint(0, len(pieces)), self._filler(number, lang, chance))
        at = datetime.combine(day, time(_HOURS[place], chance.randrange(50)), ZONE)
        turns: list[YearTurn] = []
        for piece in pieces:
            is_question = piece.answer is not None
            text = piece.text if is_question else as_typed(piece.text, chance)
            turns.append(YearTurn("user", text, at, is_question))
            turns.append(YearTurn("assistant", _reply(piece, lang, chance), at + BETWEEN_TURNS))
            at += 2 * BETWEEN_TURNS
        return YearConversation(f"{day.isoformat()}-{place + 1}", tuple(turns))

    def _filler(self, number: int, lang: str, chance: Random) -> _Piece:
        talk = _LIFE["talk"]
        if lang == "he":
            wording = chance.choice(talk[chance.choice(("small_he", "routine_he"))])
            return _Piece(_filled(wording, chance), "he")
        running = [each for each in _LIFE["project"] if each["begins"] < number < each["ends"]]
        kind = chance.choice(("progress", "routine", "routine", "small", "requests"))
        if kind == "progress" and not running:
            kind = "routine"
        wording = chance.choice(talk[kind])
        if kind == "progress":
            project = chance.choice(running)
            named = {"name": project["name"], "person": chance.choice(project["people"])}
            return _Piece(_filled(wording, chance, **named))
        return _Piece(_filled(wording, chance))


def _filled(wording: str, chance: Random, **named: str) -> str:
    words = {name: chance.choice(each) for name, each in sorted(_LIFE["words"].items())}
    return wording.format(n=chance.randint(2, 14), **words, **named)


def _language_of(text: str) -> str:
    return "he" if any("א" <= each <= "ת" for each in text) else "en"


def _reply(piece: _Piece, lang: str, chance: Random) -> str:
    talk = _LIFE["talk"]
    if piece.answer is not None:
        return f"{piece.answer}." if piece.lang == "he" else f"That's {piece.answer}."
    if lang == "he":
        return str(chance.choice(talk["replies_he"]))
    return str(chance.choice(talk["answers" if piece.text.endswith("?") else "replies"]))


def as_typed(text: str, chance: Random) -> str:
    """Lower case, abbreviations, no full stop: some of it, some of the time. Values stay."""
    if chance.random() < 0.25:
        text = text.lower()
    for word, short in _TYPED:
        if chance.random() < 0.2:
            text = " ".join(short if each == word else each for each in text.split(" "))
    ending = chance.random()
    if ending < 0.1:
        return text + " lol"
    return text + "." if ending > 0.8 and text[-1].isalnum() else text
