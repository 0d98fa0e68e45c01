"""A full disk: a clear error, nothing lost, and it goes on when there is room again."""

from __future__ import annotations

import pytest

from support.children import write_until_full
from support.processes import Child
from support.whole import assert_whole

USER = "ana"


@pytest.mark.parametrize("kilobytes", [800, 1200, 1900])  # an empty store has 590
def test_full_disk_raises_store_full_and_keeps_acknowledged_writes(tmp_path, kilobytes):
    url = str(tmp_path / "memory.db")
    with Child(write_until_full, url, USER, kilobytes << 10) as child:
        heard = child.rest()
        assert child.exit_code() == 0
    *acknowledged, refusal, afterwards = heard
    assert refusal["code"] == "store_full"
    assert "disk space" in refusal["remedy"]
    assert acknowledged
    stored = {memory.id: memory.content for memory in assert_whole(url, USER).memories}
    assert stored == dict([*acknowledged, afterwards])
