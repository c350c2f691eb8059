"""The system's own Chromium, driven by Playwright. Without one the tests are skipped, and the summary says so."""

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)


def executable() -> str | None:
    """The path of a Chromium on this machine; CHROMIUM names one that is not on the PATH."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole run."""
    path = executable()
    if path is None:
        pytest.skip("no Chromium on this machine (apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server: object) -> Iterator[Page]:
    """A page at 1366 x 768 with the live server as its base address.

    Afterwards the test fails if the browser logged an error (a script's, or a breach of the Content-Security-Policy) or
    asked another host for anything. `page.errors` may be cleared by a test that provokes one.
    """
    context = chromium.new_context(base_url=str(live_server), viewport={"width": 1366, "height": 768})
    context.set_default_timeout(15_000)
    page = context.new_page()
    errors: list[str] = []

    def heed(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    def heed_request(request: Request) -> None:
        if urlsplit(request.url).scheme in ("http", "https") and not request.url.startswith(str(live_server)):
            errors.append(f"asked another host: {request.url}")

    page.on("console", heed)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", heed_request)
    page.errors = errors  # type: ignore[attr-defined]
    yield page
    context.close()
    assert errors == []
