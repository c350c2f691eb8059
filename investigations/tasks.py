"""Every Celery task of the console, where the Celery application looks for them."""

from investigations.jobs.tasks import discover, discover_on
from investigations.runs.tasks import advance_run, sweep

__all__ = ["advance_run", "discover", "discover_on", "sweep"]
