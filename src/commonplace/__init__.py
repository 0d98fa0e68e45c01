"""Commonplace: long-term memory for AI agents."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from commonplace import errors
from commonplace.errors import CommonplaceError

if TYPE_CHECKING:
    from commonplace.api import Choice, Commonplace, User
    from commonplace.api.open import open
    from commonplace.surfaces.rest.client import connect

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "Commonplace",
    "CommonplaceError",
    "User",
    "__version__",
    "connect",
    "errors",
    "open",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for: the import alone takes no time, and a client no engine."""
    if name == "connect":
        found = import_module("commonplace.surfaces.rest.client").connect
    elif name in __all__:
        found = getattr(import_module("commonplace.api"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
