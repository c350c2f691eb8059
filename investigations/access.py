"""Who may do what: four roles, held as Django groups, and the gateways through which objects are fetched.

Somebody who may not see a thing gets 404; somebody who sees it but may not change it gets 403.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group
from django.db.models import Model, QuerySet
from django.http import Http404

from investigations.errors import NotAllowed

if TYPE_CHECKING:
    from investigations.models import Cluster, Investigation, Run


class Operator:
    """Whoever runs a management command. They hold the database and the settings already, so nothing is refused."""

    is_authenticated = is_active = is_superuser = True
    pk = None

    def get_username(self) -> str:
        return "operator, command line"


AnyUser = AbstractBaseUser | AnonymousUser | Operator
M = TypeVar("M", bound=Model)


def account(user: AnyUser | None) -> AbstractBaseUser | None:
    """The account to note for an act: None for the system and for an operator at the command line."""
    return user if isinstance(user, AbstractBaseUser) else None


class Permission(StrEnum):
    VIEW = "view"
    RAW_LOG = "view_raw_log"
    OPEN_JOB = "open_job"
    RUN = "run"
    REVIEW = "review"
    EDIT_RULES = "edit_rules"
    ADMINISTER = "administer"


_VIEWER = frozenset({Permission.VIEW, Permission.RAW_LOG})
_ANALYST = _VIEWER | {Permission.OPEN_JOB, Permission.RUN, Permission.REVIEW}

ROLES: dict[str, frozenset[Permission]] = {
    "viewer": _VIEWER,
    "analyst": _ANALYST,
    "rule editor": _ANALYST | {Permission.EDIT_RULES},
    "administrator": frozenset(Permission),
}


def make_roles(**_: Any) -> None:
    """Create the groups that stand for the roles. Called after every migration; does nothing when they exist."""
    for role in ROLES:
        Group.objects.get_or_create(name=role)


def roles_of(user: AnyUser) -> frozenset[str]:
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    known = getattr(user, "_first_fault_roles", None)
    if known is None:
        known = frozenset(user.groups.filter(name__in=ROLES).values_list("name", flat=True))  # type: ignore[union-attr]
        user._first_fault_roles = known  # type: ignore[union-attr]
    return known


def permissions_of(user: AnyUser) -> frozenset[Permission]:
    if user.is_authenticated and user.is_active and getattr(user, "is_superuser", False):
        return frozenset(Permission)
    return frozenset().union(*(ROLES[role] for role in roles_of(user)))


def can(user: AnyUser, permission: Permission) -> bool:
    return permission in permissions_of(user)


def can_view(user: AnyUser) -> bool:
    return can(user, Permission.VIEW)


def require(user: AnyUser, permission: Permission) -> None:
    if not can(user, permission):
        raise NotAllowed(f"Your role does not permit this: {permission.value.replace('_', ' ')}.")


def visible_to(queryset: QuerySet[M], user: AnyUser) -> QuerySet[M]:
    """Every role sees every cluster; an account without a role sees nothing."""
    return queryset if can_view(user) else queryset.none()


class VisibleQuerySet(QuerySet[M]):
    def visible_to(self, user: AnyUser) -> VisibleQuerySet[M]:
        return visible_to(self, user)  # type: ignore[return-value]


def cluster_for(user: AnyUser, slug: str) -> Cluster:
    from investigations.models import Cluster

    cluster = Cluster.objects.visible_to(user).filter(slug=slug).first()
    if cluster is None:
        raise Http404("No such cluster.")
    return cluster


def investigation_for(user: AnyUser, pk: int) -> Investigation:
    from investigations.models import Investigation

    found = Investigation.objects.visible_to(user).select_related("job", "cluster", "owner", "latest_run")
    investigation = found.filter(pk=pk).first()
    if investigation is None:
        raise Http404("No such investigation.")
    return investigation


def run_for(user: AnyUser, pk: int, number: int) -> Run:
    from investigations.models import Run

    found = Run.objects.visible_to(user).select_related("investigation__job", "investigation__cluster")
    run = found.filter(investigation_id=pk, number=number).first()
    if run is None:
        raise Http404("No such run.")
    return run
