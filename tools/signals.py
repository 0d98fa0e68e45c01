"""The table of signals in `docs/recall.md`, from the weights themselves."""

from __future__ import annotations

from commonplace.engine.search.rank import FLOORS, WEIGHTS
from commonplace.surfaces.cli.computed import SCORE_PARTS

BEGIN = "<!-- signals: made by `make docs` from the code; do not edit -->"
END = "<!-- end of signals -->"


def signals() -> str:
    lines = [
        "| part | drawn as | at most | what it measures |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {part.label} | {WEIGHTS.of(name):+.3f} | {part.meaning} |"
        for name, part in SCORE_PARTS.items()
    ]
    return "\n".join(lines)


def floors() -> str:
    return (
        f"A hit is weak if its evidence (the sum of its similarity and of the known share of the "
        f"question) is below {FLOORS.evidence:g}, unless its similarity is at least "
        f"{FLOORS.similarity:g}, it contains every word, or the query names it. A hit with less "
        f"than {FLOORS.of_the_best:g} of the best evidence is left out."
    )


def with_signals(page: str) -> str:
    """The page with the table from the code."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("The page has no markers for the table of signals.")
    return f"{before}{BEGIN}\n\n{signals()}\n\n{floors()}\n\n{END}{after}"
