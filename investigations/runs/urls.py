"""One investigation, seen through one of its runs."""

from django.urls import path

from investigations.runs import views

urlpatterns = [
    path("", views.InvestigationView.as_view(), name="investigation"),
    path("run/", views.StartRunView.as_view(), name="run-start"),
    path("runs/<int:number>/", views.InvestigationView.as_view(), name="investigation-run"),
    path("runs/<int:number>/progress/", views.ProgressView.as_view(), name="run-progress"),
    path("runs/<int:number>/timeline/", views.TimelineView.as_view(), name="run-timeline"),
    path("runs/<int:number>/log/", views.LogView.as_view(), name="log"),
]
