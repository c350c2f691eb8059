"""One investigation: its page, the progress of a run, the timeline's window, the log viewer, and running again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views import View

from investigations.access import Permission, investigation_for, run_for
from investigations.errors import ServiceError
from investigations.reading import answer, coverage, lines, trail
from investigations.reading.beginning import beginning
from investigations.review.context import review_context
from investigations.runs.logs import log_window
from investigations.runs.progress import progress
from investigations.runs.queries import InvestigationPage, investigation_page
from investigations.runs.services import start_run
from investigations.timeline import View as TimelineWindow
from investigations.timeline import timeline


class InvestigationView(View):
    """The whole page for one run, the newest when no number is given."""

    def get(self, request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
        page = investigation_page(request.user, pk, number)
        template = "runs/investigation.html"
        return render(request, template, page_context(request, page))


def page_context(request: HttpRequest, page: InvestigationPage) -> dict[str, Any]:
    context: dict[str, Any] = {
        "page": page,
        "inv": page.investigation,
        "job": page.job,
        "run": page.run,
        "section": "queue",
        "may_run": Permission.RUN in page.permissions,
        "may_review": Permission.REVIEW in page.permissions,
        "may_read_logs": Permission.RAW_LOG in page.permissions,
        "earlier_verdict": _earlier_verdict(page),
    }
    context |= review_context(page)
    if page.verdict and page.run:
        window = TimelineWindow.from_query(request.GET)
        found = trail.rows(page.verdict)
        context |= {
            "verdict": page.verdict,
            "answer": answer.answer(page.verdict),
            "evidence": found,
            "trail": trail.folded(found),
            "matrix": coverage.matrix(page.verdict),
            "timeline": timeline(page.verdict, window),
            "timeline_url": reverse("run-timeline", args=[page.investigation.pk, page.run.number]),
            "log_url": reverse("log", args=[page.investigation.pk, page.run.number]),
        }
        if context["may_read_logs"]:
            context |= _first_log(request, page, found)
    return context


def _earlier_verdict(page: InvestigationPage) -> Any:
    """The newest other run that has a verdict, to read while this one has none."""
    if page.verdict or not page.run:
        return None
    return next((run for run in page.runs if run.verdict and run.number != page.run.number), None)


def _first_log(request: HttpRequest, page: InvestigationPage, rows: tuple[trail.Row, ...]) -> dict[str, Any]:
    """The log around the first piece of evidence that names a line."""
    first = next((row for row in rows if row.stream and row.line), None)
    if first is None or page.run is None:
        return {}
    try:
        window = log_window(request.user, page.run, first.stream, line=first.line)
    except ServiceError:
        return {}
    return _log_context(window, page.run)


def _log_context(window: Any, run: Any) -> dict[str, Any]:
    evidence = {item["id"]: item for item in (run.verdict or {}).get("evidence", ())}
    blamed = bool(run.verdict) and beginning(run.verdict).fault
    return {"window": window, "log_lines": lines.readable(window, evidence, blamed), "run": run}


class ProgressView(View):
    """The progress fragment. 204 while nothing changed; the last answer is the page's new content and polls no more."""

    def get(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        run = run_for(request.user, pk, number)
        state = progress(run)
        if not request.htmx:
            return redirect("investigation-run", pk=pk, number=number)
        if state.active:
            if request.GET.get("version") == state.version:
                return HttpResponse(status=204)
            return render(request, "runs/progress.html", {"run": run, "progress": state, "inv": run.investigation})
        page = investigation_page(request.user, pk, number)
        answered = render(request, "runs/investigation.html#content", page_context(request, page) | {"arrived": True})
        answered["HX-Retarget"] = "#investigation"
        answered["HX-Reswap"] = "outerHTML"
        return answered


class TimelineView(View):
    """The lanes and the figure for one window."""

    def get(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        run = run_for(request.user, pk, number)
        if request.headers.get("X-Requested-With") != "timeline":
            return redirect(f"{reverse('investigation-run', args=[pk, number])}?{request.GET.urlencode()}#timeline")
        drawn = timeline(run.verdict, TimelineWindow.from_query(request.GET)) if run.verdict else None
        return render(request, "runs/timeline.html#body", {"timeline": drawn, "run": run})


class LogView(View):
    """A window of a stored stream around a line: a panel for htmx, else a page of its own with the same panel."""

    def get(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        run = run_for(request.user, pk, number)
        window = log_window(
            request.user,
            run,
            request.GET.get("stream", "")[:1000],
            line=_whole(request.GET.get("line")),
            offset=_whole(request.GET.get("offset")),
            before=_whole(request.GET.get("before")) or 20,
            after=_whole(request.GET.get("after")) or 20,
        )
        context = _log_context(window, run) | {
            "inv": run.investigation,
            "job": run.investigation.job,
            "log_url": reverse("log", args=[pk, number]),
            "section": "queue",
        }
        return render(request, "runs/log.html#panel" if request.htmx else "runs/log.html", context)


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else None


class StartRunView(View):
    """Run again beside the earlier runs."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        investigation = investigation_for(request.user, pk)
        try:
            run = start_run(request.user, investigation, trigger="rerun")
        except ServiceError as problem:
            messages.error(request, str(problem))
            return redirect("investigation", pk=pk)
        return redirect("investigation-run", pk=pk, number=run.number)
