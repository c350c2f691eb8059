"""What was said and judged cannot be rewritten, whichever way it is tried."""

import pytest
from django.db import IntegrityError, connection, transaction

from investigations.audit.services import record
from investigations.models import AuditEvent, Evidence, Review, Run
from investigations.review.services import comment, confirm

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def rows(judged_run, analyst):
    """One row of each append-only table."""
    confirm(analyst, judged_run)
    record(analyst, "looked", judged_run)
    return {
        Review: (Review.objects.last(), "why"),
        AuditEvent: (AuditEvent.objects.last(), "action"),
        Evidence: (Evidence.objects.last(), "text"),
        Run: (judged_run, "traceback"),
    }


@pytest.mark.parametrize("model", [Review, AuditEvent, Evidence, Run])
@pytest.mark.parametrize("way", ["update", "save", "delete", "queryset delete", "raw update", "raw delete"])
def test_a_written_row_stays_as_it_is(rows, model, way):
    row, field = rows[model]
    before = getattr(row, field)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        _try(way, model, row, field)
    row.refresh_from_db()
    assert getattr(row, field) == before


def _try(way, model, row, field):
    table = model._meta.db_table
    if way == "update":
        model.objects.filter(pk=row.pk).update(**{field: "other"})
    elif way == "save":
        setattr(row, field, "other")
        row.save()
    elif way == "delete":
        model.objects.filter(pk=row.pk)._raw_delete("default")
    elif way == "queryset delete":
        unguarded = model.objects.filter(pk=row.pk)
        if model is Run:  # the ORM itself refuses first, for what hangs on a run
            unguarded._raw_delete("default")
        else:
            unguarded.delete()
    else:
        verb = f"UPDATE {table} SET {field} = 'other'" if way == "raw update" else f"DELETE FROM {table}"
        with connection.cursor() as cursor:
            cursor.execute(f"{verb} WHERE id = %s", [row.pk])


def test_a_run_can_change_until_it_is_finished(investigation):
    from investigations.runs.services import begin_run

    run = begin_run(None, investigation, Run.Trigger.USER)
    Run.objects.filter(pk=run.pk).update(state=Run.State.COLLECTING)
    Run.objects.filter(pk=run.pk).update(state=Run.State.FAILED)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED)


def test_postgresql_does_not_truncate_them_either(rows):
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # rows of this transaction would else refuse it first
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute("TRUNCATE investigations_auditevent")


def test_rows_can_still_be_added(judged_run, analyst):
    comment(analyst, judged_run.investigation, "One.")
    comment(analyst, judged_run.investigation, "Two.")
    assert Review.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_it_holds_for_committed_rows_and_after_the_tables_were_emptied(turn, django_user_model):
    user = django_user_model.objects.create_user(f"user{turn}")
    record(user, "looked", user)
    with pytest.raises(IntegrityError, match="append-only"):
        AuditEvent.objects.update(action="other")
