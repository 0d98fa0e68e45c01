"""The table of signals in `docs/recall.md`, from the weights themselves."""

from __future__ import annotations

from commonplace.engine.search.rank import FLOORS, WEIGHTS
from commonplace.surfaces.cli.computed import SCORE_PARTS

BEGIN = "<!-- signals: made by `make docs` from the code; do not edit -->"
END = "<!-- end of signals -->"


def signals() -> str:
    lines = [
        "| part | drawn as | at most | what it says |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {part.label} | {WEIGHTS.of(name):+.3f} | {part.meaning} |"
        for name, part in SCORE_PARTS.items()
    ]
    return "\n".join(lines)


def floors() -> str:
    return (
        f"An answer needs evidence of {FLOORS.evidence:g} (similarity and the share of the "
        f"question that is known, added up), or of {FLOORS.evidence_by_words:g} where similarity "
        f"is unknown. A memory whose similarity is {FLOORS.similarity:g}, that holds every word, "
        "or that is called by its name passes by itself."
    )


def with_signals(page: str) -> str:
    """The page with its table as the code has it."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("the page has no place for the table of signals")
    return f"{before}{BEGIN}\n\n{signals()}\n\n{floors()}\n\n{END}{after}"
