"""The moments at which a process is killed, and on which database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from commonplace.store.failpoints import FAILPOINTS

IN_A_WRITE = [name for name in FAILPOINTS if name.startswith("apply.")]
AT_WORK = [name for name in FAILPOINTS if name.startswith("job.")]
# Where the databases differ: how a transaction ends, and how a job is claimed.
ON_BOTH = ("apply.before_commit", "job.claimed")


def killed_at(failpoints: Iterable[str]) -> pytest.MarkDecorator:
    """On SQLite at each of them. What is in a transaction at which moment is the same code on
    PostgreSQL: there `make soak` kills at those that are not told `ON_BOTH`."""
    moments = list(failpoints)
    rows = [_row(database, moment) for database in ("sqlite", "postgres") for moment in moments]
    return pytest.mark.parametrize(("store_url", "failpoint"), rows, indirect=["store_url"])


def _row(database: str, moment: str) -> Any:
    often = database == "sqlite" or moment in ON_BOTH
    return pytest.param(database, moment, marks=() if often else pytest.mark.soak)
