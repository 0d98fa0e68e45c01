"""The whole schema of a store as the database tells it, to compare two of them."""

from __future__ import annotations

from typing import Any

from support.stores import is_postgres, raw

_OF_SQLITE = {"objects": "SELECT type, name, tbl_name, sql FROM sqlite_schema"}

_HERE = "= current_schema()"
_OF_POSTGRES = {
    "columns": f"""SELECT table_name, column_name, data_type, is_nullable, column_default,
                          collation_name
                     FROM information_schema.columns WHERE table_schema {_HERE}""",
    "indexes": f"SELECT tablename, indexdef FROM pg_indexes WHERE schemaname {_HERE}",
    "constraints": """SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
                        FROM pg_constraint WHERE connamespace = current_schema()::regnamespace""",
    "policies": f"""SELECT tablename, policyname, roles::text, cmd, qual, with_check
                      FROM pg_policies WHERE schemaname {_HERE}""",
    "guards": """SELECT relname, relkind::text, relrowsecurity, relforcerowsecurity, relacl::text,
                        relispartition
                   FROM pg_class WHERE relnamespace = current_schema()::regnamespace""",
}


def schema_of(url: str) -> dict[str, list[tuple[Any, ...]]]:
    asked = _OF_POSTGRES if is_postgres(url) else _OF_SQLITE
    return {what: sorted(raw(url, query), key=repr) for what, query in asked.items()}
