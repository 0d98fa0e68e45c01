"""Failpoints: named points inside a write where a test can stop the process."""

from __future__ import annotations

from collections.abc import Callable

FAILPOINTS = (
    "apply.begun",
    "apply.rows",
    "apply.journal",
    "apply.before_commit",
    "apply.after_commit",
    "migration.statements",
    "migration.before_commit",
    "scrub.before_vacuum",
    "scrub.before_checkpoint",
    "scrub.after_checkpoint",
    "reembed.vectors",
    "reembed.built",
    "reembed.before_switch",
    "reembed.after_switch",
    "reembed.removed",
    "job.claimed",
    "job.worked",
)

_hook: Callable[[str], None] | None = None


def reach_failpoint(name: str) -> None:
    if _hook is not None:
        _hook(name)


def install_hook(hook: Callable[[str], None] | None) -> None:
    global _hook
    _hook = hook
