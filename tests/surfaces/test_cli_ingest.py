"""`commonplace ingest`: files, several of them, what is piped in; and what is refused."""

from __future__ import annotations

import json
from io import BytesIO, TextIOWrapper

import pytest

import commonplace
from commonplace.surfaces.cli import main as command_line
from commonplace.surfaces.cli.progress import IngestedFiles, still_waits

TALK = "Noa: Shall we meet on Sunday?\nTal: Sunday is fine, at the harbour.\nNoa: Good, at nine.\n"


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Types a command; gives its exit code, what it printed and what it complained of."""
    store = str(tmp_path / "memory.db")
    monkeypatch.setenv("COMMONPLACE_TIDY_ON_OPEN", "false")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words, piped=b"", **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(piped)))
        options = ["--store", store, "--user", "ana", "--embedder", "hashing"]
        monkeypatch.setattr("sys.argv", ["commonplace", *map(str, words), *options])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "harbour.txt"
    path.write_text(TALK)
    return path


def test_cli_ingest_of_a_file_makes_recallable_passages(typed, talk):
    code, told, _ = typed("ingest", talk, "--title", "The harbour", "--participant", "Omer")
    assert code == 0
    assert "✓ ingested The harbour" in told
    assert "meeting · Omer, Noa, Tal · 3 passages" in told
    _, told, _ = typed("recall", "harbour Sunday", "--explain")
    assert "Tal: Sunday is fine, at the harbour." in told
    assert "words  " in told
    assert "Recalled because" in told
    _, told, _ = typed("sources")
    assert "[meeting] The harbour" in told
    _, told, _ = typed("show", f"file:{talk}")
    assert "Noa: Good, at nine." in told
    assert "✓ already stored" in typed("ingest", talk)[1]


def test_cli_ingest_reads_standard_input(typed):
    code, told, _ = typed("ingest", "-", "--json", piped=TALK.encode())
    assert code == 0
    assert json.loads(told)["source"]["passages"] == 3


def test_cli_ingest_of_a_piped_chat_keeps_message_times(typed):
    chat = b"[04/02/2026, 19:04:02] Dana: We moved.\n[05/02/2026, 08:00:00] Ana: Where to?\n"
    _, told, _ = typed("ingest", "-", "--json", piped=chat)
    assert json.loads(told)["source"]["started_at"].startswith("2026-02-04T19:04:02")


def test_cli_ingest_of_several_files_continues_after_a_bad_one(typed, talk, tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "one"}\n{"text": \n')
    missing, letter = tmp_path / "missing.txt", tmp_path / "letter.md"
    letter.write_text("# Letter\n\nThe rent goes up in May.")
    code, told, _ = typed("ingest", talk, broken, missing, letter, "--json")
    answer = json.loads(told)
    assert code == 1
    assert [each["source"]["passages"] for each in answer["ingested"]] == [3, 1]
    assert [each["file"] for each in answer["refused"]] == [str(broken), str(missing)]
    assert "line 2" in answer["refused"][0]["message"].lower()
    code, told, _ = typed("ingest", talk, missing)
    assert code == 1
    assert "✓ already stored" in told
    assert f"✗ {missing}: " in told


def test_cli_ingest_joins_several_files_only_with_append(typed, talk, tmp_path):
    other = tmp_path / "later.txt"
    other.write_text(TALK.replace("Sunday", "Monday"))
    code, _, told = typed("ingest", talk, other, "--external-id", "talks")
    assert code == 1
    assert "--append" in told
    assert typed("ingest", talk, other, "--external-id", "talks", "--append")[0] == 0
    (source,) = json.loads(typed("sources", "--json")[1])["sources"]
    assert (source["parts"], source["passages"]) == (2, 6)


def test_cli_ingest_refuses_a_missing_path_and_a_folder(typed, tmp_path):
    for path in ("no such file", tmp_path / "missing.eml"):
        code, _, told = typed("ingest", path)
        assert code == 1
        assert told.startswith("invalid_input: ")
    code, _, told = typed("ingest", tmp_path)
    assert code == 1
    assert "is a folder" in told
    assert json.loads(typed("sources", "--json")[1])["sources"] == []


def test_cli_ingest_names_the_broken_line(typed):
    code, _, told = typed("ingest", "-", piped=b'{"text": "one"}\n{"text": "two"}\n{"text": \n')
    assert code == 1
    assert "line 3" in told.lower()


def test_cli_ingest_no_wait_leaves_processing_to_a_worker(typed, talk):
    """Also where a worker runs in the process by default: the command would wait for it."""
    code, told, _ = typed("ingest", talk, "--no-wait")
    assert code == 0
    assert "Waiting to be processed" in told
    assert "queued process" in typed("jobs", COMMONPLACE_WORKER="off")[1]
    assert typed("worker", "--once")[1].startswith("done 1")
    assert "harbour" in typed("recall", "harbour", "--source", "only")[1]


def test_cli_ingest_does_not_revive_a_forgotten_source(typed, talk):
    typed("ingest", talk)
    assert typed("forget", f"file:{talk}")[0] == 0
    code, told, _ = typed("ingest", talk)
    assert code == 0
    assert "it was forgotten" in told
    assert "restored" in typed("restore", f"file:{talk}")[1]


def test_cli_ingest_still_waits_only_for_an_unprocessed_source_with_wait():
    """Who did not wait asked for nothing else."""
    with commonplace.open(":memory:", embedder="hashing", worker="off") as book:
        raw = book.user("ana").ingest(TALK, wait=False)
        processed = book.user("dan").ingest(TALK)
    assert still_waits(raw, {})
    assert still_waits(IngestedFiles((processed, raw), ()), {})
    assert not still_waits(raw, {"wait": False})
    assert not still_waits(processed, {})
