"""A damaged file: every verb answers, or says that the store is damaged."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing

import pytest

import commonplace
from commonplace.errors import CommonplaceError, StoreCorrupt

PAGE = 4096
DANA = "Where does Dana live?"

READS = {
    "recall": lambda me: me.recall(DANA),
    "query": lambda me: me.query("Dana"),
    "context": lambda me: me.context("Dana"),
    "list": lambda me: me.list(limit=200),
    "show": lambda me: [me.show(memory.id) for memory in me.list().memories[:5]],
    "history": lambda me: [me.history(memory.id) for memory in me.list().memories[:5]],
    "sources": lambda me: [me.show(source.id) for source in me.sources().sources],
    "conflicts": lambda me: me.conflicts(),
    "people": lambda me: me.people(),
    "edges": lambda me: me.edges(past=True),
    "explore": lambda me: me.explore(text_matches=["Dana"], granularity=1),
    "traverse": lambda me: me.traverse(cypher="MATCH (n) RETURN n.name"),
    "changes": lambda me: me.changes(),
    "events": lambda me: me.events(),
    "export": lambda me: list(me.export()),
    "stats": lambda me: me.stats(),
    "profile": lambda me: me.profile(),
    "as_of": lambda me: me.recall("Dana", as_of="2026-01-01"),
    "known_at": lambda me: me.list(known_at="2026-01-01"),
    "verify_forget": lambda me: me.verify_forget("Porto"),
    "why": lambda me: me.why("main"),
    "jobs": lambda me: me.jobs(),
    "doctor": lambda me: me.doctor(),
}


def opened(path):
    return commonplace.open(
        str(path), embedder="hashing", tidy_on_open=False, lock_timeout=2, recall_log=True
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    with opened(path) as book:
        me = book.user("ana")
        me.remember_many([f"Friend {n} lives in town {n} since {2000 + n}" for n in range(20)])
        fact = me.remember("Dana lives in Haifa", kind="fact")
        me.update(fact.id, content="Dana lives in Porto")
        me.remember("The electricity bill is 500")
        for n in range(3):
            me.ingest(f"Ana: I work at Company{n}.\nBen: Dana moved to Town{n} with Carla.")
        me.extract()
        me.recall(DANA)
    return path


def flip(data, dice):
    for _ in range(dice.choice([1, 20, 200])):
        data[dice.randrange(100, len(data))] ^= 1 << dice.randrange(8)


def overwrite(data, dice):
    start = dice.randrange(PAGE, len(data) - 100)
    data[start : start + 100] = dice.randbytes(100)


def zero_page(data, dice):
    start = dice.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes(PAGE)


def truncate(data, dice):
    del data[dice.randrange(1, len(data)) :]


def flip_header(data, dice):
    data[dice.randrange(100)] ^= 0xFF


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("damage", [flip, overwrite, zero_page, truncate, flip_header])
def test_damaged_store_raises_only_errors_of_ours(sound, tmp_path, damage, seed):
    path = tmp_path / "memory.db"
    data = bytearray(sound.read_bytes())
    damage(data, random.Random(seed))
    path.write_bytes(data)
    raw = {}
    try:
        book = opened(path)
    except StoreCorrupt:
        return
    for name, read in READS.items():
        try:
            read(book.user("ana"))
        except CommonplaceError:
            pass
        except Exception as error:
            raw[name] = repr(error)
    book.close()
    assert raw == {}


@pytest.mark.parametrize("gone", ["-wal", "-shm"])
def test_store_without_its_wal_or_shm_opens_and_reads(sound, tmp_path, gone):
    copy = tmp_path / "memory.db"
    path = tmp_path / "open.db"
    shutil.copy(sound, path)
    with opened(path) as book:
        book.user("ana").remember("Something newer")
        for suffix in ("", "-wal", "-shm"):
            if suffix != gone:
                shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    with opened(copy) as book:
        for read in READS.values():
            read(book.user("ana"))


def findings(book):
    return {each.what: each for each in book.user("ana").doctor() if not each.ok}


def test_doctor_reports_a_lost_wal_until_the_loss_is_accepted(sound, tmp_path):
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    shutil.copy(sound, path)
    with opened(path) as book:
        for n in range(3):
            book.user("ana").remember(f"Something newer {n}")
        assert findings(book) == {}
        for suffix in ("", "-commits"):  # all but the log
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    for _ in range(2):
        with opened(copy) as book:
            book.user("ana").recall(DANA)
            assert "-wal" in findings(book)["commits"].detail
            assert "export" in findings(book)["commits"].remedy
    with opened(copy) as book:
        book.user("ana").tidy(reindex=True)
        assert findings(book) == {}


def test_truncated_store_error_says_what_to_do(sound, tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(sound.read_bytes()[: 20 * PAGE])
    with pytest.raises(StoreCorrupt) as refused:
        opened(path)
    assert "backup" in refused.value.remedy
    assert "doctor" not in refused.value.remedy


def test_extract_about_an_edge_without_its_node_says_that_the_store_is_damaged(tmp_path):
    path = tmp_path / "memory.db"
    with opened(path) as book:
        me = book.user("ana")
        me.remember("Dana lives in Haifa", kind="fact")
        me.ingest("Ana: I work at Acme.\nBen: Dana moved to Porto with Carla.")
        me.extract()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM nodes WHERE name NOT IN ('ana', 'Dana')")
    with opened(path) as book:
        me = book.user("ana")
        me.ingest("Ben: Dana lives in Oslo now.")
        with pytest.raises(StoreCorrupt, match="an edge ends at"):
            me.extract()
