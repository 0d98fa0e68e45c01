"""The benchmark of a night: a small memory, measured task by task."""

from benchmarks.fixtures import SqliteFolder
from benchmarks.speed import night
from commonplace.model.sleep import SleepTask


def test_night_benchmark_measures_every_task_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(night, "LOADS", 2)
    steps = []
    sizes = [(60, 2), (120, 4)]
    (table,) = night.night_tables([SqliteFolder(tmp_path)], sizes, steps.append)
    assert len(steps) == 2
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert list(rows) == [*(task.value for task in SleepTask), "all"]
    assert rows["all"]["seconds"] > 0
    assert rows["expiry"]["items"] > 0
    assert sum(rows[task.value]["share %"] for task in SleepTask) > 99
