"""The Django project: settings, addresses, Celery, and the commands that start the whole. Nothing else imports it."""
