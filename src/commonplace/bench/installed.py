"""What the base install weighs and how long `import commonplace` takes."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from commonplace.bench.report import Table

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_IMPORT = "import time; s = time.perf_counter(); import commonplace; print(time.perf_counter() - s)"


def measure(imports: int) -> Table:
    table = Table("install", "Install and import", ("what", "value", "unit"))
    base = _closure(["commonplace"])
    without = _closure(["commonplace"], leaving_out="wordllama")
    brought = base.keys() - without.keys()
    table.add("base install", _megabytes(base), "MB")
    table.add("of it numpy", _megabytes({"numpy": base["numpy"]}), "MB")
    table.add("of it wordllama itself", _megabytes({"wordllama": base["wordllama"]}), "MB")
    table.add(
        "of it what only wordllama brings, itself included",
        _megabytes({name: base[name] for name in brought}),
        "MB",
    )
    table.add("import commonplace", statistics.median(_import_ms() for _ in range(imports)), "ms")
    table.notes.append(f"Base install: {', '.join(sorted(base))}.")
    table.notes.append(f"Import: fresh processes, median of {imports}.")
    return table


def _closure(roots: list[str], leaving_out: str = "") -> dict[str, Distribution]:
    """The distributions that a plain install brings, from what is installed here."""
    found: dict[str, Distribution] = {}
    waiting = list(roots)
    while waiting:
        name = _canonical(waiting.pop())
        if name in found or name == leaving_out:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # needed only on other systems
        plain = (r for r in found[name].requires or [] if "extra ==" not in r)
        waiting += [match[0] for r in plain if (match := _NAME.match(r))]
    return found


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _megabytes(distributions: dict[str, Distribution]) -> float:
    files = (
        Path(str(file.locate())) for each in distributions.values() for file in each.files or []
    )
    sizes = (path.stat().st_size for path in files if path.is_file() and path.suffix != ".pyc")
    return sum(sizes) / 1e6


def _import_ms() -> float:
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True, timeout=120
    )
    return float(ran.stdout) * 1000
