"""Load the sample cluster: failures from public reports, made anonymous, to look around with."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from investigations.access import Operator
from investigations.jobs.clusters import add_cluster, set_connector
from investigations.jobs.models import Cluster
from investigations.jobs.services import register_discovered
from investigations.runs.models import Run
from investigations.runs.steps import advance_fully
from telemetry.bundle import open_bundle

SAMPLES = Path(__file__).parents[2] / "samples"


class Command(BaseCommand):
    help = "Create the sample cluster and open each of its failed jobs. Doing it again opens only what is not open yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="wait for the workers' verdicts")
        parser.add_argument("--here", action="store_true", help="do the workers' part in this process")

    def handle(self, *, wait: float, here: bool, **options: Any) -> None:
        index = yaml.safe_load((SAMPLES / "index.yaml").read_text(encoding="utf-8"))
        cluster = self._cluster(**index["cluster"])
        opened = []
        for name in index["bundles"]:
            with open_bundle(SAMPLES / "bundles" / name) as bundle:
                opened.append(register_discovered(cluster, bundle.job))
        new = sum(one.created for one in opened)
        self.stdout.write(f"{cluster.name}: {len(opened)} failed jobs, {new} of them new.")
        runs = [one.run.pk for one in opened if one.run is not None]
        if here:
            for run_id in runs:
                advance_fully(run_id)
        # Workers that run at the same time may have taken some of the steps.
        left = self._wait(runs, max(wait, 60.0) if here else wait)
        if left and wait:
            self.stdout.write(f"{left} of them are still being looked at.")

    def _cluster(self, slug: str, name: str, timezone: str) -> Cluster:
        cluster = Cluster.objects.filter(slug=slug).first() or add_cluster(Operator(), slug, name, timezone)
        set_connector(Operator(), cluster, "bundles", {"path": str(SAMPLES / "bundles")}, "Sample bundles")
        return cluster

    def _wait(self, runs: list[int], seconds: float) -> int:
        deadline = time.monotonic() + seconds
        while left := Run.objects.filter(pk__in=runs, state__in=Run.ACTIVE).count():
            if time.monotonic() >= deadline:
                break
            time.sleep(0.2)
        return left
