"""DATABASE_URL and REDIS_URL, read into what Django and Celery want.

postgresql://user:password@host:5432/name?sslmode=require
postgresql://user@/name?host=/var/run/postgresql        (a unix socket)
sqlite:////var/lib/first-fault/console.sqlite3          (four slashes: an absolute path)
redis://:password@host:6379/0    rediss://host:6380/0    unix:///run/valkey.sock?db=0
"""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from django.core.exceptions import ImproperlyConfigured


def database(url: str) -> dict[str, Any]:
    """Django's DATABASES entry for `url`; ImproperlyConfigured names what is wrong with it, never the password."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(Path(unquote(parts.path)[1:] or ":memory:"))
    if parts.scheme in ("postgres", "postgresql"):
        return _postgresql(parts)
    raise ImproperlyConfigured(
        f"DATABASE_URL begins with {parts.scheme or 'no scheme'!r}; give postgresql://... or sqlite:///path"
    )


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        # WAL lets the web server read while a worker writes. IMMEDIATE takes the write lock when a transaction begins,
        # so that two writers wait for each other instead of failing half-way.
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
        },
    }


def _postgresql(parts: Any) -> dict[str, Any]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    try:
        port = parts.port
    except ValueError as wrong:
        raise ImproperlyConfigured("DATABASE_URL: the port is not a number") from wrong
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no database: postgresql://user@host/NAME")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or unquote(parts.hostname or ""),
        "PORT": options.pop("port", None) or str(port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def broker(url: str) -> str:
    """`url` as Celery spells it: redis+socket:// for a unix socket, with the database as virtual_host."""
    parts = urlsplit(url)
    if parts.scheme in ("redis", "rediss"):
        return url
    if parts.scheme in ("unix", "redis+socket"):
        options = dict(parse_qsl(parts.query))
        number = options.pop("db", None) or options.pop("virtual_host", "0")
        return f"redis+socket://{parts.path}?{urlencode({'virtual_host': number, **options})}"
    raise ImproperlyConfigured(
        f"REDIS_URL begins with {parts.scheme or 'no scheme'!r}; give redis://, rediss:// or unix:///path/to.sock"
    )


def cache(url: str) -> str:
    """`url` as redis-py spells it: unix:// for a unix socket, with the database as db."""
    parts = urlsplit(url)
    if parts.scheme in ("redis", "rediss"):
        return url
    options = dict(parse_qsl(parts.query))
    number = options.pop("virtual_host", None) or options.pop("db", "0")
    return f"unix://{parts.path}?{urlencode({'db': number, **options})}"
