"""Setting clusters and connectors up, from a page or the command line."""

import io

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from investigations.access import NotAllowed, roles_of
from investigations.errors import InvalidInput
from investigations.jobs.clusters import add_cluster, change_cluster, disable_connector, probe_connector, set_connector
from investigations.models import AuditEvent, Cluster, ConnectorConfig, Investigation

pytestmark = pytest.mark.django_db


def run(*arguments, **options):
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def test_a_cluster_keeps_its_time_zone(administrator):
    cluster = add_cluster(administrator, "atlas", "Atlas", "Europe/Berlin")
    change_cluster(administrator, cluster, timezone="America/New_York")
    assert Cluster.objects.get().zone.key == "America/New_York"
    assert AuditEvent.objects.filter(actor=administrator).count() == 2


@pytest.mark.parametrize(
    ("slug", "zone", "field"),
    [
        ("atlas", "Mars/Olympus", "timezone"),
        ("At las", "UTC", "slug"),
        ("", "UTC", "slug"),
        ("atlas", "CET ", "timezone"),
    ],
)
def test_a_cluster_that_makes_no_sense_is_refused_by_field(administrator, slug, zone, field):
    with pytest.raises(InvalidInput) as refused:
        add_cluster(administrator, slug, "Atlas", zone)
    assert refused.value.field == field


def test_a_slug_is_taken_once(administrator):
    add_cluster(administrator, "atlas", "Atlas")
    with pytest.raises(InvalidInput):
        add_cluster(administrator, "atlas", "Other")


def test_setting_a_connector_again_replaces_its_settings(administrator, tmp_path):
    cluster = add_cluster(administrator, "atlas", "Atlas")
    set_connector(administrator, cluster, "bundles", {"path": "/srv/old"})
    set_connector(administrator, cluster, "bundles", {"path": "/srv/new"})
    assert ConnectorConfig.objects.get().config["path"] == "/srv/new"


@pytest.mark.parametrize("config", [{}, {"path": "relative"}, {"path": "/srv", "color": "red"}])
def test_settings_that_the_connector_does_not_take_are_refused(administrator, config):
    cluster = add_cluster(administrator, "atlas", "Atlas")
    with pytest.raises(InvalidInput) as refused:
        set_connector(administrator, cluster, "bundles", config)
    assert refused.value.field in ("path", "color")
    assert not ConnectorConfig.objects.exists()


def test_an_unknown_kind_of_connector_is_refused(administrator):
    cluster = add_cluster(administrator, "atlas", "Atlas")
    with pytest.raises(InvalidInput, match="nosuch"):
        set_connector(administrator, cluster, "nosuch", {})


def test_the_test_button_tells_what_is_wrong_and_keeps_it(administrator, tmp_path):
    cluster = add_cluster(administrator, "atlas", "Atlas")
    row = set_connector(administrator, cluster, "bundles", {"path": str(tmp_path / "none")})
    answer = probe_connector(administrator, row)
    assert not answer["ok"]
    assert answer["remedy"]
    row.refresh_from_db()
    assert row.last_probe == answer


def test_others_than_administrators_set_up_nothing(analyst, administrator):
    cluster = add_cluster(administrator, "atlas", "Atlas")
    row = set_connector(administrator, cluster, "bundles", {"path": "/srv"})
    for act in (
        lambda: add_cluster(analyst, "b", "B"),
        lambda: change_cluster(analyst, cluster, name="B"),
        lambda: set_connector(analyst, cluster, "bundles", {"path": "/"}),
        lambda: disable_connector(analyst, row),
        lambda: probe_connector(analyst, row),
    ):
        with pytest.raises(NotAllowed):
            act()


def test_a_cluster_is_pointed_at_its_files_from_the_command_line(tmp_path):
    (tmp_path / "bundles").mkdir()
    settings = tmp_path / "bundles.yaml"
    settings.write_text(f"path: {tmp_path / 'bundles'}\n")
    run("cluster", "add", "atlas", "--name", "Atlas", "--timezone", "Europe/Berlin")
    run("connector", "set", "atlas", "bundles", str(settings))
    assert "bundles" in run("connector", "list", "atlas")
    assert "Europe/Berlin" in run("cluster", "list")
    with pytest.raises(CommandError, match="cannot be used"):  # the folder holds no bundle yet
        run("connector", "test", "atlas")
    run("connector", "disable", "atlas", "Bundle folders")
    assert not ConnectorConfig.objects.get().enabled
    assert AuditEvent.objects.filter(actor=None, actor_name="operator, command line").exists()


def test_every_kind_of_connector_lists_its_settings():
    told = run("connector", "kinds")
    assert all(kind in told for kind in ("bundles", "files", "slurm"))


def test_a_user_is_made_with_a_role_and_a_password_from_a_file(tmp_path):
    file = tmp_path / "password"
    file.write_text("a long enough phrase\n")
    run("create_user", "admin", role="administrator", password_file=str(file))
    user = get_user_model().objects.get()
    assert user.check_password("a long enough phrase")
    assert roles_of(user) == {"administrator"}
    with pytest.raises(CommandError, match="already"):
        run("create_user", "admin", password_file=str(file))


@pytest.mark.parametrize("password", ["", "short\n"])
def test_a_bad_password_makes_no_user(tmp_path, password):
    file = tmp_path / "password"
    file.write_text(password)
    with pytest.raises(CommandError):
        run("create_user", "admin", password_file=str(file))
    assert not get_user_model().objects.exists()


def test_the_sample_cluster_is_loaded_and_judged_once(settings, tmp_path, monkeypatch):
    settings.BUNDLES_DIR = tmp_path
    monkeypatch.setattr("investigations.runs.services.send", lambda run_id, messages=1: None)
    run("sample_cluster", "--here")
    investigations = Investigation.objects.select_related("latest_run")
    assert investigations.count() >= 12
    assert {one.runs.get().state for one in investigations} == {"done"}
    assert {"attributed", "insufficient_evidence", "no_failure"} <= {one.standing for one in investigations}
    assert "0 of them new" in run("sample_cluster")
