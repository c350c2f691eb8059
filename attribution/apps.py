"""Makes the Celery application the current one in every process that sets Django up, so that `task.delay` finds it."""

from django.apps import AppConfig


class Attribution(AppConfig):
    name = "attribution"

    def ready(self) -> None:
        from attribution import celery  # noqa: F401 - creating the application is the purpose
