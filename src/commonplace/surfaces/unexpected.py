"""What a caller is told where something failed that should not: no trace, and what to report."""

from __future__ import annotations

from commonplace.errors import CommonplaceError


def unexpected(report: str, named: str = "") -> CommonplaceError:
    """``report``: what helps to find it; ``named``: the class of what was raised, where whoever
    reads it runs the program themselves."""
    told = "Internal error"
    return CommonplaceError(
        f"{told}: {named}." if named else f"{told}.", remedy=f"Please report it, with {report}."
    )
