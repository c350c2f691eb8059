"""Emptying the append-only tables between tests that commit. Production never does it and has no way to."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test import TransactionTestCase

from investigations.append_only import drop_triggers


@contextmanager
def tables_can_be_emptied() -> Iterator[None]:
    """Take the triggers away just before a committing test's tables are flushed; `flush` then sends post_migrate, which
    puts them back, so every test meets them."""
    flush = TransactionTestCase._fixture_teardown

    def flush_without_triggers(self: TransactionTestCase) -> None:
        drop_triggers(connection)
        flush(self)

    TransactionTestCase._fixture_teardown = flush_without_triggers
    yield
    TransactionTestCase._fixture_teardown = flush
