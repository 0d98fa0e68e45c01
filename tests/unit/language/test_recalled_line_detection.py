"""Lines that this memory gave out are known by their form."""

import pytest

from commonplace.engine.prompt_context.layers import LAYERS
from commonplace.language.observe.own_words import CONTEXT_HEADINGS, remove_recalled_lines

WORDS = frozenset({"tasks", "fact", "preferences"})


def test_context_headings_cover_every_context_layer():
    layers = {layer.heading.removeprefix("## ") for layer in LAYERS} - {"Memory updates"}
    assert layers <= set(CONTEXT_HEADINGS)


@pytest.mark.parametrize(
    "line",
    [
        "- [tasks] Renew the passport.",
        "[fact] Rosa lives in Lisbon.",
        "* [preferences] Tea over coffee.",
        "> - [Tasks] Renew the passport.",
        "- +created: [tasks] Renew the passport. (imp=2)",
        "- ⟲restored: Rosa lives in Lisbon.",
        "Memory updates since rev 41:",
        *(f"## {heading}" for heading in CONTEXT_HEADINGS),
    ],
)
def test_remove_recalled_lines_drops_recalled_lines_and_keeps_neighbours(line):
    assert remove_recalled_lines(f"Look:\n{line}\n\nIs that so?", WORDS).split() == [
        "Look:",
        "Is",
        "that",
        "so?",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "[fix] the door",
        "- [ ] buy milk",
        "- buy milk\n- [x] call Rosa",
        "I wrote [tasks] on the board.",
        "## My day\n- I love hiking.",
        "Memory updates are annoying.",
        "About the user: nothing.",
        "1. first\n2. second",
    ],
)
def test_remove_recalled_lines_keeps_the_users_own_lists_and_headings(said):
    assert remove_recalled_lines(said, WORDS) == said


def test_remove_recalled_lines_ends_a_block_at_plain_text():
    pasted = (
        "## About the user\n- one\n- two\n\n## Recent events\n- three\nThat is all wrong.\n- four"
    )
    assert remove_recalled_lines(pasted, WORDS) == "That is all wrong.\n- four"


def test_remove_recalled_lines_does_not_grow_hostile_text():
    """Hostile text: nothing here may grow faster than the text."""
    for piece in ("- [", "> ", "#", "[a", "- ", "\n", "Memory updates since rev "):
        assert len(remove_recalled_lines(piece * 6_000, WORDS)) <= len(piece) * 6_000


def test_remove_recalled_lines_drops_continuation_lines_up_to_a_blank_line():
    words = frozenset({"tasks"})
    pasted = "- [tasks] Pack\nI love tents\nI hate rain\n\nI am allergic to peanuts."
    assert remove_recalled_lines(pasted, words).split() == ["I", "am", "allergic", "to", "peanuts."]
    assert "I love tents" in remove_recalled_lines("- [fix] the door\nI love tents", words)
