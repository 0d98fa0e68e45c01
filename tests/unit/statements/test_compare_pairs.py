"""A readable table of pairs in ten languages, and what comparing them comes to."""

from pathlib import Path

import pytest

from commonplace.language.statements.compare import Comparison, Verdict, compare

ALIKE_ENOUGH = 0.6
PAIRS = Path(__file__).with_name("pairs.txt")

ACCEPTED = {
    "changed": {"changed"},
    "both": {"both", "apart"},
    "apart": {"apart", "both"},
    "same": {"same", "equal"},
    "more": {"more"},
    "unlike": {"changed", "masked", "both", "apart"},
}


def table() -> list[tuple[str, str, str, str]]:
    rows, wanted = [], ""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            wanted = line[1 : line.index("]")]
        elif line and not line.startswith("#"):
            language, old, new = line.split(" | ")
            rows.append((wanted, language, old, new))
    return rows


def verdict(found: Comparison) -> str:
    if found.verdict is Verdict.MASKED and found.words_alike >= ALIKE_ENOUGH:
        return "changed"
    return found.verdict.value


@pytest.mark.parametrize(("wanted", "language", "old", "new"), table())
def test_what_a_reader_would_say_of_two_statements(wanted, language, old, new):
    found = compare(old, new)
    assert verdict(found) in ACCEPTED[wanted], found


@pytest.mark.parametrize(
    ("old", "new"), [(old, new) for wanted, _, old, new in table() if wanted == "same"]
)
def test_the_same_both_ways_round(old, new):
    assert verdict(compare(new, old)) in ACCEPTED["same"]
