"""What the page on embedders tells to type works, and its tables are of all embedders."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.embedders import BEGIN, EMBEDDERS, END
from commonplace.api import make_embedder
from commonplace.language.embedders.onnx_folder import OnnxSettings, parse_settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/embedders.md").read_text(encoding="utf-8")


def test_embedders_page_commands_run_in_order(tmp_path, monkeypatch):
    blocks = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    lines = [line for block in blocks for line in block.strip().splitlines()]
    assert {line.split()[1] for line in lines} >= {"doctor", "calibrate", "reembed"}
    monkeypatch.setenv("COMMONPLACE_STORE", str(tmp_path / "page.db"))
    for line in lines:
        command = line.replace("commonplace", f'"{sys.executable}" -m commonplace', 1)
        ran = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=ROOT)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_embedders_page_variables_are_settings():
    settings = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    named = set(re.findall(r"COMMONPLACE_\w+(?==)", PAGE))
    assert named
    assert all(f"`{name}`" in settings for name in named)


def test_embedders_page_tables_have_rows_for_every_embedder():
    tables = PAGE.partition(BEGIN)[2].partition(END)[0]
    for name in EMBEDDERS:
        assert tables.count(f"| {make_embedder(name).name} |") >= 4, name


def test_embedders_page_example_of_a_folder_is_valid_and_its_fields_are_all():
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    assert parse_settings(json.loads(example)).query_prefix == "query: "
    rows = re.search(r"\| field \| default .*?\n\n", PAGE, re.S).group()
    assert set(re.findall(r"`(\w+)`", rows)) >= set(OnnxSettings.__dataclass_fields__)


def test_embedders_page_python_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    found: dict[str, Any] = {}
    exec(block, found)
    assert found["cosines"].argmax() == 0
