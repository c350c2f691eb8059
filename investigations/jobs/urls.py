"""The queue, opening a job, and clusters with their connectors."""

from django.urls import path

from investigations.jobs import cluster_views, views

urlpatterns = [
    path("", views.QueueView.as_view(), name="queue"),
    path("jobs/open/", views.OpenJobView.as_view(), name="job-open"),
    path("clusters/", cluster_views.ClustersView.as_view(), name="clusters"),
    path("connectors/<int:pk>/probe/", cluster_views.ProbeView.as_view(), name="connector-probe"),
]
