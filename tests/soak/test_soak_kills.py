"""Hundreds of kills at random moments, of the writing process and of the database's server."""

from __future__ import annotations

import random
import time

import pytest

from support.children import write_until_killed
from support.own_postgres import OwnServer
from support.processes import Child
from support.scenarios import KillsAtRandom, assert_kept, writers_and_readers
from support.whole import assert_whole, open_plainly

pytestmark = pytest.mark.soak

KILLS = 200
SERVER_KILLS = 10


def test_killed_writers_lose_no_acknowledged_write(store_url, capsys):
    kills = KillsAtRandom(store_url, seed=7)
    kills.run(KILLS)
    assert kills.kills == KILLS
    assert kills.acknowledged >= KILLS
    with capsys.disabled():
        print(f"\n{kills}")


def test_killed_postgresql_server_loses_no_acknowledged_write(capsys):
    """The writers live: they say what they were told, and what became of the last write."""
    chance = random.Random(11)
    acknowledged = 0
    with OwnServer() as server:
        url = server.database("commonplace")
        open_plainly(url).close()
        with open_plainly(url) as survivor:  # a book that lives through all of it
            for number in range(SERVER_KILLS):
                user = f"user-{number}"
                heard = _kill_server_under_a_writer(server, url, user, chance)
                server.start()
                assert_kept(heard, {}, assert_whole(url, user))
                assert survivor.user(user).revision >= heard[-1][0]
                acknowledged += len(heard)
    with capsys.disabled():
        print(f"\n{SERVER_KILLS} server kills, {acknowledged} writes acknowledged, none lost")


def _kill_server_under_a_writer(server, url, user, chance):
    with Child(write_until_killed, url, user, chance.getrandbits(32), None) as child:
        heard = [child.hear() for _ in range(chance.randrange(5, 60))]
        time.sleep(chance.random() * 0.05)  # a random moment is what is tested here
        server.kill()
        *more, refusal = child.rest()
        assert child.exit_code() == 0
    assert refusal in ("store_unavailable", "store_error")
    return heard + more


def test_concurrent_writers_and_readers_stay_consistent(store_url):
    writers_and_readers(store_url, "ana", writes=400)
