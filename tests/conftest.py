"""Fixtures for every test: the database and broker, a real worker process, a real browser."""

from collections.abc import Iterator

import pytest

from tests.services import environment, servers
from tests.services.browser import chromium, executable, page
from tests.services.worker import _worker, celery_worker

__all__ = ["_worker", "celery_worker", "chromium", "page"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The database server starts when the first test needs it."""
    servers.need_postgresql()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The test database, whose append-only tables can be emptied between tests."""
    from tests.services.append_only import tables_can_be_emptied

    with tables_can_be_emptied():
        yield


@pytest.fixture(scope="session")
def redis_server() -> None:
    """The Valkey server at REDIS_URL."""
    servers.need_valkey()


def pytest_sessionstart(session: pytest.Session) -> None:
    if getattr(session.config.option, "numprocesses", None):  # several processes share the servers of this one
        servers.need_postgresql()
        servers.need_valkey()


def pytest_unconfigure(config: pytest.Config) -> None:
    servers.end()


def pytest_report_header(config: pytest.Config) -> list[str]:
    database = "PostgreSQL of the tests" if environment.OWN_POSTGRESQL else "from DATABASE_URL"
    broker = "Valkey of the tests" if environment.OWN_VALKEY else "from REDIS_URL"
    return [f"database: {database}; broker: {broker}; browser: {executable() or 'NONE'}"]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None] | None:
    skipped = terminalreporter.stats.get("skipped", [])
    without = [report for report in skipped if "no Chromium" in str(report.longrepr)]
    if without:
        terminalreporter.section("NO BROWSER", sep="!", red=True, bold=True)
        terminalreporter.line(f"{len(without)} tests in a real browser were NOT run: no Chromium was found.", red=True)
        terminalreporter.line("Install it (apt install chromium), or name one in CHROMIUM, and run the tests again.")
    return None
