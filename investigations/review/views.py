"""Confirm, override, mark ambiguous, cannot tell, label, comment, assign, retract."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views import View

from investigations.access import Permission, investigation_for, require, run_for
from investigations.errors import InvalidInput, ServiceError
from investigations.jobs.models import Investigation
from investigations.review import services
from investigations.review.context import cause_list, places
from investigations.review.forms import (
    AmbiguousForm,
    CommentForm,
    LabelForm,
    NoteForm,
    OverrideForm,
    RetractForm,
    WhyForm,
)
from investigations.review.models import Review


class ReviewView(View):
    """Show the form on GET, hand it to the service on POST, go back to the investigation when it is saved."""

    kind: ClassVar[str]
    form_class: ClassVar[type[forms.Form]]
    heading: ClassVar[str]
    done: ClassVar[str]

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        require(request.user, Permission.REVIEW)
        investigation = investigation_for(request.user, pk)
        run = investigation.latest_run
        chosen = places(run.verdict)["chosen"] if run and run.verdict else {}
        initial = {"run": run.number if run else None, "node": chosen.get("node"), "device": chosen.get("device")}
        initial |= {key: request.GET[key] for key in request.GET}
        return self._page(request, investigation, self.form_class(initial=initial))

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        investigation = investigation_for(request.user, pk)
        form = self.form_class(request.POST)
        if not form.is_valid():
            return self._page(request, investigation, form, status=422)
        try:
            self.save(request, investigation, form)
        except InvalidInput as wrong:
            form.add_error(wrong.field if wrong.field in form.fields else None, str(wrong))
            return self._page(request, investigation, form, status=422)
        except ServiceError as problem:
            return self._page(request, investigation, form, status=409, problem=problem)
        messages.success(request, self.done)
        return self._back(investigation, form)

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        """What the act does with a valid form: each kind of review says so itself."""
        raise NotImplementedError

    def _back(self, investigation: Investigation, form: Any) -> HttpResponse:
        number = form.cleaned_data.get("run")
        latest = investigation.runs.first()
        if number and latest and latest.number != number:
            return redirect("investigation-run", pk=investigation.pk, number=number)
        return redirect("investigation", pk=investigation.pk)

    def _page(
        self, request: HttpRequest, investigation: Investigation, form: Any, status: int = 200, **more: Any
    ) -> HttpResponse:
        run = investigation.latest_run
        verdict = run.verdict if run else None
        context = {
            "inv": investigation,
            "job": investigation.job,
            "form": form,
            "kind": self.kind,
            "heading": self.heading,
            "causes": cause_list(),
            "section": "queue",
            **(places(verdict) if verdict else {}),
            **more,
        }
        return render(request, "review/form.html", context, status=status)


class ConfirmView(ReviewView):
    kind, form_class = "confirm", NoteForm
    heading, done = "Confirm the verdict", "Confirmed."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        run = run_for(request.user, investigation.pk, form.cleaned_data["run"])
        services.confirm(request.user, run, why=form.cleaned_data["why"])


class OverrideView(ReviewView):
    kind, form_class = "override", OverrideForm
    heading, done = "Override the verdict", "Overridden. The engine's verdict stays in the trail."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        run = run_for(request.user, investigation.pk, form.cleaned_data["run"])
        data = form.cleaned_data
        services.override(request.user, run, cause=data["cause"], culprits=form.culprits(), why=data["why"])


class AmbiguousView(ReviewView):
    kind, form_class = "ambiguous", AmbiguousForm
    heading, done = "Mark as ambiguous", "Marked as ambiguous."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        run = run_for(request.user, investigation.pk, form.cleaned_data["run"])
        services.mark_ambiguous(request.user, run, why=form.cleaned_data["why"], causes=form.cleaned_data["causes"])


class CannotTellView(ReviewView):
    kind, form_class = "cannot-tell", WhyForm
    heading, done = "Cannot tell", "Noted that the evidence does not show the cause."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        run = run_for(request.user, investigation.pk, form.cleaned_data["run"])
        services.cannot_tell(request.user, run, why=form.cleaned_data["why"])


class LabelView(ReviewView):
    kind, form_class = "label", LabelForm
    heading, done = "Add a label", "Label added."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        services.add_label(request.user, investigation, form.cleaned_data["label"])


class UnlabelView(ReviewView):
    kind, form_class = "unlabel", LabelForm
    heading, done = "Remove a label", "Label removed."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        services.remove_label(request.user, investigation, form.cleaned_data["label"])


class CommentView(ReviewView):
    kind, form_class = "comment", CommentForm
    heading, done = "Comment", "Comment added."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        number = form.cleaned_data.get("run")
        run = run_for(request.user, investigation.pk, number) if number else None
        services.comment(request.user, investigation, form.cleaned_data["text"], run=run)


class RetractView(ReviewView):
    kind, form_class = "retract", RetractForm
    heading, done = "Take a review back", "Taken back. Both stay in the trail."

    def save(self, request: HttpRequest, investigation: Investigation, form: Any) -> None:
        review = get_object_or_404(Review, pk=form.cleaned_data["review"], investigation=investigation)
        services.retract(request.user, review, why=form.cleaned_data["why"])


class AssignView(View):
    """Take the investigation, or let it go when one has it already."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        investigation = investigation_for(request.user, pk)
        try:
            if request.POST.get("to") == "nobody":
                services.assign(request.user, investigation, None)
                messages.success(request, "Nobody owns this investigation now.")
            else:
                services.take(request.user, investigation)
                messages.success(request, "You own this investigation now.")
        except ServiceError as problem:
            messages.error(request, str(problem))
        return redirect("investigation", pk=pk)
