"""Every model of the console, gathered here for Django; each subject keeps its own."""

from investigations.audit.models import AuditEvent
from investigations.jobs.models import Cluster, ConnectorConfig, Investigation, InvestigationLabel, Job
from investigations.review.models import Review
from investigations.runs.models import Evidence, Run, RunStep

__all__ = [
    "AuditEvent",
    "Cluster",
    "ConnectorConfig",
    "Evidence",
    "Investigation",
    "InvestigationLabel",
    "Job",
    "Review",
    "Run",
    "RunStep",
]
