"""The direction of imports, no cycles, and where SQL may stand."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import commonplace

SOURCE = Path(commonplace.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# A room imports only from rooms to its left. The verbs' rooms do not import each other.
LAYERS = (
    ("errors", "model"),
    ("language", "store", "settings"),
    ("engine",),
    ("bookkeeper",),
    ("desk",),
    ("graph",),
    ("remember", "recall", "sleep", "ingest"),
    ("book",),
    ("answers", "meanings"),
    ("operations",),
    ("bench",),
    ("surfaces",),
    ("aio",),
)
SHARED = {"errors", "model"}  # rooms of one layer that may see each other: the foundation
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
PACKAGE_ROOTS = {"__init__", "__main__"}


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{name.name}" for name in node.names}
    return {name for name in found if name.startswith("commonplace")}


def rooms_imported(path: Path) -> set[str]:
    inner = {name.split(".")[1] for name in imports_of(path) if name.count(".")}
    return inner & LAYER.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_its_left(path):
    room = room_of(path)
    if room in PACKAGE_ROOTS:
        return
    for other in rooms_imported(path) - {room}:
        allowed = LAYER[other] < LAYER[room] or {room, other} <= SHARED
        assert allowed, f"{room} must not import {other}"


def test_every_module_lives_in_a_known_room():
    assert {room_of(path) for path in MODULES} <= LAYER.keys() | PACKAGE_ROOTS


def test_no_cycles():
    names = {module_name(path): path for path in MODULES}
    graph = {
        name: {other for other in imports_of(path) if other in names and other != name}
        for name, path in names.items()
    }
    graph["commonplace"] = set()  # the package's own front, which everything sits behind
    done: set[str] = set()

    def visit(name, trail):
        assert name not in trail, " → ".join([*trail, name])
        if name not in done:
            for other in graph[name]:
                visit(other, [*trail, name])
            done.add(name)

    for name in graph:
        visit(name, [])


def test_only_the_book_chooses_adapters():
    adapters = {
        "commonplace.store.sqlite.store",
        "commonplace.store.postgres.store",
        "commonplace.language.models.hashing",
        "commonplace.language.models.minilm",
        "commonplace.language.models.openai",
        "commonplace.language.models.wordllama",
    }
    for path in MODULES:
        mine = module_name(path)
        chosen = imports_of(path) & adapters
        assert not chosen or mine.rsplit(".", 1)[0] in {a.rsplit(".", 1)[0] for a in adapters}, mine


def test_imports_stand_at_the_top():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
                assert not inner, f"{path}:{node.lineno} imports inside {node.name}"


SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\b", re.S)


def test_no_sql_outside_the_store():
    for path in MODULES:
        if room_of(path) == "store":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not SQL.search(node.value), f"{path}:{node.lineno}"


def test_no_statement_asks_the_database_for_the_time():
    forbidden = re.compile(
        r"\b(now\s*\(|current_timestamp|current_date|clock_timestamp|datetime\s*\(|strftime)", re.I
    )
    for path in SOURCE.rglob("*.sql"):
        statements = re.sub(r"--.*", "", path.read_text())
        assert not forbidden.search(statements), path


def test_public_names_are_pinned():
    assert sorted(commonplace.__all__) == [
        "Choice",
        "Commonplace",
        "CommonplaceError",
        "User",
        "__version__",
        "connect",
        "errors",
        "open",
    ]


def test_importing_the_package_loads_no_model_and_no_driver():
    loaded = _modules_after_import()
    for heavy in (
        "wordllama",
        "tokenizers",
        "onnxruntime",
        "psycopg",
        "rich",
        "typer",
        "fastapi",
        "uvicorn",
        "mcp",
    ):
        assert heavy not in loaded, f"import commonplace loads {heavy}"


def _modules_after_import() -> set[str]:
    script = "import sys, commonplace; print('\\n'.join(sys.modules))"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in told.stdout.split()}


# Whoever tidies, moves or erases all there is takes sources that have ended along.
OF_ALL_SOURCES = {
    "desk.py",
    "ingest/look_for.py",
    "recall/look_up.py",
    "recall/past.py",
    "remember/bring_in.py",
    "remember/bring_in_sources.py",
    "remember/erase.py",
    "sleep/tidy.py",
    "sleep/tidy_team.py",
}


def test_who_reads_sources_gets_them_from_the_desk_without_those_that_have_ended():
    asking = re.compile(r"store\.(sources|source_called|source_page)\(")
    found = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if room_of(path) != "store" and asking.search(path.read_text())
    }
    assert found == OF_ALL_SOURCES
