"""Pages as the server writes them: the queue, an investigation, logs, reviews, clusters, errors."""

import pytest
from django.urls import reverse
from django.utils import timezone

from investigations.jobs.clusters import set_connector
from investigations.jobs.models import Investigation
from investigations.review import services
from tests.investigations.jobs import a_cluster, a_finished_run, an_investigation
from tests.pages import verdicts
from tests.pages.conftest import BUNDLE, a_live_run, with_verdict

pytestmark = pytest.mark.django_db


def text(answer):
    return answer.content.decode()


def test_the_queue_shows_each_failed_job_with_its_verdict(signed_in, worked):
    with_verdict(verdicts.ambiguous(), "88214")
    page = text(signed_in.get("/"))
    assert "NVLink signal-integrity fault (XID 149)" in page
    assert "gpu-node-07 GPU 3" in page
    assert "Ambiguous" in page


def test_the_queue_answers_htmx_with_the_list_alone(signed_in, worked):
    part = text(signed_in.get("/", headers={"HX-Request": "true"}))
    assert "<html" not in part
    assert 'id="queue-list"' in part


def test_filters_narrow_the_queue_and_each_can_be_taken_away(signed_in, worked):
    with_verdict(verdicts.ambiguous(), "88214")
    page = text(signed_in.get("/?standing=ambiguous&q=88214"))
    assert "GPU hang or stuck data loader" in page
    assert "NVLink signal-integrity" not in page
    assert 'href="?q=88214"' in page


def test_an_empty_queue_says_what_to_do_next(signed_in):
    assert "No failed job yet" in text(signed_in.get("/"))
    assert "No job fits" in text(signed_in.get("/?q=nothing"))


def test_older_jobs_are_one_link_away(signed_in):
    for number in range(53):
        an_investigation(str(1000 + number))
    first = signed_in.get("/")
    following = signed_in.get("/" + first.context["next_href"])
    assert len(first.context["page"].rows) == 50
    assert len(following.context["page"].rows) == 3
    assert "Newest" in text(following)


def test_a_viewer_cannot_open_jobs_or_review(client, viewer, worked):
    client.force_login(viewer)
    assert "Open job" not in text(client.get("/"))
    page = text(client.get(f"/investigations/{worked.investigation_id}/"))
    assert "Confirm" not in page
    assert client.get("/jobs/open/").status_code == 403
    assert client.post(f"/investigations/{worked.investigation_id}/confirm/", {"run": 1}).status_code == 403


def test_an_unknown_job_is_told_with_place_and_remedy(signed_in, administrator):
    cluster = a_cluster("sample")
    set_connector(administrator, cluster, "bundles", {"path": str(BUNDLE.parent)}, "Sample")
    answer = signed_in.post("/jobs/open/", {"cluster": "sample", "job": "999999"})
    assert answer.status_code == 422
    problem = answer.context["problem"]
    assert problem.what in answer.context["problem"].what
    assert problem.remedy
    assert 'role="alert"' in text(answer)
    assert 'value="999999"' in text(answer)


def test_a_job_number_must_be_given(signed_in):
    a_cluster("sample")
    answer = signed_in.post("/jobs/open/", {"cluster": "sample", "job": ""})
    assert answer.status_code == 422
    assert "Give the job" in text(answer)


def test_the_answer_comes_first_with_reasons_action_and_facts(signed_in, worked):
    page = text(signed_in.get(f"/investigations/{worked.investigation_id}/"))
    assert "<em>gpu-node-07, GPU\N{NO-BREAK SPACE}3</em>" in page.replace("&nbsp;", "\N{NO-BREAK SPACE}")
    assert "Drain gpu-node-07 and reset GPU 3" in page
    assert "serial 1653924017734" in page
    assert page.index('id="ans"') < page.index('id="timeline"') < page.index('id="ev-h"') < page.index('id="cov-h"')


def test_what_was_ruled_out_and_what_could_not_be_seen_are_told(signed_in, worked):
    page = text(signed_in.get(f"/investigations/{worked.investigation_id}/"))
    assert "Another process, 66 minutes earlier" in page
    assert "System log of gpu-node-08 missing" in page
    assert "Prometheus did not answer within 30 s." in page
    assert "Read the Fabric Manager log of gpu-node-07" in page


@pytest.mark.parametrize(
    ("make", "word", "edge"),
    [
        (verdicts.ambiguous, "Ambiguous", "edge-warn"),
        (verdicts.insufficient, "Insufficient evidence", "edge-mute"),
        (verdicts.no_failure, "No failure", "edge-mute"),
        (verdicts.worked_example, "Attributed", "edge-fault"),
    ],
)
def test_each_outcome_has_its_own_word_and_edge(signed_in, make, word, edge):
    run = with_verdict(make())
    page = text(signed_in.get(f"/investigations/{run.investigation_id}/"))
    assert word in page
    assert f"answer {edge}" in page


def test_candidates_of_an_ambiguous_verdict_stand_side_by_side(signed_in):
    run = with_verdict(verdicts.ambiguous())
    page = text(signed_in.get(f"/investigations/{run.investigation_id}/"))
    assert page.count('data-ev="E2" aria-label="Evidence E2"') >= 2
    assert "gpu_hang" in page
    assert "data_loader_failure" in page


def test_what_could_not_be_read_is_named_and_the_rest_stands(signed_in):
    run = with_verdict(verdicts.insufficient())
    page = text(signed_in.get(f"/investigations/{run.investigation_id}/"))
    assert "applog/rank7.out" in page
    assert "One line of 52 MB was cut." in page


def test_a_provisional_verdict_says_that_the_job_still_runs(signed_in):
    run = with_verdict(verdicts.worked_example() | {"provisional": True})
    assert "provisional: the job still runs" in text(signed_in.get(f"/investigations/{run.investigation_id}/"))


def test_a_run_that_failed_says_what_where_and_what_to_do(signed_in):
    run = a_finished_run(an_investigation(), state="failed")
    page = text(signed_in.get(f"/investigations/{run.investigation_id}/"))
    assert "ended without a verdict" in page
    assert "Re-run" in page


def test_only_an_administrator_sees_the_traceback_of_a_run_that_broke(client, analyst, administrator):
    run = a_live_run(an_investigation(), state="errored", finished_at=timezone.now(), traceback="KeyError: 'node'")
    for person, sees in ((analyst, False), (administrator, True)):
        client.force_login(person)
        page = text(client.get(f"/investigations/{run.investigation_id}/"))
        assert ("KeyError" in page) is sees


def test_a_verdict_in_which_no_line_has_a_time_is_shown_without_a_chart(signed_in):
    verdict = verdicts.insufficient()
    verdict["evidence"][0] |= {"time": None, "time_logged": None}
    run = with_verdict(verdict)
    page = text(signed_in.get(f"/investigations/{run.investigation_id}/"))
    assert 'id="timeline"' not in page
    assert "no time" in page


def test_hostile_text_in_a_verdict_is_escaped(signed_in):
    verdict = verdicts.worked_example()
    attack = "<script>alert(1)</script>"
    verdict |= {"summary": attack, "action": attack, "title": attack}
    verdict["evidence"][0] |= {"title": attack, "text": attack, "node": attack}
    run = with_verdict(verdict)
    for address in ("/", f"/investigations/{run.investigation_id}/"):
        assert attack not in text(signed_in.get(address))


def test_a_live_run_asks_for_its_progress_and_the_last_answer_does_not(signed_in):
    investigation = an_investigation()
    run = a_live_run(investigation)
    page = text(signed_in.get(f"/investigations/{investigation.pk}/"))
    assert 'hx-trigger="poll"' in page
    address = reverse("run-progress", args=[investigation.pk, run.number])
    version = signed_in.get(address, headers={"HX-Request": "true"}).context["progress"].version
    unchanged = signed_in.get(f"{address}?version={version}", headers={"HX-Request": "true"})
    assert unchanged.status_code == 204
    type(run).objects.filter(pk=run.pk).update(state="failed", problem={"what": "Gone.", "where": "", "remedy": ""})
    last = signed_in.get(f"{address}?version={version}", headers={"HX-Request": "true"})
    assert 'hx-trigger="poll"' not in text(last)
    assert last["HX-Retarget"] == "#investigation"


def test_progress_without_scripts_is_the_page_itself(signed_in):
    run = a_live_run(an_investigation())
    answer = signed_in.get(reverse("run-progress", args=[run.investigation_id, run.number]))
    assert answer.status_code == 302


def test_the_timeline_answers_a_zoom_with_the_window_alone(signed_in, worked):
    address = reverse("run-timeline", args=[worked.investigation_id, 1])
    part = text(signed_in.get(f"{address}?span=fault&width=500", headers={"X-Requested-With": "timeline"}))
    assert 'id="tl-figure"' in part
    assert "<html" not in part
    assert signed_in.get(f"{address}?span=fault").status_code == 302


def test_an_evidence_line_leads_to_the_log_in_context(signed_in, worked):
    address = reverse("log", args=[worked.investigation_id, 1])
    page = text(signed_in.get(f"{address}?stream=syslog/gpu-node-07.log&line=24"))
    assert 'id="L24"' in page
    assert 'id="L4"' in page
    assert "<mark>" in page
    assert "NETIR_LINK_EVT" in page


def test_a_hostile_log_is_shown_safely(signed_in, worked):
    nasty = worked.bundle_dir / "applog" / "nasty.log"
    nasty.write_bytes(b"\x1b[2J<img src=x onerror=alert(1)>\x00 \xe2\x80\xae gpj.exe \xff\xfe\n" * 3)
    page = text(signed_in.get(reverse("log", args=[worked.investigation_id, 1]) + "?stream=applog/nasty.log"))
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "U+202E" in page


@pytest.mark.parametrize("stream", ["../../../etc/passwd", "/etc/passwd", "", "applog/none.out"])
def test_a_log_that_is_not_in_the_run_is_not_found(signed_in, worked, stream):
    assert signed_in.get(reverse("log", args=[worked.investigation_id, 1]), {"stream": stream}).status_code == 404


def test_confirming_is_one_form_and_shows_in_the_trail(signed_in, worked):
    answer = signed_in.post(f"/investigations/{worked.investigation_id}/confirm/", {"run": 1}, follow=True)
    assert "Confirmed" in text(answer)
    assert Investigation.objects.get().standing == "confirmed"
    assert "mika" in text(answer)


def test_an_override_needs_a_known_cause_and_a_reason(signed_in, worked):
    address = f"/investigations/{worked.investigation_id}/override/"
    answer = signed_in.post(address, {"run": 1, "cause": "gremlins", "node": "gpu-node-07", "device": "", "why": ""})
    assert answer.status_code == 422
    assert "There is no cause “gremlins”" in text(answer)
    assert "Say why" in text(answer)
    assert 'value="gremlins"' in text(answer)
    assert Investigation.objects.get().standing == "attributed"


def test_an_override_takes_a_cause_by_slug_or_by_its_words(signed_in, worked):
    address = f"/investigations/{worked.investigation_id}/override/"
    signed_in.post(
        address, {"run": 1, "cause": "GPU link down", "node": "gpu-node-07", "device": "GPU 3", "why": "Line 25."}
    )
    found = Investigation.objects.get()
    assert (found.standing, found.decided_cause) == ("overridden", "gpu_link_down")


def test_the_override_page_works_without_scripts_and_begins_with_the_verdicts_culprit(signed_in, worked):
    page = text(signed_in.get(f"/investigations/{worked.investigation_id}/override/"))
    assert 'value="gpu-node-07"' in page
    assert '<option value="gpu_hang">' in page


def test_ambiguous_and_cannot_tell_need_a_reason_and_change_the_standing(signed_in, worked):
    base = f"/investigations/{worked.investigation_id}"
    assert signed_in.post(f"{base}/ambiguous/", {"run": 1, "why": ""}).status_code == 422
    signed_in.post(f"{base}/ambiguous/", {"run": 1, "why": "Both.", "causes": "gpu_hang, data_loader_failure"})
    assert Investigation.objects.get().standing == "ambiguous"
    signed_in.post(f"{base}/cannot-tell/", {"run": 1, "why": "No syslog."})
    assert Investigation.objects.get().standing == "insufficient_evidence"


def test_comments_and_labels_show_on_the_page(signed_in, worked):
    base = f"/investigations/{worked.investigation_id}"
    signed_in.post(f"{base}/comment/", {"text": "Tray <b>swapped</b>.", "run": 1})
    signed_in.post(f"{base}/label/", {"label": "rma"})
    page = text(signed_in.get(f"{base}/"))
    assert "Tray &lt;b&gt;swapped&lt;/b&gt;." in page
    assert "rma" in page
    assert "rma" in text(signed_in.get("/"))


def test_a_review_can_be_taken_back_and_both_stay_in_the_trail(signed_in, analyst, worked):
    review = services.confirm(analyst, worked)
    base = f"/investigations/{worked.investigation_id}"
    signed_in.post(f"{base}/retract/", {"review": review.pk, "why": "Wrong job."})
    assert Investigation.objects.get().standing == "attributed"
    assert "taken back" in text(signed_in.get(f"{base}/"))


def test_taking_and_letting_go(signed_in, worked):
    base = f"/investigations/{worked.investigation_id}"
    assert "Yours" in text(signed_in.post(f"{base}/assign/", {"to": "me"}, follow=True))
    assert "Take it" in text(signed_in.post(f"{base}/assign/", {"to": "nobody"}, follow=True))


def test_an_older_run_says_that_a_newer_one_exists(signed_in, worked):
    a_finished_run(worked.investigation, verdicts.worked_example())
    page = text(signed_in.get(f"/investigations/{worked.investigation_id}/runs/1/"))
    assert "run 2</a> is newer" in page
    assert "Run 1 of 2" in page


def test_an_administrator_tests_a_connector_and_sees_the_answer(client, administrator):
    row = set_connector(administrator, a_cluster("sample"), "bundles", {"path": str(BUNDLE.parent)}, "Sample bundles")
    client.force_login(administrator)
    assert "not tested yet" in text(client.get("/clusters/"))
    part = text(client.post(f"/connectors/{row.pk}/probe/", headers={"HX-Request": "true"}))
    assert f'id="connector-{row.pk}"' in part
    assert "works" in part


def test_others_see_clusters_without_the_test_button(signed_in, administrator):
    row = set_connector(administrator, a_cluster("sample"), "bundles", {"path": str(BUNDLE.parent)}, "Sample bundles")
    assert ">Test<" not in text(signed_in.get("/clusters/"))
    assert signed_in.post(f"/connectors/{row.pk}/probe/").status_code == 403


def test_a_page_that_is_not_there_leads_back(signed_in):
    answer = signed_in.get("/investigations/999/")
    assert answer.status_code == 404
    assert "Nothing here" in text(answer)


def test_a_wrong_password_is_told_plainly(client, analyst):
    page = text(client.post("/sign-in/", {"username": "mika", "password": "wrong"}))
    assert "do not go together" in page


def test_the_number_of_queries_does_not_grow_with_the_evidence(signed_in, django_assert_max_num_queries):
    run = with_verdict(verdicts.crowded(nodes=64, signals=400))
    with django_assert_max_num_queries(40):
        signed_in.get(f"/investigations/{run.investigation_id}/")
