"""The command line `first-fault`, the same as `python manage.py` in a checkout."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "attribution.settings")
    if sys.argv[1:2] == ["run"]:
        from attribution.launch.__main__ import main as run

        sys.exit(run(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
