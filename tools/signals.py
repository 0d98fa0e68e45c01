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
        f"An answer needs evidence of {FLOORS.evidence:g} (the sum of the similarity and the known "
        f"share of the question), or of {FLOORS.evidence_by_words:g} if similarity is unknown. A "
        f"memory is relevant by itself if its similarity is at least {FLOORS.similarity:g}, if it "
        "contains every word, or if the query names it."
    )


def with_signals(page: str) -> str:
    """The page with the table from the code."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("The page has no markers for the table of signals.")
    return f"{before}{BEGIN}\n\n{signals()}\n\n{floors()}\n\n{END}{after}"
