"""The four roles, as groups."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

ROLES = ["viewer", "analyst", "rule editor", "administrator"]


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    group = apps.get_model("auth", "Group")
    for role in ROLES:
        group.objects.using(schema_editor.connection.alias).get_or_create(name=role)


class Migration(migrations.Migration):
    dependencies = [("investigations", "0002_append_only"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
