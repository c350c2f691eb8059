"""The pages of real verdicts: every job of the sample cluster, judged by the engine as it stands."""

import pytest
from django.core.management import call_command

from investigations.jobs.models import Investigation
from investigations.timeline import View, timeline


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_sample_job_has_its_page_its_timeline_and_its_logs(client, analyst, redis_server, capsys):
    call_command("sample_cluster", here=True)
    client.force_login(analyst)
    assert client.get("/").status_code == 200
    investigations = list(Investigation.objects.all())
    assert len(investigations) >= 12
    for investigation in investigations:
        answer = client.get(f"/investigations/{investigation.pk}/")
        assert answer.status_code == 200
        verdict = answer.context["verdict"]
        assert answer.context["answer"].word
        assert "".join(part.text for part in answer.context["answer"].sentence)
        for span in ("fault", "story", "job"):
            drawn = timeline(verdict, View(span=span))
            assert drawn is None or drawn.length > 0
        for row in answer.context["evidence"][:5]:
            if row.stream and row.line:
                address = f"/investigations/{investigation.pk}/runs/1/log/"
                log = client.get(address, {"stream": row.stream, "line": row.line})
                assert f'id="L{row.line}"' in log.content.decode()
