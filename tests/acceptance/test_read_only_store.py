"""A file, or a folder, that may not be written: it is read; a change is refused with its code."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

import commonplace
from commonplace.errors import StoreReadOnly

NOBODY = 65534
DANA = "Where does Dana live?"


@contextmanager
def without_rights(path):
    """Root may write everything, so the test runs as somebody else."""
    folder = path.parent
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)


def opened(path, **settings):
    return commonplace.open(str(path), embedder="hashing", **settings)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # root's settings are not for others to read
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "store" / "memory.db"
    path.parent.mkdir()
    with opened(path) as book:
        me = book.user("ana")
        me.remember("Dana lives in Haifa", kind="fact")
        me.ingest("Ben: Dana works at Acme.")
        me.extract()
    return path


def test_read_only_store_answers_all_reads(path, caplog):
    with without_rights(path), opened(path, recall_log=True) as book:
        me = book.user("ana")
        assert me.recall(DANA).hits[0].text == "Dana lives in Haifa"
        assert [memory.content for memory in me.list().memories] == ["Dana lives in Haifa"]
        assert "Haifa" in me.context(DANA, thread="talk").text
        assert "Haifa" in str(me.query(DANA))
        assert "Haifa" in "".join(me.export())
        assert me.people().nodes
        me.changes()
        assert {finding.what: finding.ok for finding in me.doctor()}["integrity"]
    assert caplog.records == []


def test_read_only_store_refuses_changes_with_store_read_only(path):
    with without_rights(path), opened(path) as book:
        me = book.user("ana")
        id = me.list().memories[0].id
        for change in (
            lambda: me.remember("Something new"),
            lambda: me.forget(id),
            lambda: me.erase(id),
            lambda: me.observe("I work at Acme."),
            lambda: me.ingest("Ben: hello there."),
            lambda: me.tidy(),
        ):
            with pytest.raises(StoreReadOnly):
                change()
    with opened(path) as book:
        assert book.user("ana").remember("Something new").action == "stored"


def test_read_only_store_that_was_not_closed_is_read_with_its_log(path, tmp_path):
    copy = tmp_path / "copy" / "memory.db"
    copy.parent.mkdir()
    with opened(path) as book:
        book.user("ana").remember("Ben lives in Porto", kind="fact")
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    with without_rights(copy), opened(copy) as book:
        contents = {memory.content for memory in book.user("ana").list().memories}
    assert contents == {"Dana lives in Haifa", "Ben lives in Porto"}
    (copy.parent / "memory.db-shm").unlink()
    with without_rights(copy):
        with pytest.raises(StoreReadOnly) as refused:
            opened(copy)
        assert "Copy the file" in refused.value.remedy
