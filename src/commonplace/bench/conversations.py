"""Invented conversations: who said what when, from a fixed seed.

Every other word is a small one that people really say (and an analyser drops); the others are
pseudo-words with Zipf frequencies, of as many kinds as years of talk hold. A session has its own
topic: some words that its turns come back to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

SEED = 20260402
VOCABULARY = 20_000
TURNS = 25  # in a session
ME = "Ana"

_BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_SAID_OFTEN = """
    i you the to and a it that of in was so for my we is on with have this but be really at
    about what me are not just your all they like do she he from some how when had
"""
_EXTRAS = ("yesterday", "in June", "at 5 pm", "last week", "two", "in 2023", "on Sunday")
_FIRST_NAMES = """Bruno Carla Dmitri Edith Farid Greta Hiro Ines Jonas Kira Liam Mona"""
_LAST_NAMES = """Abel Brandt Costa Dahl Endo Fabre Grau Hale"""
_SYLLABLES = tuple(c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er"))
_SHORTEST, _LONGEST = 6, 34  # words in a turn
_TOPIC = 12
_QUESTION_WORDS = 4


@dataclass(frozen=True, slots=True)
class Said:
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of two people."""

    name: str
    turns: tuple[Said, ...]

    @property
    def as_json_lines(self) -> str:
        return "\n".join(
            json.dumps({"speaker": said.speaker, "text": said.text, "time": said.at.isoformat()})
            for said in self.turns
        )


class Talker:
    """Makes up talks, always the same ones for the same seed."""

    def __init__(self, seed: int = SEED):
        self._random = np.random.default_rng(seed)
        self._small = _SAID_OFTEN.split()
        self._first, self._last = _FIRST_NAMES.split(), _LAST_NAMES.split()
        self._words = np.array(self._vocabulary())
        frequencies = 1 / np.arange(1, VOCABULARY + 1)
        self._up_to = np.cumsum(frequencies) / frequencies.sum()

    def _vocabulary(self) -> list[str]:
        """Of two or three syllables; some come twice, so more are drawn than wanted."""
        drawn = self._random.choice(_SYLLABLES, (2 * VOCABULARY, 3)).tolist()
        ends = self._random.integers(2, 4, 2 * VOCABULARY).tolist()
        words = dict.fromkeys("".join(word[:end]) for word, end in zip(drawn, ends, strict=True))
        return list(words)[:VOCABULARY]

    def talks(self, turns: int) -> list[Talk]:
        """So many turns, in sessions; a session each day."""
        return [
            self._talk(number, min(TURNS, turns - start))
            for number, start in enumerate(range(0, turns, TURNS))
        ]

    def _talk(self, number: int, turns: int) -> Talk:
        friend = f"{self._random.choice(self._first)} {self._random.choice(self._last)}"
        topic = self._random.choice(self._words, _TOPIC).tolist()
        begins = _BEGIN + timedelta(days=number % 700, hours=number // 700)
        said = [
            Said(
                friend if place % 2 else ME,
                self._sentence(topic, asks=place % 4 == 0),
                begins + timedelta(minutes=place),
            )
            for place in range(turns)
        ]
        return Talk(f"talk-{number}", tuple(said))

    def _sentence(self, topic: Sequence[str], *, asks: bool) -> str:
        length = int(self._random.integers(_SHORTEST, _LONGEST + 1))
        small = self._random.choice(self._small, length)
        heavy = self._words[np.searchsorted(self._up_to, self._random.random(length))]
        again = self._random.choice(topic, length)
        kind = self._random.random(length)
        chosen = np.where(kind < 0.5, small, np.where(kind < 0.85, heavy, again)).tolist()
        if self._random.random() < 0.3:
            chosen.append(str(self._random.choice(_EXTRAS)))
        return " ".join(chosen).capitalize() + ("?" if asks else ".")

    def questions(self, talks: Sequence[Talk], count: int) -> list[str]:
        """Each asks for some turn by a few of its words; every other one names who said it."""
        return list(self._questions(talks, count))

    def _questions(self, talks: Sequence[Talk], count: int) -> Iterator[str]:
        for number in range(count):
            talk = talks[int(self._random.integers(len(talks)))]
            said = talk.turns[int(self._random.integers(len(talk.turns)))]
            told = [word for word in said.text.rstrip(".?").split() if word not in self._small]
            some = self._random.permutation(told)[:_QUESTION_WORDS].tolist()
            about = " ".join(word.lower() for word in some)
            who = said.speaker.split()[0]
            yield f"When did {who} say {about}?" if number % 2 else f"What about {about}?"
