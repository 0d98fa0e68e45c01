"""The benchmark of embedders says what the pairs say, and writes between its marks only."""

from __future__ import annotations

import pytest

from benchmarks.embedders import (
    BEGIN,
    END,
    calibration_table,
    reembed_table,
    sts_pairs,
    threshold_table,
    write_tables,
)
from benchmarks.fixtures import available_databases
from commonplace.language.embedders.calibration import CalibrationPair
from commonplace.language.embedders.hashing import HashingEmbedder

MODEL = HashingEmbedder()
PAIRS = [
    CalibrationPair(f"lamp number {n}", other, score)
    for n in range(20)
    for other, score in ((f"lamp number {n}!", 1.0), ("quiet rivers", 0.0), ("old lamp", 0.4))
]


def test_calibration_table_has_a_row_per_script_with_enough_pairs():
    (row,) = calibration_table([MODEL], PAIRS).rows
    assert row[:3] == ("hashing-256", "latin", 30)
    assert row[-1] == "seen"


def test_threshold_table_shows_the_mean_score_of_pairs_above_a_threshold():
    (row,) = threshold_table([MODEL], PAIRS).rows
    assert row[-1] == "1.00 (20)"


def test_reembed_table_has_rates_on_both_databases(tmp_path):
    with available_databases(tmp_path) as found:
        rows = reembed_table([MODEL], found, 30).rows
    assert [row[:3] for row in rows] == [
        ("hashing-256", "SQLite", 30),
        ("hashing-256", "PostgreSQL", 30),
    ]
    assert all(row[-1] > 0 for row in rows)


def test_sts_pairs_are_scaled_and_missing_files_are_reported(tmp_path, capsys):
    assert sts_pairs(tmp_path) == []
    assert "missing" in capsys.readouterr().err
    (tmp_path / "sts").mkdir()
    (tmp_path / "sts" / "stsb-en-dev.csv").write_text('"One, two",Three,2.5\n', encoding="utf-8")
    assert sts_pairs(tmp_path) == [CalibrationPair("One, two", "Three", pytest.approx(0.5))]


def test_embedders_page_is_rewritten_only_between_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_tables(page, [calibration_table([MODEL], PAIRS)])
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "hashing-256" in text
