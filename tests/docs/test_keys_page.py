"""The page about keys says what the code does."""

import re
import shlex
from inspect import signature
from pathlib import Path

from commonplace import User
from commonplace.api.account import MAX_GRACE
from commonplace.api.commonplace import MAX_SERVICE_USERS
from commonplace.engine.teams.keys import MAX_VALID_KEYS
from commonplace.model.access.key import Key, build_token
from support import program
from support.clock import START

PAGE = (Path(__file__).parents[2] / "docs/keys.md").read_text()


def test_keys_page_example_runs():
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "docs/keys.md", "exec"), {})


def test_keys_page_commands_run(tmp_path):
    environment = {"COMMONPLACE_STORE": str(tmp_path / "keys.db"), "HOME": str(tmp_path)}
    environment["COMMONPLACE_EMBEDDER"] = "hashing"
    blocks = re.findall(r"```\n(commonplace .*?)```", PAGE, re.S)
    lines = [line for block in blocks for line in block.strip().splitlines()]
    assert len(lines) == 8
    for line in lines:
        ran = program.run(shlex.split(line)[1:], environment=environment)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"


def test_keys_page_has_a_row_per_right():
    rows = re.findall(r"^\| ([a-z_]+) \|", PAGE, re.M)
    parameters = set(signature(User.keys_create).parameters)
    assert set(rows[1:]) == parameters - {"self", "label", "ttl_days", "expires_at"}


def test_keys_page_numbers_match_the_code():
    assert f"At most {MAX_VALID_KEYS:,} keys" in PAGE
    assert f"names at most {MAX_SERVICE_USERS:,} users" in PAGE
    assert f"at most {MAX_GRACE}, a week" in PAGE
    assert MAX_GRACE == 7 * 24 * 60


def test_keys_page_token_pattern_matches_tokens():
    (pattern,) = re.findall(r"`(cpk_\[.*?)`", PAGE)
    for user in ("ana", "שרה", None):
        key = Key(id="5f0e8a1c-1111", user_id=user, label="laptop", created_at=START)
        assert re.fullmatch(pattern, build_token(key, "s" * 43))
