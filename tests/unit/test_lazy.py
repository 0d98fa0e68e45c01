"""Lazy imports: a name is loaded when it is first used, and then stands for itself."""

import builtins
import sys
import types

import pytest

from commonplace.lazy import LazyName, lazy_imports, parameter_hints, type_hints


@pytest.fixture
def importing(tmp_path, monkeypatch):
    """Runs a module of this text, next to the modules `shapes` and `parts.wheel`."""
    (tmp_path / "shapes.py").write_text(
        "class Square:\n    side = 4\n\ndef area(a):\n    return a * a\n"
    )
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "wheel.py").write_text("SPOKES = 12\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("shapes", "parts", "parts.wheel", "drawing"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def run(body: str) -> types.ModuleType:
        module = types.ModuleType("drawing")
        module.__dict__["lazy_imports"] = lazy_imports
        monkeypatch.setitem(sys.modules, "drawing", module)
        text = f"from __future__ import annotations\nwith lazy_imports(__name__):\n    {body}\n"
        exec(compile(text, "drawing.py", "exec"), vars(module))
        return module

    yield run
    for name in ("shapes", "parts", "parts.wheel"):
        sys.modules.pop(name, None)


def test_lazy_import_loads_with_the_first_call(importing):
    module = importing("from shapes import area")
    assert "shapes" not in sys.modules
    assert module.area(3) == 9
    assert not isinstance(module.area, LazyName)
    assert module.area is sys.modules["shapes"].area


def test_lazy_import_of_a_module_under_another_name(importing):
    module = importing("from parts import wheel as round_part")
    assert "parts.wheel" not in sys.modules
    assert module.round_part.SPOKES == 12
    assert module.round_part is sys.modules["parts.wheel"]


def test_lazy_class_in_isinstance_loads_nothing_that_was_never_loaded(importing):
    module = importing("from shapes import Square")
    assert not isinstance(4, module.Square)
    assert "shapes" not in sys.modules
    square = module.Square()
    assert isinstance(square, module.Square)
    assert isinstance(square, module.Square | None)


def test_lazy_import_of_a_name_that_does_not_exist_says_so(importing):
    module = importing("from shapes import Circle")
    with pytest.raises(AttributeError, match="Circle"):
        module.Circle()


def test_lazy_imports_leave_the_import_statement_as_it_was(importing):
    before = builtins.__import__
    importing("from shapes import area")
    assert builtins.__import__ is before


def test_type_hints_load_what_annotations_name(importing):
    module = importing("from shapes import Square")
    exec("def grow(by: int, of: Square | None) -> list[Square]: ...", vars(module))
    module.grow.__annotations__.update(by="int", of="Square | None", **{"return": "list[Square]"})
    hints = type_hints(module.grow)
    square = sys.modules["shapes"].Square
    assert hints == {"by": int, "of": square | None, "return": list[square]}


def test_parameter_hints_leave_the_answer_unloaded(importing):
    module = importing("from shapes import Square")
    exec("def grow(by): ...", vars(module))
    module.grow.__annotations__.update(by="int", **{"return": "Square"})
    assert parameter_hints(module.grow) == {"by": int}
    assert "shapes" not in sys.modules
