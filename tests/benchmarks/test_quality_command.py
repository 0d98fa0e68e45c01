"""`python -m benchmarks quality`, run from a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks.quality.command import main, run_command
from benchmarks.quality.report import BEGIN, END, kept_section, tables, write
from benchmarks.quality.run import QualityResults
from commonplace.errors import InvalidInput, NotFound
from support import quality_sets

RESULTS = QualityResults(
    sets={
        "beam": {
            "commonplace": {"all": {"R@5": 61.25, "tokens": 500.0}, "other": {"R@5": 60.0}},
            "bm25": {"all": {"R@5": 40.0}, "other": {"R@5": 41.0}},
        }
    },
    sizes={"beam": "1 users"},
    remarks={"beam": ("3 ids were dropped",)},
)


@pytest.fixture
def data(tmp_path):
    quality_sets.write_precision(tmp_path / "data")
    return tmp_path / "data"


def run_program(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "quality", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=60,
    )


def test_quality_command_json_has_sets_methods_categories_and_metrics(data):
    ran = run_program("--json", "--embedder", "hashing", COMMONPLACE_BENCH_DATA=str(data))
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert set(told) == {"sets"}
    assert set(told["sets"]) == {"precision"}
    assert set(told["sets"]["precision"]) == {"commonplace", "bm25", "dense"}
    everything = told["sets"]["precision"]["commonplace"]["all"]
    names = {"precision", "recall", "active", "structural", "empty", "leaks", "superseded", "drift"}
    assert set(everything) == names
    assert everything["leaks"] == everything["superseded"] == 0


def test_quality_command_reports_missing_data(tmp_path):
    ran = run_program("--json", "--data", str(tmp_path / "nowhere"))
    assert ran.returncode == 1
    assert "COMMONPLACE_BENCH_DATA" in ran.stderr


def test_quality_main_exits_when_data_is_missing(tmp_path, capsys):
    with pytest.raises(SystemExit, match="not at"):
        main(["--data", str(tmp_path / "nowhere")])


def test_quality_command_names_a_missing_or_unknown_set(data):
    with pytest.raises(NotFound, match="has no files of beam"):
        run_command(data, ["precision", "beam"])
    with pytest.raises(NotFound, match="any set"):
        run_command(data.parent, [])
    with pytest.raises(InvalidInput, match="no set 'sonnets'"):
        run_command(data, ["sonnets"])


def test_quality_tables_show_categories_methods_and_remarks():
    (table,) = tables(RESULTS, "hashing-256")
    assert table.title == "beam, with hashing-256: 1 users"
    assert [row[:3] for row in table.rows] == [
        ("all", "commonplace", 61.2),
        ("all", "bm25", 40.0),
        ("other", "commonplace", 60.0),
        ("other", "bm25", 41.0),
    ]
    assert table.notes == ["3 ids were dropped."]


def test_quality_page_keeps_text_outside_the_section(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text("# Benchmarks\n\nFast.\n", encoding="utf-8")
    write(page, [(RESULTS, "hashing-256")], {"Python": "3"})
    once = page.read_text(encoding="utf-8")
    write(page, [(RESULTS, "hashing-256")], {"Python": "3"})
    assert page.read_text(encoding="utf-8") == once
    assert once.startswith("# Benchmarks\n\nFast.\n")
    assert once.count(BEGIN) == once.count(END) == 1
    assert "| all | bm25 | 40 |" in once
    assert once.endswith(kept_section(page))
    assert kept_section(tmp_path / "another.md") == ""
    assert "limits of the quality numbers" in once.casefold()
