"""query and why on a terminal."""

from __future__ import annotations

import json

import pytest

from support import program


@pytest.fixture
def run(tmp_path):
    environment = {
        "COMMONPLACE_STORE": str(tmp_path / "memory.db"),
        "COMMONPLACE_EMBEDDER": "hashing",
        "COMMONPLACE_RECALL_LOG": "true",
    }

    def run_(*arguments: str):
        return program.run(list(arguments), environment=environment, folder=tmp_path)

    return run_


def test_cli_query_shows_changes_then_items(run):
    run("remember", "I need to renew the passport by June")
    told = run("query", "renew the passport", "--agent", "planner").stdout
    assert "Memory updates since rev 0:" in told
    assert "1. [tasks] I need to renew the passport by June" in told
    assert "1 item, " in told
    again = run("query", "renew the passport", "--agent", "planner").stdout
    assert "Memory updates" not in again
    empty = run("query", "quarterly dividend yields", "--agent", "planner").stdout
    assert "No relevant memory found." in empty


@pytest.mark.parametrize("verb", ["recall", "query"])
def test_cli_says_what_was_withheld_when_nothing_is_found(run, verb):
    run("remember", "I am allergic to peanuts", "--category", "profile")
    told = run(verb, "am I allergic to peanuts?", "--agent", "planner").stdout
    assert "No relevant memory found." in told
    assert "1 more item is in categories that this agent may not see: profile." in told


def test_cli_query_accepts_return_and_returns(run):
    run("remember", "--kind", "kv", "--metadata", "subject=bill", "--metadata", "value=500")
    for flag in ("--return", "--returns"):
        told = run("query", "bill", flag, "full").stdout
        assert "subject: bill" in told
        assert "kv · " in told


def test_cli_why_shows_question_hits_and_reasons(run):
    run("remember", "I need to renew the passport by June")
    run("query", "renew the passport", "--agent", "planner", "--thread", "monday")
    told = run("why", "monday", "1").stdout
    assert "monday, turn 1" in told
    assert "planner asked renew the passport" in told
    assert "1. [tasks] I need to renew the passport by June" in told
    assert "Recalled because" in told
    assert json.loads(run("why", "monday", "--json").stdout)["turn"] == 1
    run("recall", "quarterly dividend yields")
    assert "No results." in run("why").stdout


def test_cli_why_marks_forgotten_memories(run):
    run("remember", "I need to renew the passport by June")
    run("recall", "renew the passport")
    listed = json.loads(run("list", "--json").stdout)
    run("forget", listed["memories"][0]["id"])
    assert "(not remembered any more)" in run("why").stdout


def test_cli_why_of_an_unknown_turn_is_not_found(run):
    run("remember", "I need to renew the passport by June")
    ended = run("why", "monday", "9")
    assert ended.returncode == 1
    assert "not_found" in ended.stderr
