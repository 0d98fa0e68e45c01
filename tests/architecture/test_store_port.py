"""How wide the store's port is, what of it changes anything, and who may use which part."""

import ast
import re
from pathlib import Path

import commonplace
from commonplace.store.port import Backend, Claims, Store, StoreMaintenance
from commonplace.store.sql.store import SqlStore

SOURCE = Path(commonplace.__file__).parent
METHODS = {Store: 41, Claims: 5, StoreMaintenance: 8}
MOST_METHODS = 54  # of all protocols together
# Everything else only reads.
CHANGES = {
    Store: {"apply", "record"},
    Claims: {"claim_job", "extend_lease", "fail_job", "claim_answer"},
    StoreMaintenance: {"begin_generation", "switch_to", "remove_retired", "scrub"},
}
WRITING = {"_writing", "_claiming", "_maintaining"}  # sessions in which a store can change anything
# Whoever opens a store claims its embedder, before there is anybody who could use it.
BEFORE_IT_IS_OPEN = {"claim_embedder"}
OPERATORS = ("api/", "engine/maintenance/", "store/")


def methods_of(protocol: type) -> set[str]:
    return {name for name, value in vars(protocol).items() if _is_public_method(name, value)}


def _is_public_method(name: str, value: object) -> bool:
    return not name.startswith("_") and callable(value)


def test_store_port_has_the_declared_number_of_methods():
    assert {protocol: len(methods_of(protocol)) for protocol in METHODS} == METHODS
    assert sum(METHODS.values()) <= MOST_METHODS
    assert methods_of(Backend) == set(), "an adapter promises nothing besides"


def test_store_port_methods_belong_to_one_protocol():
    names = [name for protocol in METHODS for name in methods_of(protocol)]
    assert len(names) == len(set(names))


def test_store_port_writing_methods_are_the_declared_ones():
    """Read from the adapter: which of its public methods open a session for writing, themselves or
    through another method of its own."""
    calls: dict[str, set[str]] = {}
    for base in SqlStore.__mro__:
        if not base.__module__.startswith("commonplace.store"):
            continue
        for name, called in _calls_of_methods(base).items():
            calls.setdefault(name, set()).update(called)
    writing = set(WRITING)
    while more := {name for name, called in calls.items() if called & writing} - writing:
        writing |= more
    public = {name for name in writing if not name.startswith("_")}
    assert public == set().union(*CHANGES.values()) | BEFORE_IT_IS_OPEN


def _calls_of_methods(base: type) -> dict[str, set[str]]:
    """Names of the methods that each method of a class calls on itself."""
    path = SOURCE.parent / (base.__module__.replace(".", "/") + ".py")
    classes = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ClassDef)]
    body = next(node for node in classes if node.name == base.__name__).body
    return {
        node.name: {
            call.func.attr
            for call in ast.walk(node)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "self"
        }
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def test_store_maintenance_is_used_only_by_operators():
    """No verb of a user's does, nor what it is made of."""
    names = "|".join(sorted(methods_of(StoreMaintenance)))
    using = re.compile(rf"store\.({names})\(|\b(StoreMaintenance)\b")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if using.search(path.read_text())
    }
    assert found, "the pattern finds whoever uses it"
    assert {path for path in found if not path.startswith(OPERATORS)} == set()
