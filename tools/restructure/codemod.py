"""Move, merge and rename modules and their names, as a table says; behaviour does not change.

`python -m tools.restructure.codemod TABLE.json` works on the checkout that it is started in. The
table has `files` (old path → new path, several to one are merged), `data` (files that are no
Python), `names` (of a module: old → new), `members` (of a class: old → new) and `docstrings`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import libcst as cst
from libcst.metadata import (
    Access,
    Assignment,
    ClassScope,
    GlobalScope,
    MetadataWrapper,
    PositionProvider,
    Scope,
    ScopeProvider,
)

ROOTS = ("src/commonplace", "tests", "benchmarks", "tools")
DOTTED = re.compile(r"\bcommonplace(?:\.\w+)+")
_PATCHES = ("setattr", "object")  # of monkeypatch, and of unittest.mock.patch

Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Table:
    files: Mapping[str, str]  # old path → new path; both from the root of the checkout
    names: Mapping[tuple[str, str], str]  # (old module, old name) → new name
    docstrings: Mapping[str, str]  # new path → its docstring
    members: Mapping[str, str] = field(default_factory=dict)

    def module(self, old: str) -> str:
        """The new dotted name of a module; one that is not in the table keeps its own."""
        return self._modules().get(old, old)

    def _modules(self) -> Mapping[str, str]:
        found: dict[str, str] = self.__dict__.get("_cached", {})
        if not found:
            found = {dotted(old): dotted(new) for old, new in self.files.items() if new}
            self.__dict__["_cached"] = found
        return found


def dotted(path: str) -> str:
    if not path:
        return ""
    parts = list(Path(path).with_suffix("").parts)
    if parts[0] == "src" or (parts[0] == "tests" and parts[1:2] == ["support"]):
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True)
class Known:
    """What there was before: every module, and where each imported name is defined."""

    modules: frozenset[str]
    exported: Mapping[tuple[str, str], tuple[str, str]]

    def origin(self, module: str, name: str) -> tuple[str, str]:
        seen = set()
        while (module, name) in self.exported and (module, name) not in seen:
            seen.add((module, name))
            module, name = self.exported[module, name]
        return module, name


def python_files(root: Path) -> list[Path]:
    return sorted(
        path for each in ROOTS if (root / each).is_dir() for path in (root / each).rglob("*.py")
    )


def survey(root: Path, paths: Iterable[Path]) -> Known:
    modules, exported = set(), {}
    for path in paths:
        module = dotted(str(path.relative_to(root)))
        modules.add(module)
        for statement in cst.parse_module(path.read_text("utf-8")).body:
            for alias, source in _from_imports(statement):
                local = alias.asname.name.value if alias.asname else alias.name.value  # type: ignore
                exported[module, str(local)] = (source, str(alias.name.value))
    return Known(frozenset(modules), exported)


def _from_imports(statement: cst.CSTNode) -> Iterator[tuple[cst.ImportAlias, str]]:
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar):
                for alias in small.names:
                    yield alias, _path_of(small.module)


def _path_of(node: cst.BaseExpression | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_path_of(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


@dataclass
class Rewritten:
    path: str  # the new one
    old: str
    text: str  # without docstring and imports at the top
    docstring: str
    imports: list[str]
    globals: dict[str, str]  # name → the statement that binds it
    needs: set[str]  # old modules that are merged into the same file
    problems: list[str]
    same: bool  # nothing was changed


class Rewriter:
    """One file: what to replace where."""

    def __init__(self, root: Path, path: Path, table: Table, known: Known):
        self.table, self.known = table, known
        self.old = str(path.relative_to(root))
        self.new = table.files.get(self.old, self.old)  # empty: it goes
        self.module, self.target = dotted(self.old), dotted(self.new)
        self.source = path.read_text("utf-8")
        self.wrapper = MetadataWrapper(cst.parse_module(self.source), unsafe_skip_copy=True)
        self.positions = self.wrapper.resolve(PositionProvider)
        scopes = self.wrapper.resolve(ScopeProvider)
        self.scopes = {scope for scope in scopes.values() if scope is not None}
        self.top = next((s for s in self.scopes if isinstance(s, GlobalScope)), None)
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.attributes = {
            node.value: node
            for node in _walk(self.wrapper.module)
            if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name)
        }
        self.edits: list[Edit] = []
        self.same = True  # as long as nothing but the spelling of imports changes
        self.imports: list[str] = []
        self.needs: set[str] = set()
        self.problems: list[str] = []
        self.renamed: dict[str, str] = {}
        self.docstring = ""

    def offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        at = self.positions[node]
        start = self.starts[at.start.line - 1] + at.start.column
        return start, self.starts[at.end.line - 1] + at.end.column

    def replace(self, node: cst.CSTNode, text: str) -> None:
        edit = (*self.offsets(node), text)
        if edit not in self.edits:
            self.same = self.same and self.source[edit[0] : edit[1]] == text
            self.edits.append(edit)

    # ——— names ———

    def rename(self, old: str, new: str, attributes: Mapping[str, str] | None = None) -> None:
        """A name of the module's own scope, wherever it is used."""
        if self.top is None:
            return
        for assignment in self.top[old]:
            if isinstance(assignment, Assignment) and assignment.scope is self.top:
                if old != new:
                    self._rename_definition(assignment, old, new)
                for access in assignment.references:
                    self._rename_access(access, old, new, attributes)
        if old != new:
            self.renamed[old] = new

    def _rename_definition(self, assignment: Assignment, old: str, new: str) -> None:
        node = assignment.node
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.replace(node.name, new)
        elif isinstance(node, cst.Name) and node.value == old:
            self.replace(node, new)

    def _rename_access(
        self, access: Access, old: str, new: str, attributes: Mapping[str, str] | None
    ) -> None:
        base: cst.CSTNode = access.node
        while isinstance(base, cst.Attribute):
            base = base.value
        if not isinstance(base, cst.Name) or base.value != old:
            return
        if _is_local(access.scope, old):
            return  # read before a later assignment of its own function
        if attributes:
            attribute = self.attributes.get(base)
            renamed = attributes.get(attribute.attr.value) if attribute else None
            if attribute and renamed:
                self.replace(attribute.attr, renamed)
        if old != new:
            self._refuse_shadows(access.scope, old, new)
            self.replace(base, new)

    def _refuse_shadows(self, scope: Scope, old: str, new: str) -> None:
        first = True
        while not isinstance(scope, GlobalScope):
            own = {a.name for a in scope.assignments}
            if new in own and (first or not isinstance(scope, ClassScope)):
                self.problems.append(f"{self.old}: {old} → {new} is shadowed by a local name")
                return
            first, scope = False, scope.parent

    def own_names(self) -> None:
        for (module, old), new in self.table.names.items():
            if module == self.module:
                if self.top is None or old not in {a.name for a in self.top.assignments}:
                    self.problems.append(f"{self.old}: there is no {old} to rename")
                    continue
                self.rename(old, new)

    # ——— imports ———

    def all_imports(self) -> None:
        for statement in self.wrapper.module.body:
            self._statement(statement, at_top=True)
        top = {id(s) for s in self.wrapper.module.body}
        for node in _walk(self.wrapper.module):
            if isinstance(node, cst.SimpleStatementLine) and id(node) not in top:
                self._statement(node, at_top=False)

    def _statement(self, statement: cst.CSTNode, at_top: bool) -> None:
        if not isinstance(statement, cst.SimpleStatementLine):
            return
        for small in statement.body:
            if isinstance(small, cst.ImportFrom) and _path_of(small.module):
                lines = self._from(small)
            elif isinstance(small, cst.Import):
                lines = self._plain(small)
            else:
                continue
            if at_top:
                told = cst.Module([]).code_for_node(small)
                self.same = self.same and all(_stated(line) in told for line in lines)
                self._cut(statement)
                self.imports += lines
            else:
                indent = " " * self.positions[statement].start.column
                self.replace(small, f"\n{indent}".join(lines) or "pass")

    def _cut(self, statement: cst.SimpleStatementLine) -> None:
        start, end = self.offsets(statement)
        comment = statement.trailing_whitespace.comment
        if comment:
            self.imports.append(f"# KEEP {comment.value}")
            end = self.source.index("\n", end)
        edit = (start, end + 1 if self.source[end : end + 1] == "\n" else end, "")
        if edit not in self.edits:
            self.edits.append(edit)

    def _plain(self, small: cst.Import) -> list[str]:
        lines = []
        for alias in small.names:
            path = _path_of(alias.name)
            new = self._resolved(path)
            lines.append(
                f"import {new} as {alias.asname.name.value}"  # type: ignore[union-attr]
                if alias.asname
                else f"import {new}"
            )
            if new != path and not alias.asname:
                self.problems.append(f"{self.old}: `import {path}` is used by its whole name")
        return lines

    def _from(self, small: cst.ImportFrom) -> list[str]:
        source = _path_of(small.module)
        if isinstance(small.names, cst.ImportStar):
            return [f"from {self.table.module(source)} import *"]
        lines = []
        for alias in small.names:
            name = str(alias.name.value)
            given = str(alias.asname.name.value) if alias.asname else None  # type: ignore[union-attr]
            whole = f"{source}.{name}"
            if whole in self.known.modules:
                lines += self._module(whole, name, given)
            else:
                lines += self._name(source, name, given)
        return lines

    def _module(self, whole: str, name: str, given: str | None) -> list[str]:
        new = self.table.module(whole)
        parent, _, last = new.rpartition(".")
        attributes = {old: to for (module, old), to in self.table.names.items() if module == whole}
        for (module, local), source in self.known.exported.items():
            renamed = self.table.names.get(self.known.origin(*source))
            if module == whole and renamed and local == source[1]:
                attributes[local] = renamed
        if given:
            self.rename(given, given, attributes)
            return [f"from {parent} import {last} as {given}"]
        self.rename(name, last, attributes)
        if new == self.target:
            self.problems.append(f"{self.old}: imports {whole}, which is merged into it")
        return [f"from {parent} import {last}"]

    def _name(self, source: str, name: str, given: str | None) -> list[str]:
        new = self.table.names.get(self.known.origin(source, name), name)
        module = self.table.module(source)
        if module == self.target and source != self.module:
            self.needs.add(source)
            self.rename(given or name, new)
            return []
        if given:
            tail = f" as {given}" if given != new else ""
            return [f"from {module} import {new}{tail}"]
        self.rename(name, new)
        return [f"from {module} import {new}"]

    def _resolved(self, path: str) -> str:
        """A dotted path in text: the longest known module in it is put in its new place."""
        parts = path.split(".")
        for count in range(len(parts), 0, -1):
            module = ".".join(parts[:count])
            if module in self.known.modules or module in self.table._modules():
                rest = parts[count:]
                if rest:
                    rest[0] = self.table.names.get(self.known.origin(module, rest[0]), rest[0])
                return ".".join([self.table.module(module), *rest])
        return path

    # ——— what stands in texts ———

    def texts(self) -> None:
        for node in _walk(self.wrapper.module):
            if isinstance(node, cst.SimpleString | cst.FormattedStringText):
                new = DOTTED.sub(lambda m: self._resolved(m[0]), node.value)
                new = re.sub(r"(from )(commonplace[\w.]*)( import )([\w, ]+)", self._in_text, new)
                if new != node.value:
                    self.replace(node, new)
            if isinstance(node, cst.Call):
                self._patched(node)

    def _in_text(self, found: re.Match[str]) -> str:
        # The module has its new name already: names are looked up by the old one.
        olds = [old for old, new in self.table._modules().items() if new == found[2]]
        names = []
        for name in re.split(r",\s*", found[4]):
            for old in olds or [found[2]]:
                name = self.table.names.get(self.known.origin(old, name.strip()), name)
            names.append(name)
        return f"{found[1]}{found[2]}{found[3]}{', '.join(names)}"

    def _patched(self, call: cst.Call) -> None:
        """`monkeypatch.setattr(module, "name", …)` names what it replaces in a text."""
        patches = isinstance(call.func, cst.Attribute) and call.func.attr.value in _PATCHES
        if not patches or len(call.args) < 2 or not isinstance(call.args[0].value, cst.Name):
            return
        named = call.args[1].value
        where = call.args[0].value.value
        for statement in self.wrapper.module.body:
            for alias, source in _from_imports(statement):
                local = alias.asname.name.value if alias.asname else alias.name.value  # type: ignore
                whole = f"{source}.{alias.name.value}"
                is_module = local == where and whole in self.known.modules
                if is_module and isinstance(named, cst.SimpleString):
                    named_by = self.known.origin(whole, str(named.evaluated_value))
                    new = self.table.names.get(named_by)
                    if new:
                        self.replace(named, f'"{new}"')

    def exports(self) -> None:
        """`__all__` names its names in texts."""
        for statement in self.wrapper.module.body:
            for node in _walk(statement):
                if isinstance(node, cst.Assign) and _path_of(node.targets[0].target) == "__all__":
                    for text in _walk(node.value):
                        if isinstance(text, cst.SimpleString):
                            new = self.renamed.get(str(text.evaluated_value))
                            if new:
                                self.replace(text, f'"{new}"')

    def annotations(self) -> None:
        """Those that name something before it is defined are not seen as references to it."""
        for node in _walk(self.wrapper.module):
            if isinstance(node, cst.Annotation):
                for inner in _walk(node.annotation):
                    if isinstance(inner, cst.Name) and inner.value in self.renamed:
                        self.replace(inner, self.renamed[inner.value])
                    if isinstance(inner, cst.SimpleString):
                        told = str(inner.evaluated_value)
                        if told in self.renamed:
                            self.replace(inner, f'"{self.renamed[told]}"')

    # ——— all of it ———

    def run(self) -> Rewritten:
        first = self.wrapper.module.body[:1]
        if first and isinstance(first[0], cst.SimpleStatementLine):
            small = first[0].body[0]
            if isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString):
                start, end = self.offsets(first[0])
                self.docstring = self.source[start:end]
                self.edits.append((start, end, ""))
        self.all_imports()
        self.own_names()
        self.texts()
        self.exports()
        self.annotations()
        return Rewritten(
            self.new,
            self.old,
            self._applied(),
            self.docstring,
            self.imports,
            self._bound(),
            self.needs,
            self.problems,
            self.same and self.new == self.old,
        )

    def _applied(self) -> str:
        text, last = [], 0
        for start, end, new in sorted(set(self.edits)):
            if start < last:
                continue  # inside something that is cut already
            text += [self.source[last:start], new]
            last = end
        return "".join([*text, self.source[last:]])

    def _bound(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for statement in self.wrapper.module.body:
            told = cst.Module([]).code_for_node(statement).strip()
            for name in _names_bound(statement):
                found[self.renamed.get(name, name)] = told
        return found


def _is_local(scope: Scope, name: str) -> bool:
    while not isinstance(scope, GlobalScope):
        if not isinstance(scope, ClassScope) and name in {a.name for a in scope.assignments}:
            return True
        scope = scope.parent
    return False


def _names_bound(statement: cst.CSTNode) -> Iterator[str]:
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        yield statement.name.value
    elif isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, cst.Assign):
                for target in small.targets:
                    if isinstance(target.target, cst.Name):
                        yield target.target.value
            elif isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                yield small.target.value


def _stated(line: str) -> str:
    return line.partition(" import ")[0]


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _walk(child)


def rewrite(path: Path, root: Path, table: Table, known: Known) -> Rewritten:
    return Rewriter(root, path, table, known).run()


# ——— putting files together ———


def in_order(parts: Sequence[Rewritten]) -> list[Rewritten]:
    """What another part of the same file needs comes before it."""
    by_module = {dotted(part.old): part for part in parts}
    done: list[Rewritten] = []

    def visit(part: Rewritten, trail: tuple[str, ...]) -> None:
        if part in done or part.old in trail:
            return
        for module in sorted(part.needs):
            if module in by_module:
                visit(by_module[module], (*trail, part.old))
        done.append(part)

    for part in parts:
        visit(part, ())
    return done


def put_together(path: str, parts: Sequence[Rewritten], table: Table) -> tuple[str, list[str]]:
    problems: list[str] = []
    bound: dict[str, tuple[str, str]] = {}
    bodies = []
    for part in in_order(parts):
        text = part.text
        for name, statement in part.globals.items():
            other = bound.get(name)
            if other is None or name == "__all__":
                bound[name] = (part.old, statement)
            elif other[1] == statement:
                text = text.replace(statement, "", 1)
            else:
                problems.append(f"{path}: {name} is in {other[0]} and in {part.old}")
        bodies.append(text.strip("\n"))
    docstring = parts[0].docstring
    if path in table.docstrings:
        whys = [part.docstring.strip('"').strip().partition("\n\n")[2] for part in parts]
        more = [why for why in whys if why]
        end = "\n" if more else ""
        docstring = '"""' + "\n\n".join([table.docstrings[path], *more]) + end + '"""'
    imports = [line for part in parts for line in part.imports]
    for line in imports:
        name = line.rpartition(" ")[2]
        if " import " in line and name in bound:
            problems.append(f"{path}: {name} is defined and imported ({line})")
    future = sorted({line for line in imports if line.startswith("from __future__")})
    rest = [line for line in dict.fromkeys(imports) if line not in future]
    head = "\n".join(filter(None, [docstring, "\n".join(future), "\n".join(rest)]))
    return head + "\n\n\n" + "\n\n\n".join(filter(None, bodies)) + "\n", problems


def apply(root: Path, table: Table, data: Mapping[str, str]) -> list[str]:
    paths = python_files(root)
    known = survey(root, paths)
    with ProcessPoolExecutor(3) as pool:
        done = list(
            pool.map(partial(rewrite, root=root, table=table, known=known), paths, chunksize=20)
        )
    problems = [problem for each in done for problem in each.problems]
    order = {old: place for place, old in enumerate(table.files)}
    by_path: dict[str, list[Rewritten]] = defaultdict(list)
    for each in sorted(done, key=lambda one: (order.get(one.old, -1), one.old)):
        by_path[each.path or ""].append(each)
    written: dict[str, str] = {}
    for new, parts in by_path.items():
        if new and not all(part.same for part in parts):
            written[new], found = put_together(new, parts, table)
            problems += found
    for path in paths:
        old = str(path.relative_to(root))
        if table.files.get(old, old) != old:
            path.unlink()
    for name, text in written.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    for name, docstring in table.docstrings.items():
        if not (root / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f'"""{docstring}"""\n', "utf-8")
    for old, new in data.items():
        if (root / old).exists():
            (root / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(root / old, root / new)
    return problems


def rename_members(root: Path, members: Mapping[str, str]) -> None:
    """Attributes, keywords and definitions in classes, by their names alone."""
    for path in python_files(root):
        text = path.read_text("utf-8")
        if not any(re.search(rf"\b{old}\b", text) for old in members):
            continue
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        edits = []
        for node in _member_names(wrapper.module):
            if node.value in members:
                at = positions[node]
                start = starts[at.start.line - 1] + at.start.column
                edits.append((start, start + len(node.value), members[node.value]))
        for start, end, new in sorted(set(edits), reverse=True):
            text = text[:start] + new + text[end:]
        path.write_text(text, "utf-8")


def _member_names(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Import | cst.ImportFrom):
        return
    if isinstance(node, cst.Attribute) and _path_of(node.value) != "Path":
        yield node.attr
    elif isinstance(node, cst.Arg) and node.keyword is not None:
        yield node.keyword
    elif isinstance(node, cst.ClassDef):
        yield from _names_in_class(node)
    for child in node.children:
        yield from _member_names(child)


def _names_in_class(kind: cst.ClassDef) -> Iterator[cst.Name]:
    for statement in kind.body.body:
        if isinstance(statement, cst.FunctionDef):
            yield statement.name
            if statement.name.value == "__init__":
                yield from _parameters_of(statement)
        elif isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                    yield small.target
                if isinstance(small, cst.Assign):
                    targets = [each.target for each in small.targets]
                    yield from (each for each in targets if isinstance(each, cst.Name))


def _parameters_of(function: cst.FunctionDef) -> Iterator[cst.Name]:
    """They are called like the attribute that they become; what reads them goes along."""
    named = {parameter.name.value for parameter in function.params.params}
    for node in _walk(function):
        if isinstance(node, cst.Name) and node.value in named:
            yield node


def main() -> None:
    root = Path.cwd()
    read = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    table = Table(
        {old: new or "" for old, new in read["files"].items()},
        {(module, old): new for module, old, new in read["names"]},
        read["docstrings"],
    )
    problems = apply(root, table, read["data"])
    if read["members"]:
        rename_members(root, {old: new for _, _, old, new in read["members"]})
    sys.stdout.write("\n".join([*problems, f"{len(problems)} problems"]) + "\n")


if __name__ == "__main__":
    main()
