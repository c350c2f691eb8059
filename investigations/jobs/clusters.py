"""Setting up clusters and their connectors. For administrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from connectors.config import dump_config, parse_config
from connectors.errors import ConnectorError, Misconfigured
from investigations.access import AnyUser, Permission, require
from investigations.audit.services import record
from investigations.errors import InvalidInput
from investigations.jobs.connectors import context, ready, registry
from investigations.jobs.models import Cluster, ConnectorConfig


def add_cluster(user: AnyUser, slug: str, name: str, timezone: str = "UTC") -> Cluster:
    """Raises InvalidInput for a slug that is taken or a zone that IANA does not know."""
    require(user, Permission.ADMINISTER)
    return _save(user, Cluster(slug=slug, name=name or slug, timezone=timezone), "added cluster")


def change_cluster(user: AnyUser, cluster: Cluster, name: str | None = None, timezone: str | None = None) -> Cluster:
    require(user, Permission.ADMINISTER)
    cluster.name = name or cluster.name
    cluster.timezone = timezone or cluster.timezone
    return _save(user, cluster, "changed cluster")


def _save(user: AnyUser, cluster: Cluster, action: str) -> Cluster:
    try:
        cluster.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise InvalidInput(messages[0], f"Cluster, {field}", "Correct it and save again.", field=field) from None
    with transaction.atomic():
        cluster.save(update_fields=["name", "timezone"] if cluster.pk else None)
        record(user, action, cluster, name=cluster.name, timezone=cluster.timezone)
    return cluster


def set_connector(
    user: AnyUser,
    cluster: Cluster,
    kind: str,
    config: Mapping[str, Any],
    name: str | None = None,
    enabled: bool = True,
    discovers: bool = True,
) -> ConnectorConfig:
    """Add a connector, or replace the settings of the one with this kind and name.

    Secrets in `config` are references (`env:NAME`, `file:/path`); the connector's own model refuses anything else.
    Raises InvalidInput naming the fields that do not hold.
    """
    require(user, Permission.ADMINISTER)
    try:
        connector = registry().get(kind)
        kept = dump_config(parse_config(connector, config))
    except Misconfigured as error:
        field = next(iter(error.fields), "")
        raise InvalidInput(error.what, error.where, error.remedy, field=field) from None
    except ConnectorError as error:
        raise InvalidInput(error.what, f"connector of cluster {cluster.slug}", error.remedy, field="kind") from None
    with transaction.atomic():
        row, created = ConnectorConfig.objects.update_or_create(
            cluster=cluster,
            kind=kind,
            name=name or connector.label,
            defaults={"config": kept, "enabled": enabled, "discovers": discovers, "last_probe": None},
            create_defaults={
                "config": kept,
                "enabled": enabled,
                "discovers": discovers,
                "position": cluster.connectors.count(),
            },
        )
        record(user, "added connector" if created else "changed connector", row, kind=kind, config=kept)
    return row


def disable_connector(user: AnyUser, row: ConnectorConfig) -> None:
    """Stop using it. The row stays: runs refer to it."""
    require(user, Permission.ADMINISTER)
    with transaction.atomic():
        ConnectorConfig.objects.filter(pk=row.pk).update(enabled=False)
        record(user, "disabled connector", row)


def probe_connector(user: AnyUser, row: ConnectorConfig) -> dict[str, Any]:
    """Try the connector now and keep the answer.

    {ok, what, where, remedy, checks: [{name, ok, reason, remedy, sample}]}; the first three are empty when it works.
    """
    require(user, Permission.ADMINISTER)
    try:
        found = ready(row)
    except ConnectorError as error:
        answer = {"ok": False, "what": error.what, "where": error.where, "remedy": error.remedy, "checks": []}
    else:
        report = found.connector.probe(found.config, context(row.cluster))
        failure = report.failure
        answer = {
            "what": failure.reason if failure else "",
            "where": failure.name if failure else "",
            "remedy": failure.remedy if failure else "",
            **report.as_dict(),
        }
    with transaction.atomic():
        ConnectorConfig.objects.filter(pk=row.pk).update(last_probe=answer, last_probe_at=timezone.now())
        record(user, "tested connector", row, ok=answer["ok"])
    return answer
