"""``manage.py rules check [PACK...]``: load packs, run their examples, and name every fault by file and line."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rules import PackError, load_pack
from rules.check import check
from rules.pack import CORE


class Command(BaseCommand):
    help = "Work with rule packs. `check` runs every example and rejects rules that could not be trusted."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["check"])
        parser.add_argument("packs", nargs="*", type=Path, metavar="PACK", help="local packs, laid over the core")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            pack = load_pack(CORE, *options["packs"])
            faults = check(pack)
        except PackError as error:
            faults = list(error.faults)
        for fault in faults:
            self.stderr.write(str(fault))
        if faults:
            raise CommandError(f"{len(faults)} found. Nothing of this pack should be used until they are mended.")
        lines = sum(len(s.model.examples.match) + len(s.model.examples.no_match) for s in pack.signatures)
        bundles = sum(len(r.bundles) for r in pack.rules)
        self.stdout.write(
            f"{pack.name} {pack.version}: {len(pack.rules)} rules, {len(pack.signatures)} signatures,"
            f" {lines} example lines, {bundles} example bundles: all as they should be."
        )
