"""The web application for gunicorn or any WSGI server."""

import os

from django.core.exceptions import ImproperlyConfigured
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "attribution.settings")
application = get_wsgi_application()

from django.conf import settings  # noqa: E402 - settings can be read only once the application is set up

if settings.SECRET_KEY_IS_TEMPORARY and not settings.DEBUG:
    raise ImproperlyConfigured("SECRET_KEY is not set. Give it 50 random characters, the same for every process.")
