"""The page about contexts says what the code does."""

import re
from pathlib import Path

from commonplace.engine.prompt_context.budget import STABLE_SHARE
from commonplace.engine.prompt_context.layers import LAYER_BY_NAME, LAYERS, LayerName
from commonplace.engine.prompt_context.whole_context import HEADING, MAX_NOTES
from commonplace.engine.prompt_context.wording import LONG_TEXT

PAGE = (Path(__file__).parents[2] / "docs/context.md").read_text()


def test_context_page_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "docs/context.md", "exec"), {})
    assert "## Recalled for this question" in capsys.readouterr().out


def test_context_page_table_lists_layers_in_order():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (\d*) ?\| (.+) \|$", PAGE, re.M)
    assert rows == [
        (str(layer.name), layer.heading, str(layer.most or ""), layer.description)
        for layer in LAYERS
    ]


def test_context_page_diagram_lists_layers_in_order():
    chains = re.findall(r"^    (\w+(?: --> \w+)+)$", PAGE, re.M)
    drawn = [chain.split(" --> ") for chain in chains]
    assert drawn == [
        [str(layer.name) for layer in LAYERS if layer.stable is stable] for stable in (True, False)
    ]


def test_context_page_numbers_match_the_code():
    assert f"at most {STABLE_SHARE:.0%}".replace("%", " %") in PAGE
    assert f"{LAYER_BY_NAME[LayerName.RECALLED].share:.0%}".replace("%", " %") in PAGE
    assert f"more than {LONG_TEXT} characters" in PAGE
    assert f"`{HEADING}`, and the {MAX_NOTES} newest" in PAGE
