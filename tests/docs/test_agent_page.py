"""The agent of the page is run as a reader would run it, and says what the page says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/agent.md").read_text()
(CODE,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
((TYPED, PRINTED),) = re.findall(r"```\n\$ (python agent.py .*?)\n(.*?)```", PAGE, re.S)


def test_agent_page_program_prints_the_shown_output(tmp_path):
    (tmp_path / "agent.py").write_text(CODE, encoding="utf-8")
    words = [sys.executable, "-W", "error", *shlex.split(TYPED)[1:]]
    ran = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert (ran.stderr, ran.stdout) == ("", PRINTED)


def test_agent_page_program_has_at_most_30_lines():
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 30
