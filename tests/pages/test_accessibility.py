"""axe finds nothing on any page, wide and narrow, light and dark; and nothing scrolls sideways on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db import transaction

from investigations.jobs.clusters import set_connector
from investigations.review import services
from tests.investigations.jobs import a_cluster, a_finished_run, an_investigation
from tests.pages import verdicts
from tests.pages.conftest import BUNDLE, a_live_run, with_verdict

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OPTIONS = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
SIZES = [(1280, 900), (390, 844)]
MODES = ["light", "dark"]


def findings(page):
    page.evaluate("window.scrollTo(0, 0)")
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [f"{item['id']}: {node['html'][:160]}" for item in found for node in item["nodes"]]


def walk(page, addresses, sizes=SIZES, modes=MODES):
    """Every address in every size and mode; what axe finds, and pages wider than the window."""
    wrong = []
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        for mode in modes:
            page.emulate_media(color_scheme=mode)
            for address in addresses:
                page.goto(address)
                if page.locator("#timeline").count():
                    page.locator(".tl-plot .main-svg").first.wait_for()
                wrong += [f"{address} {width} {mode} {found}" for found in findings(page)]
                if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                    wrong.append(f"{address} is wider than {width} px")
    return wrong


@pytest.mark.slow
def test_axe_finds_nothing_on_any_page(page, sign_in, administrator):
    set_connector(administrator, a_cluster("sample"), "bundles", {"path": str(BUNDLE.parent)}, "Sample bundles")
    worked = with_verdict(verdicts.worked_example())
    services.confirm(administrator, worked)
    services.comment(administrator, worked.investigation, "Tray swapped.")
    ambiguous = with_verdict(verdicts.ambiguous(), "88214")
    insufficient = with_verdict(verdicts.insufficient(), "88215")
    busy = verdicts.worked_example()
    busy["evidence"] += [
        verdicts.evidence(n, "symptom", f"Peer {n} lost", "network", "10:02:12", line=n, node="gpu-node-05")
        for n in range(11, 45)
    ]
    crowded = with_verdict(busy, "88218")
    live = a_live_run(an_investigation("88216"))
    with transaction.atomic():
        failed = a_finished_run(an_investigation("88217"), state="failed")
    base = f"/investigations/{worked.investigation_id}/"
    assert walk(page, ["/sign-in/"]) == []
    sign_in(administrator)
    addresses = ["/", "/?q=nothing", "/jobs/open/", "/clusters/", base, f"{base}override/", f"{base}label/"]
    addresses += [f"{base}runs/1/log/?stream=syslog/gpu-node-07.log&line=24"]
    addresses += [
        f"/investigations/{run.investigation_id}/" for run in (ambiguous, insufficient, crowded, live, failed)
    ]
    assert walk(page, addresses) == []


def test_axe_finds_nothing_on_error_pages(page, sign_in, viewer):
    sign_in(viewer)
    assert walk(page, ["/nothing/here/", "/jobs/open/"], modes=["light"]) == []
    page.errors.clear()  # the browser logs the 404 and the 403 themselves


def test_axe_finds_nothing_in_open_dialogs_menus_and_details(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    for key in ("?", "o", "m", "u", "l"):
        page.keyboard.press(key)
        page.get_by_role("dialog").wait_for()
        assert findings(page) == [], key
        page.keyboard.press("Escape")
    page.get_by_text("The same as a table").click()
    page.get_by_label("Signed in as mika").click()
    assert findings(page) == []


def test_the_page_is_usable_by_keyboard_alone(page, sign_in, analyst, worked):
    """The first stop is the way past the bar, and every control can be reached and seen."""
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    hidden = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => { const e = document.activeElement, r = e.getBoundingClientRect();
            const top = document.elementFromPoint(r.x + r.width / 2, r.y + Math.min(r.height, 12) / 2 + 1);
            return e === document.body || !top || e.contains(top) || top.contains(e) || r.width === 0
                ? '' : e.outerHTML.slice(0, 120); }"""
        )
        if seen:
            hidden.append(seen)
    assert hidden == []
