"""The page about categories says what the code does."""

import re
from importlib import resources
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/categories.md").read_text()


def test_categories_page_shows_the_shipped_file():
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    file = resources.files("commonplace.api").joinpath("categories.yaml")
    assert shown == file.read_text("utf-8")


def test_categories_page_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(example, "docs/categories.md", "exec"), {})


def test_categories_page_named_tests_exist():
    for named in re.findall(r"`(tests/[\w/.]+)`", PAGE):
        assert (Path(__file__).parents[2] / named).exists()
