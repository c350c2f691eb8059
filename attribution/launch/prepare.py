"""Brings a data folder up to date before the web server starts: tables, static files, the first user.

Run as a process of its own by the launcher, `python -m attribution.launch.prepare`, so that the launcher itself never
loads Django and stays small.
"""

import hashlib
import os
import sys
from pathlib import Path

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "attribution.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    collect_static()
    make_first_user()


def collect_static() -> None:
    """Collect and compress the static files, unless those collected last time came from the same sources."""
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders
    from django.core.management import call_command

    sources = hashlib.sha256(sys.version.encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            file = Path(storage.path(path)).stat()
            sources.update(f"{path}\0{file.st_size}\0{file.st_mtime_ns}\n".encode())
    stamp = Path(settings.STATIC_ROOT) / ".sources"
    if stamp.is_file() and stamp.read_text() == sources.hexdigest():
        return
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(sources.hexdigest())


def make_first_user() -> None:
    """An administrator whose password the launcher has put in the data folder, unless somebody can sign in already."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    if not get_user_model().objects.exists():
        call_command("create_user", "admin", role="administrator", password_file=str(settings.DATA / "password"))


if __name__ == "__main__":
    main()
