"""The Celery application: `celery -A attribution.celery worker`, and `beat` for the periodic sweep.

A message carries the id of a row and nothing else; the row says what is to be done and what is done already.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "attribution.settings")

app = Celery("first-fault")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["investigations"])
