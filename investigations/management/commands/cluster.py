"""Set up clusters."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from investigations.access import Operator
from investigations.errors import ServiceError
from investigations.jobs.clusters import add_cluster, change_cluster
from investigations.jobs.models import Cluster


class Command(BaseCommand):
    help = "Add, change or list clusters: `cluster add atlas --name Atlas --timezone Europe/Berlin`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for action in ("add", "change"):
            one = actions.add_parser(action)
            one.add_argument("slug")
            one.add_argument("--name", default="")
            one.add_argument("--timezone", default="UTC" if action == "add" else "", help="IANA name, as Europe/Berlin")
        actions.add_parser("list")

    def handle(self, *, action: str, **options: Any) -> None:
        if action == "list":
            for cluster in Cluster.objects.all():
                self.stdout.write(f"{cluster.slug}  {cluster.name}  {cluster.timezone}")
            return
        slug, name, zone = options["slug"], options["name"], options["timezone"]
        try:
            if action == "add":
                cluster = add_cluster(Operator(), slug, name, zone)
            else:
                cluster = change_cluster(Operator(), Cluster.objects.get(slug=slug), name, zone)
        except Cluster.DoesNotExist:
            raise CommandError(f"There is no cluster {slug}.") from None
        except ServiceError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{cluster.slug}: {cluster.name}, {cluster.timezone}")
