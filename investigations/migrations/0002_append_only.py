"""Reviews, audit events, evidence and finished runs become append-only."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from investigations.append_only import create_triggers, drop_triggers


def hold(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    create_triggers(schema_editor.connection)


def release(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    drop_triggers(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("investigations", "0001_first")]

    operations = [migrations.RunPython(hold, release)]
