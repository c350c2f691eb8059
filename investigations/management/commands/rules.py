"""``manage.py rules``: check packs, explain a verdict, and print the JSON Schema of a rule for editors."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rules import PackError, load_pack
from rules.check import check
from rules.pack import CORE, Fault, Pack
from rules.schema import RuleModel
from rules.trace import explain
from telemetry.bundle import BundleError, open_bundle


class Command(BaseCommand):
    help = "Work with rule packs."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        checking = actions.add_parser("check", help="run every example; name what is wrong by file and line")
        checking.add_argument("packs", nargs="*", type=Path, metavar="PACK", help="local packs, laid over the core")
        explaining = actions.add_parser("explain", help="print how a bundle's verdict comes about")
        explaining.add_argument("bundle", type=Path, metavar="BUNDLE")
        explaining.add_argument("--pack", type=Path, action="append", default=[], help="a local pack over the core")
        actions.add_parser("schema", help="print the JSON Schema of one rule document, for editors")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "schema":
            self.stdout.write(json.dumps(RuleModel.model_json_schema(), indent=2))
        elif options["action"] == "explain":
            self._explain(options["bundle"], options["pack"])
        else:
            self._check(options["packs"])

    def _explain(self, path: Path, packs: list[Path]) -> None:
        try:
            with open_bundle(path) as bundle:
                for line in explain(bundle, load_pack(CORE, *packs)):
                    self.stdout.write(line)
        except BundleError as error:
            raise CommandError(f"{error.what} ({error.where}). {error.remedy}") from error
        except PackError as error:
            raise CommandError(f"The rule pack cannot be used:\n{error}") from error

    def _check(self, packs: list[Path]) -> None:
        faults: list[Fault] = []
        pack: Pack | None = None
        try:
            pack = load_pack(CORE, *packs)
            faults = check(pack)
        except PackError as error:
            faults = list(error.faults)
        for fault in faults:
            self.stderr.write(str(fault))
        if faults or pack is None:
            raise CommandError(f"{len(faults)} found. Nothing of this pack should be used until they are mended.")
        lines = sum(len(s.model.examples.match) + len(s.model.examples.no_match) for s in pack.signatures)
        bundles = sum(len(r.bundles) for r in pack.rules)
        self.stdout.write(
            f"{pack.name} {pack.version}: {len(pack.rules)} rules, {len(pack.signatures)} signatures,"
            f" {lines} example lines, {bundles} example bundles: all as they should be."
        )
