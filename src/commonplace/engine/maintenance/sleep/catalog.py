"""The functions of all tasks. A task's module is loaded when it runs."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.engine.maintenance.sleep.task import Task
from commonplace.lazy import lazy_imports
from commonplace.model.sleep import SleepTask

with lazy_imports(__name__):
    from commonplace.engine.maintenance.sleep.tasks.archive import run_archive
    from commonplace.engine.maintenance.sleep.tasks.consolidation import run_consolidation
    from commonplace.engine.maintenance.sleep.tasks.descriptions import run_descriptions
    from commonplace.engine.maintenance.sleep.tasks.duplicates import run_duplicates
    from commonplace.engine.maintenance.sleep.tasks.expiry import run_expiry
    from commonplace.engine.maintenance.sleep.tasks.idle import run_idle
    from commonplace.engine.maintenance.sleep.tasks.insights import run_insights
    from commonplace.engine.maintenance.sleep.tasks.macros import run_macros
    from commonplace.engine.maintenance.sleep.tasks.notes import run_notes
    from commonplace.engine.maintenance.sleep.tasks.storylines import run_storylines
    from commonplace.engine.maintenance.sleep.tasks.volatile import run_volatile

Catalog = Mapping[SleepTask, Task]

TASKS: Catalog = {
    SleepTask.EXPIRY: run_expiry,
    SleepTask.IDLE: run_idle,
    SleepTask.VOLATILE: run_volatile,
    SleepTask.NOTES: run_notes,
    SleepTask.CONSOLIDATION: run_consolidation,
    SleepTask.ARCHIVE: run_archive,
    SleepTask.DUPLICATES: run_duplicates,
    SleepTask.DESCRIPTIONS: run_descriptions,
    SleepTask.STORYLINES: run_storylines,
    SleepTask.INSIGHTS: run_insights,
    SleepTask.MACROS: run_macros,
}
