"""Jobs as an operator sees them: listed, retried, done by a worker, cancelled."""

from __future__ import annotations

import json

import pytest

import commonplace
from commonplace.surfaces.cli import main as command_line
from support.embedders import Switchable


@pytest.fixture
def url(tmp_path):
    """A store in which a vector is owed."""
    path = str(tmp_path / "memory.db")
    embedder = Switchable()
    embedder.down = True
    with commonplace.open(path, embedder=embedder, worker="off") as book:
        book.user("ana").remember("The garden gate needs a new lock")
    return path


@pytest.fixture
def typed(url, monkeypatch, capsys):
    def run(*words):
        options = ["--store", url, "--user", "ana", "--embedder", "hashing"]
        monkeypatch.setattr("sys.argv", ["commonplace", *words, *options])
        monkeypatch.setenv("COMMONPLACE_WORKER", "off")
        monkeypatch.setenv("COMMONPLACE_TIDY_ON_OPEN", "false")
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        assert ended.value.code in (None, 0), printed.err
        return printed.out

    return run


def test_cli_jobs_are_listed_retried_and_done(typed):
    shown = typed("jobs")
    assert shown.startswith("queued embed  tries 0 of ")
    assert "  next 20" in shown
    (job,) = json.loads(typed("jobs", "--json"))
    assert f"id {job['id']}" in shown
    assert typed("worker", "--once") == "done 0, failed 0\n"
    assert "queued embed" in typed("jobs", "retry", job["id"])
    assert typed("worker", "--once") == "done 1, failed 0\n"
    assert typed("jobs") == "No jobs.\n"


def test_cli_jobs_cancel_removes_the_job(typed):
    (job,) = json.loads(typed("jobs", "--json"))
    assert json.loads(typed("jobs", "cancel", job["id"], "--json"))["id"] == job["id"]
    assert typed("jobs", "--state", "queued") == "No jobs.\n"


def test_cli_worker_is_refused_to_agents(url, monkeypatch, capsys):
    words = ["worker", "--once", "--store", url, "--embedder", "hashing", "--agent", "helper"]
    monkeypatch.setattr("sys.argv", ["commonplace", *words])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("not_allowed")
