"""The readable table of pairs of statements, with what a reader would say of each."""

from pathlib import Path

PAIRS = Path(__file__).with_suffix(".txt")


def table() -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    wanted = ""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            wanted = line[1 : line.index("]")]
        elif line and not line.startswith("#"):
            language, old, new = line.split(" | ")
            rows.append((wanted, language, old, new))
    return rows
