"""Settings. Nothing needs to be set: a checkout works as it stands, an installation sets what differs.

    SECRET_KEY        signs sessions and form tokens; made and kept by `make run`; a production server must have one
    DATABASE_URL      postgresql://... ; without it SQLite in the data folder
    REDIS_URL         redis://... or unix:///... ; without it the socket of the Valkey that `make run` starts
    DJANGO_DEBUG      1 shows tracebacks on error pages; never on a machine that others reach
    FIRST_FAULT_URL   the address that users type, https://faults.example.org; host names and cookie rules follow
    FIRST_FAULT_DATA  the folder for everything that is kept: bundles, SQLite, keys, the Valkey socket
    FIRST_FAULT_ROOTS     folders that connectors may read, comma-separated; without it their own settings say
    FIRST_FAULT_PROGRAMS  what a connector's command may start with, comma-separated; without it sacct and ssh

Each of the first three can be given as NAME_FILE too, naming a file that holds the value (a mounted secret).
Importing this module reads the environment and writes nothing.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from environs import Env

from attribution import services

env = Env()


def _secret(name: str, default: str = "") -> str:
    """The variable `name`, or what stands in the file that `name`_FILE names."""
    file = env.str(f"{name}_FILE", "")
    if not file:
        return env.str(name, default)
    try:
        return Path(file).read_text().strip()
    except OSError as wrong:
        raise ImproperlyConfigured(f"{name}_FILE: cannot read {file}: {wrong.strerror}") from wrong


PROJECT = Path(__file__).resolve().parent
ROOT = PROJECT.parent
INSTALLED = (PROJECT / "templates").is_dir()  # a wheel carries templates and static files inside this package
SHIPPED = PROJECT if INSTALLED else ROOT
DATA = Path(env.str("FIRST_FAULT_DATA", "") or (Path.cwd() if INSTALLED else ROOT) / "data").absolute()
BUNDLES_DIR = DATA / "bundles"

DEBUG = env.bool("DJANGO_DEBUG", False)

# Without a key commands still work, with one made for this process alone; wsgi.py refuses to serve with it.
SECRET_KEY = _secret("SECRET_KEY")
SECRET_KEY_IS_TEMPORARY = not SECRET_KEY
if SECRET_KEY_IS_TEMPORARY:
    SECRET_KEY = get_random_secret_key()

# One address, from which the host names and what can be demanded of the connection follow. Unset means a production
# server behind TLS on this machine's own name; `make run` sets http://127.0.0.1:PORT.
URL = env.str("FIRST_FAULT_URL", "") or ("http://localhost:8000" if DEBUG else f"https://{os.uname().nodename}")
_address = urlsplit(URL)
if _address.scheme not in ("http", "https") or not _address.hostname:
    raise ImproperlyConfigured(
        f"FIRST_FAULT_URL is {URL!r}; give the whole address, such as https://faults.example.org"
    )
HTTPS = _address.scheme == "https"
ALLOWED_HOSTS = [_address.hostname, "localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [f"{_address.scheme}://{_address.netloc}"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "csp",
    "investigations",
    "attribution",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "attribution.urls"
WSGI_APPLICATION = "attribution.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [SHIPPED / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": services.database(_secret("DATABASE_URL") or f"sqlite:///{DATA / 'first-fault.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = _secret("REDIS_URL") or f"unix://{DATA / 'run' / 'valkey.sock'}"
# A broker that takes a connection and says nothing must not hold a page: the sweep sends again what could not be sent.
BROKER_SECONDS = 5
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": services.cache(REDIS_URL),
        "KEY_PREFIX": "first-fault",
        "OPTIONS": {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS},
    }
}

# The run's row is the truth and every step can be repeated, so a message is acknowledged only when its work is done,
# and one that a killed worker held may come twice. The sweep queues again what has no living lease.
CELERY_BROKER_URL = services.broker(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 2 * 60 * 60,
    "socket_keepalive": True,
    "socket_connect_timeout": BROKER_SECONDS,
    "socket_timeout": BROKER_SECONDS,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 55 * 60
CELERY_TASK_TIME_LIMIT = 60 * 60
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
FIRST_FAULT = {
    "SWEEP_SECONDS": 30,
    "DISCOVERY_SECONDS": 300,
    "ROOTS": env.list("FIRST_FAULT_ROOTS", []),
    "PROGRAMS": env.list("FIRST_FAULT_PROGRAMS", []),
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "investigations.sweep", "schedule": FIRST_FAULT["SWEEP_SECONDS"]},
    "discover": {"task": "investigations.discover", "schedule": FIRST_FAULT["DISCOVERY_SECONDS"]},
}

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [SHIPPED / "static"]
STATIC_ROOT = DATA / "static"
# Names with a digest are made by `collectstatic`, which `make run` does; with DEBUG files are served as they stand.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# No inline script or style and no other host, so nothing has to be allowed by exception.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if HTTPS else 0
# The proxy that ends TLS must set this header itself, and drop one that a client sent.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
# Sub-domains and the browsers' preload list concern a site's other services too, so they are the site's to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}
