"""`python -m benchmarks extract`: the open half is for looking at, the sealed one is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.judgement.extraction import main
from benchmarks.judgement.extraction_score import (
    MORE,
    SETS,
    count_edges,
    count_nodes,
    extract_all,
    read_conversations,
)
from benchmarks.judgement.extraction_tables import LEAST_EDGE_PRECISION, LEAST_NODE_PRECISION
from benchmarks.judgement.labels import OPEN, SEALED
from commonplace.language.extract.extract import extract

LABELLED = Path(__file__).parents[2] / "labelled"
TALK = {
    "id": "en-chat-90",
    "language": "en",
    "source_type": "chat",
    "date": "2026-05-20",
    "owner": {"name": "Dana Reed"},
    "turns": [{"speaker": "Dana Reed", "role": "user", "text": "Hello."}],
    "nodes": [{"type": "Person", "subtype": "", "names": ["Xanthippe Quill"]}],
    "edges": [{"a": "I", "b": "Xanthippe Quill", "types": ["friend"]}],
}


@pytest.fixture
def labelled(tmp_path):
    for half in SETS:
        (tmp_path / f"conversations-{half}.jsonl").write_text(json.dumps(TALK), encoding="utf-8")
    return tmp_path


def run(capsys, *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def test_extract_command_shows_mistakes_of_the_open_half(labelled, capsys):
    shown = run(capsys, "--half", OPEN, "--show", "--data", str(labelled), "--only=conversations")
    assert "missing node: Person  'Xanthippe Quill'" in shown
    assert "missing edge: I > Xanthippe Quill: friend" in shown


def test_extract_command_shows_only_totals_of_the_sealed_half(labelled, capsys):
    with pytest.raises(SystemExit, match="sealed half shows no items"):
        main(["--half", SEALED, "--show"])
    told = run(capsys, "--show", "--data", str(labelled), "--only=conversations")
    told = told.partition("sealed half, %")[2].partition("written later, %")[0]
    assert "node recall" in told
    assert "by type" not in told
    assert "Xanthippe" not in told


def test_extract_command_measures_turns_per_second(labelled, capsys):
    assert "turns/s" in run(capsys, "--data", str(labelled), "--only=speed")


def test_extract_command_compares_name_recognition_with_capitals(tmp_path, capsys):
    text = "we\tO\nmet\tO\nAnna\tB-person\nBerg\tI-person\n"
    (tmp_path / "emerging.dev.conll").write_text(text, encoding="utf-8")
    (tmp_path / "nemo-hebrew-dev.bmes").write_text("דן S-PER\n", encoding="utf-8")
    told = run(capsys, "--marked", str(tmp_path), "--only=names")
    assert "capitals, types given" in told
    assert "F1 behind capitals" in told


def test_extract_command_reports_names_not_measured_without_marked_text(tmp_path, capsys):
    missing = tmp_path / "nowhere"
    told = run(capsys, "--marked", str(missing), "--only=names")
    assert "not measured" in told


@pytest.mark.parametrize("part", [OPEN, MORE])
def test_extract_precision_meets_the_targets_on_open_sets(part):
    readings = extract_all(read_conversations(LABELLED, part), extract)
    assert count_nodes(readings).precision >= LEAST_NODE_PRECISION
    assert count_edges(readings).precision >= LEAST_EDGE_PRECISION
