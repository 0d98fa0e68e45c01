"""PostgreSQL's errors, translated once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolTimeout

from commonplace.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_BY_TYPE: tuple[tuple[type[Exception], type[StoreError], str], ...] = (
    (pg.DiskFull, StoreFull, "The database's disk is full."),
    (pg.OutOfMemory, StoreFull, "The database is out of memory."),
    (pg.LockNotAvailable, StoreBusy, "Another session holds this memory for too long."),
    (pg.DeadlockDetected, StoreBusy, "Another session holds this memory for too long."),
    (pg.SerializationFailure, StoreBusy, "Another session changed this memory."),
    (pg.TooManyConnections, StoreBusy, "The database has no connection left."),
    (pg.ReadOnlySqlTransaction, StoreReadOnly, "The database is read-only."),
    (pg.DataCorrupted, StoreCorrupt, "The database reports damaged data."),
    (PoolTimeout, StoreUnavailable, "The database cannot be reached."),
    (psycopg.OperationalError, StoreUnavailable, "The database cannot be reached."),
    (psycopg.InterfaceError, StoreUnavailable, "The connection to the database was lost."),
)


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        for kind, ours, message in _BY_TYPE:
            if isinstance(error, kind):
                raise ours(message) from error
        first_line = str(error).partition("\n")[0]
        raise StoreError(f"PostgreSQL refused: {first_line}") from error
