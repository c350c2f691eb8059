"""``manage.py attribute PATH...``: the verdict on bundles, without database, broker or settings."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rules import PackError, attribute_path, core_pack, load_pack, verdict_schema
from rules.pack import CORE
from rules.report import report


class Command(BaseCommand):
    help = "Say which fault came first in each bundle (a folder or a .tar.zst), in the order given."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="bundle folders or archives")
        parser.add_argument("--json", action="store_true", help="one verdict a line, as JSON")
        parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a verdict and stop")
        parser.add_argument("--pack", type=Path, action="append", default=[], help="a local pack to lay over the core")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(json.dumps(verdict_schema(), indent=2))
            return
        if not options["paths"]:
            raise CommandError("Name at least one bundle: manage.py attribute PATH...")
        try:
            pack = load_pack(CORE, *options["pack"]) if options["pack"] else core_pack()
        except PackError as error:
            raise CommandError(f"The rule pack cannot be used:\n{error}") from error
        for number, path in enumerate(options["paths"]):
            verdict = attribute_path(path, pack)
            if options["json"]:
                self.stdout.write(verdict.as_json())
            else:
                self.stdout.write(("\n" if number else "") + report(verdict, str(path)))
