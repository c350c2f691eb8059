"""The forms by which a person judges a verdict. Each knows how to hand itself to its service."""

import re

from django import forms

from investigations import taxonomy

WHY = {"required": "Say why, for the next person: which line decides it?"}
_BETWEEN_CAUSES = re.compile(r"[,;\n]")


class CauseField(forms.CharField):
    """A cause by its slug or by its words, as the list suggests them."""

    def clean(self, value: str) -> str:
        text = super().clean(value)
        cause = _cause(text)
        if text and cause is None:
            raise forms.ValidationError(f"There is no cause “{text}”. Choose one of the list.")
        return cause or ""


def _cause(text: str) -> str | None:
    slug = text.strip()
    if slug in taxonomy.ALL_CAUSES:
        return slug
    lowered = slug.lower()
    return next((cause for cause in taxonomy.ALL_CAUSES if taxonomy.words(cause).lower() == lowered), None)


class NoteForm(forms.Form):
    """A decision that may be explained."""

    run = forms.IntegerField(widget=forms.HiddenInput)
    why = forms.CharField(required=False, max_length=4000)


class WhyForm(forms.Form):
    """A decision that must be explained."""

    run = forms.IntegerField(widget=forms.HiddenInput)
    why = forms.CharField(max_length=4000, error_messages=WHY)


class OverrideForm(WhyForm):
    cause = CauseField(max_length=80, error_messages={"required": "Name the cause; the list knows all of them."})
    node = forms.CharField(required=False, max_length=200)
    device = forms.CharField(required=False, max_length=120)

    def culprits(self) -> list[dict[str, str | None]]:
        node, device = self.cleaned_data["node"].strip(), self.cleaned_data["device"].strip()
        return [{"node": node or None, "device": device or None}] if node or device else []


class AmbiguousForm(WhyForm):
    causes = forms.CharField(required=False, max_length=400)

    def clean_causes(self) -> list[str]:
        found = []
        for text in self._typed():
            cause = _cause(text)
            if cause is None:
                raise forms.ValidationError(
                    f"There is no cause “{text}”. Write the names of the list, with commas between."
                )
            found.append(cause)
        return found

    def _typed(self) -> list[str]:
        """Words may hold spaces (GPU hang); slugs may stand with nothing but a space between them."""
        parts = [part.strip() for part in _BETWEEN_CAUSES.split(self.cleaned_data["causes"])]
        typed: list[str] = []
        for part in filter(None, parts):
            pieces = part.split()
            typed += [part] if _cause(part) or None in map(_cause, pieces) else pieces
        return typed


class LabelForm(forms.Form):
    label = forms.CharField(max_length=60, error_messages={"required": "Write the label."})


class CommentForm(forms.Form):
    text = forms.CharField(max_length=10_000, error_messages={"required": "Write the comment first."})
    run = forms.IntegerField(required=False, widget=forms.HiddenInput)


class RetractForm(forms.Form):
    review = forms.IntegerField(widget=forms.HiddenInput)
    why = forms.CharField(max_length=4000, error_messages={"required": "Say why it is taken back."})
