"""Set up the connectors of a cluster."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from investigations.access import Operator
from investigations.errors import ServiceError
from investigations.jobs.clusters import disable_connector, probe_connector, set_connector
from investigations.jobs.connectors import registry
from investigations.jobs.models import Cluster, ConnectorConfig


class Command(BaseCommand):
    help = "Set, test, switch off or list connectors: `connector set atlas slurm slurm.yaml`, `connector test atlas`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("kinds", help="the connectors that there are, with their settings")
        for action in ("list", "test"):
            actions.add_parser(action).add_argument("cluster")
        change = actions.add_parser("set", help="add a connector, or replace the settings of the one of that name")
        change.add_argument("cluster")
        change.add_argument("kind")
        change.add_argument(
            "file", help="YAML or JSON with the connector's settings; secrets as env:NAME or file:/path"
        )
        change.add_argument("--name", default="")
        change.add_argument("--no-discovery", action="store_true", help="do not list failed jobs through it")
        disable = actions.add_parser("disable")
        disable.add_argument("cluster")
        disable.add_argument("name")

    def handle(self, *, action: str, **options: Any) -> None:
        try:
            getattr(self, f"_{action}")(**options)
        except ServiceError as error:
            raise CommandError(str(error)) from None

    def _kinds(self, **options: Any) -> None:
        for connector in registry().all():
            self.stdout.write(f"{connector.slug}  {connector.label}: {', '.join(sorted(connector.capabilities))}")
            for name, field in connector.Config.model_fields.items():
                self.stdout.write(f"    {name}: {field.description or field.title or ''}")
        for plugin in registry().broken:
            self.stderr.write(f"{plugin.name} ({plugin.module}) could not be taken in: {plugin.reason}")

    def _list(self, cluster: str, **options: Any) -> None:
        for row in self._cluster(cluster).connectors.all():
            self.stdout.write(f"{row.kind}  {row.name}  {'on' if row.enabled else 'off'}  {row.config}")

    def _set(self, cluster: str, kind: str, file: str, name: str, no_discovery: bool, **options: Any) -> None:
        try:
            settings = yaml.safe_load(Path(file).read_text(encoding="utf-8")) or {}
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from None
        if not isinstance(settings, dict):
            raise CommandError(f"{file}: give the connector's settings as `name: value` lines.")
        row = set_connector(
            Operator(), self._cluster(cluster), kind, settings, name or None, discovers=not no_discovery
        )
        self.stdout.write(f"{row.name}: set. Try it with `connector test {cluster}`.")

    def _test(self, cluster: str, **options: Any) -> None:
        failed = 0
        for row in self._cluster(cluster).connectors.filter(enabled=True):
            answer = probe_connector(Operator(), row)
            failed += not answer["ok"]
            self.stdout.write(f"{row.name}: {'works' if answer['ok'] else 'FAILED'}")
            for check in answer["checks"]:
                self.stdout.write(f"    {'ok ' if check['ok'] else 'NOT'} {check['name']} {check['sample']}".rstrip())
            if not answer["ok"]:
                self.stdout.write(f"    {answer['what']} {answer['remedy']}")
        if failed:
            raise CommandError(f"{failed} of the connectors cannot be used.")

    def _disable(self, cluster: str, name: str, **options: Any) -> None:
        row = ConnectorConfig.objects.filter(cluster=self._cluster(cluster), name=name).first()
        if row is None:
            raise CommandError(f"Cluster {cluster} has no connector {name}.")
        disable_connector(Operator(), row)
        self.stdout.write(f"{row.name}: off.")

    def _cluster(self, slug: str) -> Cluster:
        cluster = Cluster.objects.filter(slug=slug).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {slug}. Add it with `cluster add {slug}`.")
        return cluster
