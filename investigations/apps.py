"""The one Django app of the console."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class InvestigationsConfig(AppConfig):
    name = "investigations"
    label = "investigations"
    verbose_name = "Investigations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from investigations.access import make_roles
        from investigations.append_only import keep_append_only

        post_migrate.connect(make_roles, sender=self, dispatch_uid="investigations.make_roles")
        post_migrate.connect(keep_append_only, sender=self, dispatch_uid="investigations.keep_append_only")
