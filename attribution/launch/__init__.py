"""One command that runs the whole console on one machine: Valkey, a Celery worker, the web server."""
