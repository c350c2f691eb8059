"""The main flow in a real browser, with a real worker process behind it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from investigations.jobs.clusters import set_connector
from tests.investigations.jobs import a_cluster
from tests.pages.conftest import BUNDLE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOTS = Path(__file__).parents[1] / "browser" / "screenshots"


def keep(page, name):
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


@pytest.mark.worker
def test_from_a_job_number_to_a_verdict_to_its_log_line_to_a_review(
    celery_worker, page, sign_in, analyst, administrator
):
    set_connector(administrator, a_cluster("sample"), "bundles", {"path": str(BUNDLE.parent)}, "Sample bundles")
    sign_in(analyst)
    expect(page.get_by_role("heading", name="No failed job yet")).to_be_visible()

    page.keyboard.press("n")
    expect(page.get_by_role("dialog").get_by_label("Job number")).to_be_focused()
    page.keyboard.type("88213")
    page.keyboard.press("Enter")
    page.wait_for_url("**/investigations/*/")

    # Whether the progress is still seen depends on how fast the worker is; the verdict arrives without a reload.
    answer = page.locator("h1#ans")
    expect(answer).to_contain_text("gpu-node-07", timeout=60_000)
    expect(answer.locator("em")).to_contain_text("gpu-node-07, GPU")
    expect(page.locator(".tl-plot .main-svg").first).to_be_visible()
    keep(page, "verdict")

    page.locator(".why .ref").first.click()
    expect(page.locator("a.ev[aria-current=true]")).to_be_visible()
    line = page.locator(".log li.on")
    expect(line).to_contain_text("NETIR_LINK_EVT")
    expect(line.locator("mark").first).to_contain_text("Xid")

    page.keyboard.press("e")
    expect(page.locator("a.ev[aria-current=true]").first).not_to_have_attribute("data-ev", "E1")

    page.keyboard.press("c")
    expect(page.locator(".review .state")).to_contain_text("Confirmed")
    expect(page.locator("#activity")).to_contain_text("mika")

    page.keyboard.press("o")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Culprit: node, switch or server")).to_have_value("gpu-node-07")
    dialog.get_by_label("Cause").fill("gpu_link_down")
    dialog.get_by_label("Why, for the next person").fill("Line 25 names the far end.")
    dialog.get_by_role("button", name="Save override").click()
    expect(page.locator(".review .state")).to_contain_text("Overridden")
    expect(page.locator("#activity")).to_contain_text("Line 25 names the far end.")

    page.goto("/")
    expect(page.locator("#rows")).to_contain_text("Overridden")
    keep(page, "queue")


def test_progress_is_shown_without_reloading_and_turns_into_the_page(page, sign_in, analyst, worked):
    from tests.pages.conftest import a_live_run

    run = a_live_run(worked.investigation)
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    expect(page.locator("#progress")).to_be_visible()
    keep(page, "progress")
    problem = {"what": "The scheduler did not answer.", "where": "sacct on login1", "remedy": "Run again later."}
    type(run).objects.filter(pk=run.pk).update(state="failed", problem=problem)
    expect(page.locator("h1#ans")).to_contain_text("ended without a verdict")
    expect(page.locator("#investigation")).to_contain_text("Run again later.")
    expect(page.locator("#say")).to_contain_text("without a verdict")
    assert page.locator("[data-poll]").count() == 0


def test_watching_can_be_paused(page, sign_in, analyst, worked):
    from tests.pages.conftest import a_live_run

    run = a_live_run(worked.investigation)
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    page.keyboard.press("p")
    expect(page.locator("#poll-pause")).to_have_attribute("aria-pressed", "true")
    type(run).objects.filter(pk=run.pk).update(state="failed")
    page.wait_for_timeout(1500)
    expect(page.locator("#progress")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("h1#ans")).to_be_visible()


def test_the_timeline_zooms_pans_and_unfolds_by_keys_and_buttons(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    window = page.locator("#tl-window")
    expect(page.locator(".tl-plot .main-svg").first).to_be_visible()
    story = window.text_content()
    page.keyboard.press("1")
    expect(window).not_to_have_text(story)
    expect(page.get_by_role("button", name="Fault", exact=True)).to_have_attribute("aria-pressed", "true")
    fault = window.text_content()
    page.keyboard.press("=")
    expect(window).not_to_have_text(fault)
    near = window.text_content()
    page.keyboard.press("]")
    expect(window).not_to_have_text(near)
    page.keyboard.press("2")
    expect(window).to_have_text(story)
    page.get_by_role("button", name="Fold gpu-node-07").click()
    expect(page.get_by_role("button", name="Unfold gpu-node-07")).to_be_focused()
    expect(page.locator(".lane", has_text="GPU 3")).to_have_count(0)
    page.keyboard.press("t")
    expect(page.locator(".tl-note")).to_contain_text("hollow marks show the times as logged")


def test_a_window_is_set_by_typing_two_times(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    expect(page.locator(".tl-plot .main-svg").first).to_be_visible()
    page.locator("summary", has_text="10:12").click()
    page.get_by_label("From (UTC)").fill("2026-03-11 10:02:11.4")
    page.get_by_label("To (UTC)").fill("2026-03-11 10:02:11.9")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#tl-window")).to_have_text("11 Mar 2026, 10:02:11.400 to 10:02:11.900 UTC")


def test_dragging_over_the_timeline_zooms_into_it(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    expect(page.locator(".tl-plot .main-svg").first).to_be_visible()
    before = page.locator("#tl-window").text_content()
    box = page.locator(".tl-plot").bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 120)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 130, steps=5)
    page.mouse.up()
    expect(page.locator("#tl-window")).not_to_have_text(before)


def test_choosing_evidence_in_another_log_brings_that_log(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    page.locator("a.ev[data-ev=E6]").click()
    expect(page.locator("#log")).to_have_attribute("data-stream", "applog/slurm-88213.out")
    expect(page.locator(".log li.on")).to_contain_text("Connection closed by remote peer")


def test_a_permalink_leads_to_its_line(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/runs/1/log/?stream=syslog/gpu-node-07.log&line=48#L48")
    expect(page.locator("#L48")).to_be_in_viewport()
    expect(page.locator("#L48")).to_have_class(re.compile(r"\bon\b"))
    page.get_by_role("link", name="Earlier lines").click()
    expect(page.locator("#L10")).to_be_attached()


def test_the_list_of_keys_is_made_from_the_page_and_keys_can_be_switched_off(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.goto(f"/investigations/{worked.investigation_id}/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text("Confirm the verdict")
    expect(keys).to_contain_text("Next evidence")
    page.keyboard.press("Escape")
    page.get_by_label("Signed in as mika").click()
    page.get_by_role("button", name="Single-key shortcuts").click()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("o")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_rows_of_the_queue_are_reached_by_keys_alone(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.keyboard.press("j")
    expect(page.locator("#rows a").first).to_be_focused()
    page.keyboard.press("o")
    page.wait_for_url(f"**/investigations/{worked.investigation_id}/")


def test_filtering_changes_the_list_and_the_address_and_keeps_the_focus(page, sign_in, analyst, worked):
    sign_in(analyst)
    page.get_by_label("Verdict").focus()
    page.get_by_label("Verdict").select_option("ambiguous")
    expect(page.get_by_role("heading", name="No job fits")).to_be_visible()
    assert "standing=ambiguous" in page.url
    expect(page.locator("#f-standing")).to_be_focused()
    expect(page.locator("#say")).to_contain_text("0 jobs")
