"""The page about teams says what the code does."""

import re
import shlex
from pathlib import Path

from commonplace.model.access.team import MAX_MEMBERS, MAX_TEAMS, TeamRole
from support import program

PAGE = (Path(__file__).parents[2] / "docs/teams.md").read_text()


def test_teams_page_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/teams.md", "exec"), {})


def test_teams_page_commands_run(tmp_path):
    (tmp_path / "minutes.txt").write_text("The supplier moves the rollout to the ninth of May.")
    environment = {"COMMONPLACE_STORE": str(tmp_path / "teams.db"), "HOME": str(tmp_path)}
    environment |= {"COMMONPLACE_EMBEDDER": "hashing", "COMMONPLACE_USER": "ana"}
    (block,) = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    for line in block.strip().splitlines():
        words = shlex.split(line.replace("minutes.txt", str(tmp_path / "minutes.txt")))
        ran = program.run(words[1:], environment=environment)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"
    assert "dan" in ran.stdout


def test_teams_page_numbers_and_roles_match_the_code():
    assert f"at most {MAX_TEAMS} teams" in PAGE
    assert f"at most {MAX_MEMBERS:,} people" in PAGE
    (header,) = re.findall(r"^\| \| (.*) \|$", PAGE, re.M)
    assert header.split(" | ") == [str(role) for role in reversed(TeamRole)]
