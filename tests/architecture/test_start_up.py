"""What a process loads when it starts, and that lazy imports are used only where they load."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import commonplace

SOURCE = Path(commonplace.__file__).parent
LAZY_MODULES = [
    path for path in sorted(SOURCE.rglob("*.py")) if "with lazy_imports(" in path.read_text()
]
MODELS = {"wordllama", "tokenizers", "safetensors", "onnxruntime"}
SERVERS = {"fastapi", "uvicorn", "mcp", "starlette"}
DRIVERS = {"psycopg", "sqlite3"}
# Of the engine, a command loads what its own verb needs.
UNASKED = {
    "commonplace.engine.graph.extraction.extract",
    "commonplace.engine.graph_search.cypher.query",
    "commonplace.engine.memories.remember",
    "commonplace.engine.sources.formats.email",
    "commonplace.language.extract.extract",
    "commonplace.language.observe.turn",
    "commonplace.surfaces.mcp.server",
    "commonplace.surfaces.rest.server",
}
TABLES = {"phonenumbers", "yaml", "scipy"}


def loaded_by(script: str, *arguments: str) -> set[str]:
    told = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport sys; print('\\n'.join(sys.modules))", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    names = set(told.stdout.split())
    return names | {name.split(".")[0] for name in names}


def command(*words: str) -> str:
    return f"""
import contextlib, io, sys
from commonplace.surfaces.cli import main
sys.argv = ["commonplace", *{list(words)!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main.main()
"""


def test_import_commonplace_loads_no_engine():
    loaded = loaded_by("import commonplace")
    heavy = {"numpy", "typer", "rich", "commonplace.api", "commonplace.engine", "commonplace.store"}
    assert loaded & (heavy | MODELS | SERVERS | DRIVERS | TABLES) == set()


def test_open_is_found_with_the_first_use():
    assert "commonplace.api" in loaded_by("import commonplace; commonplace.open")


def test_help_loads_no_verb():
    assert loaded_by(command("--help")) & (UNASKED | MODELS | SERVERS | DRIVERS | TABLES) == set()


def test_recall_on_the_command_line_loads_no_other_verb(tmp_path):
    loaded = loaded_by(command("recall", "wifi", "--store", str(tmp_path / "memory.db")))
    assert "commonplace.engine.search.recall" in loaded
    assert loaded & (UNASKED | SERVERS | TABLES | {"psycopg", "requests", "wordllama"}) == set()


@pytest.mark.parametrize("path", LAZY_MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_lazy_names_are_used_only_where_they_load(path):
    """A lazy class or constant that is passed on as a value would stay a stand-in."""
    tree = ast.parse(path.read_text())
    lazy = set(_lazy_names(tree))
    wrong = {
        f"{node.id} in line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in lazy and id(node) not in _loading(tree)
    }
    assert wrong == set()


def _lazy_names(tree: ast.Module) -> list[str]:
    blocks = [each for each in tree.body if isinstance(each, ast.With)]
    imports = [each for block in blocks for each in block.body]
    assert all(isinstance(each, ast.ImportFrom) for each in imports)
    return [name.asname or name.name for each in imports for name in each.names]


def _loading(tree: ast.Module) -> set[int]:
    """The places where a stand-in works: what is called, whose attribute is read, the class of an
    isinstance, an annotation. A function may be passed on, because its stand-in can be called."""
    places: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            places.add(id(node.func))
            if ast.unparse(node.func) == "isinstance":
                places |= _parts(node.args[1])
            if ast.unparse(node.func) == "cast":
                places |= _parts(node.args[0])
        elif isinstance(node, ast.Attribute):
            places.add(id(node.value))
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            places |= _parts(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            places |= _parts(node.returns)
        elif isinstance(node, ast.Name) and re.match("[a-z_]", node.id):
            places.add(id(node))
    return places - _evaluated_at_import(tree)


def _evaluated_at_import(tree: ast.Module) -> set[int]:
    """Base classes, decorators and default values; and `except`, which needs a class."""
    places: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in (*node.bases, *node.decorator_list):
                places |= _parts(each)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            for each in (*defaults, *node.decorator_list):
                places |= _parts(each)
        elif isinstance(node, ast.ExceptHandler) and node.type:
            places |= _parts(node.type)
    return places


def _parts(node: ast.AST) -> set[int]:
    return {id(each) for each in ast.walk(node)}
