"""The addresses of the console's pages. Names are not prefixed: `queue`, `investigation`, `log`."""

from django.urls import include, path

urlpatterns = [
    path("", include("investigations.jobs.urls")),
    path("investigations/<int:pk>/", include("investigations.runs.urls")),
    path("investigations/<int:pk>/", include("investigations.review.urls")),
]
