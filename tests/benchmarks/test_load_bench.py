"""The load on real servers, made small: it asks, and looks for every write."""

from dataclasses import replace

import pytest

from benchmarks.fixtures import POSTGRES, SQLITE, SqliteFolder
from benchmarks.load import COLUMNS, check_writes, fill_store, load_numbers, run_load
from benchmarks.load_servers import ClientLog, LoadPlan, setups_of
from benchmarks.report import Table

SMALL = LoadPlan(users=3, memories_each=4, clients=2, seconds=1.0, share_of_writes=1.0)


@pytest.fixture
def plan():
    return replace(SMALL, embedder="hashing")


def test_load_run_loses_and_doubles_no_acknowledged_write(tmp_path, plan):
    url = SqliteFolder(tmp_path).create("load")
    askers = fill_store(url, plan)
    setup = next(setups_of(SQLITE))
    seen = run_load(url, setup, plan, askers)
    row = (SQLITE, setup.name, *load_numbers(plan, seen), *check_writes(url, plan, seen))
    table = Table("load", "Load", COLUMNS)
    table.add(*row)
    told = dict(zip(COLUMNS, row, strict=True))
    assert told["writes acknowledged"] > 0
    assert (told["errors"], told["of them lost"], told["of them doubled"]) == (0, 0, 0)


def test_load_check_writes_counts_a_missing_write(tmp_path, plan):
    url = SqliteFolder(tmp_path).create("load")
    fill_store(url, plan)
    claimed = ClientLog(acknowledged=[("user-1", "This was never written")])
    assert check_writes(url, plan, [claimed]) == (1, 0)


def test_load_setups_have_two_servers_on_postgresql_only():
    names = {database: [s.name for s in setups_of(database)] for database in (SQLITE, POSTGRES)}
    assert "two servers" in names[POSTGRES]
    assert "two servers" not in names[SQLITE]
    for setups in names.values():
        assert "one server, one worker" in setups
        assert "one server, killed and restarted" in setups
