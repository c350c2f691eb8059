"""Four roles, and what each may do."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from investigations.access import (
    NotAllowed,
    Permission,
    can,
    cluster_for,
    investigation_for,
    permissions_of,
    require,
    run_for,
)
from investigations.models import Investigation
from tests.investigations.people import person

pytestmark = pytest.mark.django_db

P = Permission
MAY = {
    "": set(),
    "viewer": {P.VIEW, P.RAW_LOG},
    "analyst": {P.VIEW, P.RAW_LOG, P.OPEN_JOB, P.RUN, P.REVIEW},
    "rule editor": {P.VIEW, P.RAW_LOG, P.OPEN_JOB, P.RUN, P.REVIEW, P.EDIT_RULES},
    "administrator": set(P),
}


@pytest.mark.parametrize("role", MAY)
@pytest.mark.parametrize("permission", P)
def test_a_role_permits_what_it_should_and_nothing_more(role, permission):
    user = person("someone", role)
    assert can(user, permission) == (permission in MAY[role])
    if permission not in MAY[role]:
        with pytest.raises(NotAllowed):
            require(user, permission)


def test_nobody_signed_in_may_do_nothing():
    assert permissions_of(AnonymousUser()) == frozenset()


def test_a_deactivated_administrator_may_do_nothing():
    user = person("gone", "administrator")
    user.is_active = False
    assert permissions_of(user) == frozenset()


def test_an_account_without_a_role_finds_nothing_there(judged_run):
    stranger = person("stranger")
    investigation = judged_run.investigation
    assert not Investigation.objects.visible_to(stranger).exists()
    for fetch in (
        lambda: investigation_for(stranger, investigation.pk),
        lambda: run_for(stranger, investigation.pk, 1),
        lambda: cluster_for(stranger, "atlas"),
    ):
        with pytest.raises(Http404):
            fetch()


def test_a_viewer_sees_what_is_there(judged_run, viewer):
    investigation = judged_run.investigation
    assert investigation_for(viewer, investigation.pk) == investigation
    assert run_for(viewer, investigation.pk, 1) == judged_run
    with pytest.raises(Http404):
        run_for(viewer, investigation.pk, 2)
