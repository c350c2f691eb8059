"""The queue of failed jobs, and opening a job by its number."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views import View

from investigations.access import Permission, can, require
from investigations.errors import ServiceError, SeveralJobs
from investigations.jobs.filters import QueueFilters
from investigations.jobs.forms import OpenJobForm
from investigations.jobs.models import Investigation
from investigations.jobs.queries import QueuePage, clusters_for, lost_gpu_hours, queue, queue_tabs
from investigations.jobs.services import open_job

FILTER_WORDS = {
    "cluster": "Cluster",
    "standing": "Verdict",
    "domain": "Domain",
    "sub_domain": "Area",
    "owner": "Owner",
    "label": "Label",
    "due": "Due",
    "missing": "Without",
    "q": "Search",
    "unreviewed": "Not reviewed",
}


class QueueView(View):
    """Without filters the page opens on what still needs a person. htmx gets the rows alone."""

    def get(self, request: HttpRequest) -> HttpResponse:
        filters = QueueFilters.from_query(request.GET)
        page = queue(request.user, filters, cursor=request.GET.get("after"))
        context = self._list_context(request, page)
        if request.htmx and not request.htmx.boosted:
            return render(request, "jobs/queue.html#list", context)
        clusters = context["clusters"]
        return render(
            request,
            "jobs/queue.html",
            context
            | {
                "lost": lost_gpu_hours(request.user),
                "may_open": can(request.user, Permission.OPEN_JOB) and bool(clusters),
                "form": OpenJobForm(clusters=clusters),
                "section": "queue",
            },
        )

    def _list_context(self, request: HttpRequest, page: QueuePage) -> dict[str, Any]:
        chosen = page.filters.as_query()
        tabs = [
            {"tab": tab, "href": f"?{urlencode(tab.query)}", "here": tab.query == chosen}
            for tab in queue_tabs(request.user)
        ]
        chips = [
            {
                "name": FILTER_WORDS[name],
                "value": "" if name == "unreviewed" else value,
                "without": f"?{urlencode({key: v for key, v in chosen.items() if key != name})}",
            }
            for name, value in chosen.items()
        ]
        return {
            "page": page,
            "filters": page.filters,
            "clusters": clusters_for(request.user),
            "standings": Investigation.Standing.choices,
            "tabs": tabs,
            "chips": chips,
            "next_href": f"?{urlencode({**chosen, 'after': page.next_cursor})}" if page.next_cursor else "",
            "first_href": f"?{urlencode(chosen)}",
        }


class OpenJobView(View):
    """Open a job by cluster and number: a page of its own, and the target of the queue's dialog."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require(request.user, Permission.OPEN_JOB)
        clusters = clusters_for(request.user)
        asked = {"cluster": request.GET.get("cluster", ""), "job": request.GET.get("job", "")}
        return self._page(request, OpenJobForm(initial=asked, clusters=clusters))

    def post(self, request: HttpRequest) -> HttpResponse:
        require(request.user, Permission.OPEN_JOB)
        form = OpenJobForm(request.POST, clusters=clusters_for(request.user))
        if not form.is_valid():
            return self._page(request, form, status=422)
        try:
            opened = open_job(request.user, form.cleaned_data["cluster"], form.cleaned_data["job"])
        except SeveralJobs as several:
            return self._page(request, form, problem=several, choices=several.choices, status=422)
        except ServiceError as problem:
            return self._page(request, form, problem=problem, status=422)
        if not opened.created:
            messages.info(request, "This job is open already.")
        return redirect("investigation", pk=opened.investigation.pk)

    def _page(self, request: HttpRequest, form: OpenJobForm, status: int = 200, **more: Any) -> HttpResponse:
        return render(request, "jobs/open.html", {"form": form, "section": "queue"} | more, status=status)
