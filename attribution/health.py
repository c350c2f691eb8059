"""Whether the process lives, and whether it can do its work. Neither needs a sign-in or tells details."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis, RedisError


@login_not_required
@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """200 as long as the web server answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when the database and the broker answer, else 503; `{"database": bool, "broker": bool}`."""
    parts = {"database": _database_answers(), "broker": _broker_answers()}
    return JsonResponse(parts, status=200 if all(parts.values()) else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _broker_answers() -> bool:
    client = Redis.from_url(settings.CACHES["default"]["LOCATION"], socket_timeout=2, socket_connect_timeout=2)
    try:
        return bool(client.ping())
    except RedisError:
        return False
    finally:
        client.close()
