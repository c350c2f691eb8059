"""Clusters and their connectors, with the test of a connector."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views import View

from investigations.access import Permission, can, require
from investigations.jobs.clusters import probe_connector
from investigations.jobs.models import ConnectorConfig
from investigations.jobs.queries import clusters_for


class ClustersView(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        clusters = clusters_for(request.user)
        connectors = ConnectorConfig.objects.filter(cluster__in=[cluster.pk for cluster in clusters])
        groups = [
            (c, [row for row in connectors.order_by("position", "pk") if row.cluster_id == c.pk]) for c in clusters
        ]
        context = {
            "groups": groups,
            "may_test": can(request.user, Permission.ADMINISTER),
            "section": "clusters",
        }
        return render(request, "jobs/clusters.html", context)


class ProbeView(View):
    """Test one connector. htmx gets its row, a plain form goes back to the page."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        require(request.user, Permission.ADMINISTER)
        row = get_object_or_404(ConnectorConfig, pk=pk, cluster__in=[c.pk for c in clusters_for(request.user)])
        probe_connector(request.user, row)
        row.refresh_from_db()
        if request.htmx:
            return render(request, "jobs/clusters.html#connector", {"row": row, "may_test": True, "fresh": True})
        return redirect("clusters")
