"""Commonplace: long-term memory for AI agents."""

from commonplace import errors
from commonplace.api import Choice, Commonplace, User, open
from commonplace.errors import CommonplaceError
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
