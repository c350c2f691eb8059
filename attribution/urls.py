"""Every address of the console: sign-in, health, and the pages of `investigations`."""

from django.contrib.auth import views as auth
from django.urls import include, path

from attribution import health

urlpatterns = [
    path("livez", health.live, name="livez"),
    path("readyz", health.ready, name="readyz"),
    path("sign-in/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("", include("investigations.urls")),
]
