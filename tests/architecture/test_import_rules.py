"""The declared direction of imports, no cycles, the size of folders, and where SQL may stand."""

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import commonplace

SOURCE = Path(commonplace.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_FILES = 15  # in one folder

# A room imports from rooms of earlier lines, and from itself; rooms of one line do not see each
# other. A room is a folder, or a module of the package's or the engine's root.
DIRECTION = (
    ("lazy",),
    ("errors", "model"),
    ("settings", "language.text", "language.http", "store"),
    ("language.fields", "language.safety", "language.embedders", "language.llm"),
    ("language.compare", "language.query", "language.observe"),
    ("language.extract",),
    ("language.grounding",),
    ("engine.access_log", "engine.follow_up_jobs"),
    ("engine.context",),
    ("engine.access", "engine.indexing", "engine.transaction", "engine.llm"),
    ("engine.categories", "engine.idempotency", "engine.prompt_injection", "engine.understanding"),
    ("engine.composition",),
    ("engine.memory_relation",),
    ("engine.provenance",),
    ("engine.profile",),
    ("engine.memories",),
    ("engine.sources",),
    ("engine.graph",),
    ("engine.history",),
    ("engine.graph_search",),
    ("engine.search",),
    ("engine.prompt_context",),
    ("engine.teams", "engine.conversation"),
    ("engine.reading",),
    ("engine.removal",),
    ("engine.transfer",),
    ("engine.maintenance",),
    ("api",),
    ("operations",),
    ("surfaces",),
    ("aio",),
)
SHARED = {"errors", "model"}  # the foundation: these two may see each other
RANK = {room: number for number, rooms in enumerate(DIRECTION) for room in rooms}
PACKAGE_ROOTS = {"commonplace", "commonplace.__main__"}
# Packages whose own module is a docstring, or hands out what is inside.
FOLDERS = {"language", "engine"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    inner = module.split(".")[1:]
    return ".".join(inner[:2]) if inner[0] in FOLDERS else inner[0]


NAMES = {module_name(path): path for path in MODULES}


def imports_of(path: Path) -> set[str]:
    """Modules of the package that are imported, by statements and by texts that name one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A package's name alone is where a data file is looked for.
            is_module = node.value in NAMES and NAMES[node.value].name != "__init__.py"
            found |= {node.value} if is_module else set()
        elif isinstance(node, ast.Call) and is_import_by_text(node):
            found |= {each.value for each in node.args if isinstance(each, ast.Constant)}
    return {name for name in found if name in NAMES}


def is_import_by_text(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith(("import_module", "__import__"))


def test_imports_by_text_name_their_module():
    """What `imports_of` cannot see: a module whose name is put together as the program runs."""
    unseen = [
        module_name(path)
        for path in MODULES
        if module_name(path) != "commonplace.lazy"  # names of import statements, seen there
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and is_import_by_text(node)
        and not isinstance(node.args[0], ast.Constant)
    ]
    assert unseen == []


def rooms_imported(path: Path) -> set[str]:
    return {room_of(name) for name in imports_of(path) if name not in PACKAGE_ROOTS} - FOLDERS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_import_direction(path):
    module = module_name(path)
    if module in PACKAGE_ROOTS or room_of(module) in FOLDERS:
        return
    room = room_of(module)
    assert room in RANK, f"{module} is in no declared room"
    for other in rooms_imported(path) - {room}:
        allowed = RANK[other] < RANK[room] or {room, other} <= SHARED
        assert allowed, f"{module} must not import {other}"


def test_no_import_cycles():
    graph = {
        name: {other for other in imports_of(path) if other != name} for name, path in NAMES.items()
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


def test_folder_size_is_at_most_fifteen_modules():
    counted = Counter(path.parent for path in MODULES)
    assert {str(folder): n for folder, n in counted.items() if n > MAX_FILES} == {}


def test_class_names_are_unique():
    """One name means one thing, so that a reader who meets it knows which."""
    places = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module_name(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_only_the_api_chooses_adapters():
    adapters = {
        "commonplace.store.sqlite.store",
        "commonplace.store.postgres.store",
        "commonplace.language.embedders.hashing",
        "commonplace.language.embedders.minilm",
        "commonplace.language.embedders.openai",
        "commonplace.language.embedders.wordllama",
        "commonplace.language.llm.anthropic",
        "commonplace.language.llm.openai",
    }
    beside = {each.rsplit(".", 1)[0] for each in adapters}
    for name, path in NAMES.items():
        chosen = imports_of(path) & adapters
        folder = name.rsplit(".", 1)[0]
        assert not chosen or folder in beside or room_of(name) == "api", name


def test_imports_are_at_module_level():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
                assert not inner, f"{path}:{node.lineno} imports inside {node.name}"


SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\b", re.S)


def test_no_sql_outside_the_store():
    for name, path in NAMES.items():
        if name.startswith("commonplace.store"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not SQL.search(node.value), f"{path}:{node.lineno}"


def test_sql_statements_never_read_the_database_clock():
    forbidden = re.compile(
        r"\b(now\s*\(|current_timestamp|current_date|clock_timestamp|datetime\s*\(|strftime)", re.I
    )
    for path in SOURCE.rglob("*.sql"):
        statements = re.sub(r"--.*", "", path.read_text())
        assert not forbidden.search(statements), path


# Maintenance, export and erasing work on all sources, also on those that have ended.
ALL_SOURCES = {
    "engine/context.py",
    "engine/history/time_travel.py",
    "engine/maintenance/sleep/tasks/expiry.py",
    "engine/maintenance/tidy.py",
    "engine/maintenance/vectors.py",
    "engine/memories/listing.py",
    "engine/removal/erase.py",
    "engine/teams/teams.py",
    "engine/transfer/import_memory.py",
}


def test_store_sources_is_called_only_by_the_declared_modules():
    asking = re.compile(r"store\.sources\(")
    found = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if "store" not in path.relative_to(SOURCE).parts and asking.search(path.read_text())
    }
    assert found == ALL_SOURCES
