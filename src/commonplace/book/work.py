"""Which kinds of work a book knows how to do, and who does it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from commonplace.book.extracting import extract_source
from commonplace.desk import Desk
from commonplace.ingest.describe_talk import describe_talk
from commonplace.ingest.process import process
from commonplace.model.owed import DESCRIBE, EMBED, EXTRACT, PROCESS
from commonplace.remember.link import link_late
from commonplace.sleep.late_vectors import fill_late_vectors
from commonplace.sleep.worker import Work


def kinds_of_work(desk: Desk) -> Mapping[str, Work]:
    return {
        PROCESS: partial(process, desk),
        EXTRACT: partial(extract_source, desk),
        DESCRIBE: partial(describe_talk, desk),
        EMBED: partial(fill_late_vectors, desk, partial(link_late, desk)),
    }
