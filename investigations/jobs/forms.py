"""The form that opens a job."""

from typing import Any

from django import forms

from investigations.jobs.models import Cluster


class OpenJobForm(forms.Form):
    cluster = forms.ModelChoiceField(queryset=Cluster.objects.none(), to_field_name="slug", empty_label=None)
    job = forms.CharField(
        max_length=100,
        error_messages={"required": "Give the job's number, such as 88213, 10_3 for an array task, or namespace/name."},
    )

    def __init__(self, *args: Any, clusters: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["cluster"].queryset = Cluster.objects.filter(pk__in=[cluster.pk for cluster in clusters])
