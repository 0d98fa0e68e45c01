"""Runs that acceptance makes small and soak makes large: the same code, other numbers."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from typing import Any

import psycopg

from commonplace.api import User
from commonplace.errors import InvalidInput
from commonplace.language.text.terms import analyse
from commonplace.model.export.archive import ScopeExport
from commonplace.model.memory.memory import State
from commonplace.model.unicode_text import normal_form
from support.children import read_what_is_named, write, write_until_killed
from support.odd_texts import odd_texts
from support.postgres import SWEEPER
from support.processes import PATIENCE, Child, in_order_of_speech
from support.whole import assert_whole

WRITERS = 4
READERS = 4


def writers_and_readers(url: str, user: str, writes: int) -> ScopeExport:
    """Readers look for each write the moment it is acknowledged. Returns the memory at the end."""
    with ExitStack() as running:
        readers = [
            running.enter_context(Child(read_what_is_named, url, user)) for _ in range(READERS)
        ]
        writers = [
            running.enter_context(Child(write, url, user, number, writes))
            for number in range(WRITERS)
        ]
        acknowledged = []
        whose_turn = cycle(readers)
        for _, named in in_order_of_speech(writers):
            acknowledged.append(named)
            next(whose_turn).tell(named)
        for reader in readers:
            reader.tell(None)
        assert sum(reader.hear() for reader in readers) == len(acknowledged)
        assert all(child.exit_code() == 0 for child in [*readers, *writers])
    assert len(acknowledged) == WRITERS * writes
    assert sorted(revision for *_, revision in acknowledged) == list(range(1, WRITERS * writes + 1))
    belongings = assert_whole(url, user)
    stored = {memory.id: memory.content for memory in belongings.memories}
    assert stored == {id: content for id, content, _ in acknowledged}
    return belongings


class KillsAtRandom:
    """Kills a writing process again and again, and looks each time at what it left behind."""

    def __init__(self, url: str, seed: int):
        self.url = url
        self.kills = 0
        self.acknowledged = 0
        self.unacknowledged = 0  # committed, but the process died before it could say so
        self._chance = random.Random(seed)

    def run(self, kills: int, kills_per_user: int = 20) -> None:
        for first in range(0, kills, kills_per_user):
            user = f"user-{first}"
            live: dict[str, str] = {}
            for _ in range(min(kills_per_user, kills - first)):
                heard = self._kill_one(user)
                live = self._check(user, live, heard)

    def _kill_one(self, user: str) -> Sequence[Any]:
        chance = self._chance
        small_checkpoints = chance.choice([None, 1, 4, 16]) if "://" not in self.url else None
        with Child(
            write_until_killed, self.url, user, chance.getrandbits(32), small_checkpoints
        ) as child:
            heard = [child.hear() for _ in range(chance.randrange(1, 15))]
            time.sleep(chance.random() * 0.02)  # a random moment is what is tested here
            child.kill()
            heard += child.rest()
        self.kills += 1
        self.acknowledged += len(heard)
        return heard

    def _check(self, user: str, live: dict[str, str], heard: Sequence[Any]) -> dict[str, str]:
        wait_until_alone(self.url)
        belongings = assert_whole(self.url, user)
        self.unacknowledged += assert_kept(heard, live, belongings)
        return live_of(belongings)

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.acknowledged} writes acknowledged, none lost; "
            f"{self.unacknowledged} more were committed when the kill came"
        )


def assert_kept(heard: Sequence[Any], live: dict[str, str], found: ScopeExport) -> int:
    """What was live and what was acknowledged since is what there is, but for what one last
    write touched that died before it could be acknowledged. Returns how many such there were."""
    revision = heard[-1][0]
    for _, changes in heard:
        live = {id: text for id, text in {**live, **changes}.items() if text is not None}
    assert found.revision - revision in (0, 1), "at most one write was under way"
    touched = _touched_after(found, revision)
    for id in live.keys() | live_of(found).keys():
        assert id in touched or live_of(found).get(id) == live.get(id), id
    return found.revision - revision


def live_of(belongings: ScopeExport) -> dict[str, str]:
    return {m.id: m.content for m in belongings.memories if m.state is State.ACTIVE}


def _touched_after(belongings: ScopeExport, revision: int) -> set[str]:
    return {
        row.entry.subject
        for row in belongings.journal
        if row.revision > revision and row.entry.event and row.entry.subject
    }


def wait_until_alone(url: str) -> None:
    """PostgreSQL finishes what a dead client had sent it: wait for that before looking."""
    if "://" not in url:
        return
    deadline = time.monotonic() + PATIENCE
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        f" AND application_name <> '{SWEEPER}'"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(others).fetchone() != (0,):
            assert time.monotonic() < deadline, "a dead client's session did not end"
            time.sleep(0.005)


# ——— hostile text ———

TEXTS_AT_ONCE = 100


def survive_odd_texts(me: User, count: int, seed: int, recall_one_in: int) -> tuple[int, int]:
    """Each text is stored and found again, or refused by name. Returns how many of each."""
    stored = refused = 0
    for texts in batched(odd_texts(count, seed), TEXTS_AT_ONCE):
        kept = remember_what_is_welcome(me, texts)
        assert_kept_as_given(me, kept)
        assert_recalled(me, list(kept.values())[::recall_one_in])
        stored += len(kept)
        refused += len(texts) - len(kept)
    return stored, refused


def remember_what_is_welcome(me: User, texts: list[str]) -> dict[str, str]:
    """By id. A batch is kept whole or not at all, so one with a bad text is halved and tried."""
    # What looks like a password would else be sensitive, and not be listed.
    notes = [{"kind": "note", "content": text, "sensitivity": "normal"} for text in texts]
    try:
        return {kept.id: text for kept, text in zip(me.remember_many(notes), texts, strict=True)}
    except InvalidInput:
        half = len(texts) // 2
        if not half:
            return {}
        first, second = texts[:half], texts[half:]
        return remember_what_is_welcome(me, first) | remember_what_is_welcome(me, second)


def assert_kept_as_given(me: User, kept: dict[str, str]) -> None:
    newest = {memory.id: memory.content for memory in me.list(limit=TEXTS_AT_ONCE).memories}
    for id, text in kept.items():
        assert newest[id] == as_stored(text), ascii(text)


def assert_recalled(me: User, texts: list[str]) -> None:
    """By its own words, wherever it has any: what is punctuation alone is found by id only."""
    for text, answer in zip(texts, me.recall_many(texts, k=100), strict=True):
        if analyse(text):
            assert as_stored(text) in [hit.text for hit in answer.hits], ascii(text)


def as_stored(text: str) -> str:
    """NFC in Unicode's stream-safe form, one kind of newline, nothing around it."""
    one_newline = text.replace("\r\n", "\n").replace("\r", "\n")
    return normal_form(one_newline, "NFC").strip()


def batched(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, size)):
        yield batch
