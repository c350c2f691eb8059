"""One pass of what the scheduler of periodic work does."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from investigations.jobs.discovery import ask_cluster
from investigations.jobs.models import Cluster
from investigations.runs.sweep import sweep


class Command(BaseCommand):
    help = "Queue again what no living worker holds; with --discover also ask the schedulers for newly failed jobs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--discover", action="store_true")

    def handle(self, **options: Any) -> None:
        self.stdout.write(f"{len(sweep())} runs queued again.")
        if not options["discover"]:
            return
        for cluster in Cluster.objects.all():
            found = ask_cluster(cluster)
            if found is None:
                self.stdout.write(f"{cluster.slug}: a worker is asking it right now.")
                continue
            self.stdout.write(f"{cluster.slug}: {found.new} new jobs, {found.known} known.")
            for problem in found.problems:
                self.stdout.write(f"    {problem['connector']}: {problem['what']} {problem['remedy']}")
