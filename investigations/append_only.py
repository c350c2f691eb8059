"""Rows that are never rewritten: reviews, audit events, evidence, and runs once they are finished.

Held by plain triggers, so that `.update()`, `.delete()`, raw SQL and a database shell all meet the same wall.
They are put in place by a migration, and again after every `migrate`: SQLite loses a table's triggers whenever
Django rebuilds that table.

A purge at the end of retention will need its own door: inside one transaction, as the database owner,
`drop_triggers`, delete, `create_triggers`, with one audit event that says what went. Nothing else may call them.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

_ALWAYS = ""
_FINISHED = "OLD.state IN ('done', 'failed', 'errored')"

# table: the condition on the old row under which it must not change any more
APPEND_ONLY: dict[str, str] = {
    "investigations_review": _ALWAYS,
    "investigations_auditevent": _ALWAYS,
    "investigations_evidence": _ALWAYS,
    "investigations_run": _FINISHED,
}

_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION first_fault_append_only() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$body$
"""


def _name(table: str, event: str) -> str:
    return f"{table}_no_{event.lower()}"


def _create_sqlite(cursor: CursorWrapper, table: str, condition: str) -> None:
    when = f"WHEN {condition}" if condition else ""
    for event in ("UPDATE", "DELETE"):
        cursor.execute(
            f"CREATE TRIGGER IF NOT EXISTS {_name(table, event)} BEFORE {event} ON {table} {when} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def _create_postgresql(cursor: CursorWrapper, table: str, condition: str) -> None:
    when = f"WHEN ({condition})" if condition else ""
    for event in ("UPDATE", "DELETE"):
        cursor.execute(
            f"CREATE OR REPLACE TRIGGER {_name(table, event)} BEFORE {event} ON {table} "
            f"FOR EACH ROW {when} EXECUTE FUNCTION first_fault_append_only()"
        )
    # Row triggers do not see TRUNCATE.
    cursor.execute(
        f"CREATE OR REPLACE TRIGGER {_name(table, 'TRUNCATE')} BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION first_fault_append_only()"
    )


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    """Put the triggers on those of the tables that exist; safe to call again."""
    create = {"sqlite": _create_sqlite, "postgresql": _create_postgresql}[connection.vendor]
    present = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRES_FUNCTION)
        for table, condition in APPEND_ONLY.items():
            if table in present:
                create(cursor, table, condition)


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away (for undoing the migration; see the module's note on purging)."""
    present = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for table in APPEND_ONLY.keys() & present:
            for event in ("UPDATE", "DELETE", "TRUNCATE"):
                on_table = f" ON {table}" if connection.vendor == "postgresql" else ""
                cursor.execute(f"DROP TRIGGER IF EXISTS {_name(table, event)}{on_table}")


def keep_append_only(using: str = "default", **_: Any) -> None:
    """After every migration: the triggers are there, whatever the migration rebuilt."""
    create_triggers(connections[using])
