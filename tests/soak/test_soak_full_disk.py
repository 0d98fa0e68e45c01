"""PostgreSQL on a disk that is really full."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.errors import StoreFull
from support.own_postgres import OwnServer
from support.whole import assert_whole, open_plainly

pytestmark = pytest.mark.soak

MEGABYTES = 120
ROOM = 12 << 20


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    options = f"size={MEGABYTES}m,mode=0755"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True, text=True
    )
    assert mounted.returncode == 0, f"this test mounts a small disk, as root: {mounted.stderr}"
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_full_disk_on_postgresql_is_reported_and_loses_no_acknowledged_write(small_disk, capsys):
    with OwnServer(small_disk / "pg") as server:
        server.put_log_elsewhere()
        url = server.database("commonplace")
        open_plainly(url).close()
        ballast = leave_free(small_disk, ROOM)
        acknowledged = {}
        with open_plainly(url) as book:
            me = book.user("ana")
            with pytest.raises(StoreFull) as refused:
                fill(me, acknowledged)
            assert "Free disk space" in refused.value.remedy
            assert me.recall("paragraph").hits
            ballast.unlink()
            kept = me.remember("There is room again")
            acknowledged[kept.id] = kept.memory.content
        stored = {memory.id: memory.content for memory in assert_whole(url, "ana").memories}
    assert stored == acknowledged
    with capsys.disabled():
        print(f"\n{len(acknowledged)} writes acknowledged on {MEGABYTES} MB, none lost")


def leave_free(disk, room):
    """Fill the disk but for a little; returns the file that can go again."""
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * (shutil.disk_usage(disk).free - room))
    return ballast


def fill(me, acknowledged):
    chance = random.Random(3)
    for number in range(10_000):
        words = " ".join(f"{chance.getrandbits(64):016x}" for _ in range(1500))  # not compressible
        kept = me.remember(f"Paragraph {number}: {words}")
        acknowledged[kept.id] = kept.memory.content
