"""Telemetry in: one connector for each kind of system that it comes from.

from connectors import load_registry, parse_config, Context, JobKey
slurm = load_registry().get("slurm")
job = slurm.find_job(parse_config(slurm, {}), JobKey.parse("88213"), Context())
"""

from connectors.config import ConnectorConfig, dump_config, parse_config
from connectors.contract import Check, Connector, Context, Limits, ProbeReport, Progress, Step
from connectors.errors import ConnectorError
from connectors.keys import JobKey
from connectors.registry import Registry, load_registry
from connectors.secrets import SecretRef, SecretStore
from connectors.steps import StepResult, run_step

__all__ = [
    "Check",
    "Connector",
    "ConnectorConfig",
    "ConnectorError",
    "Context",
    "JobKey",
    "Limits",
    "ProbeReport",
    "Progress",
    "Registry",
    "SecretRef",
    "SecretStore",
    "Step",
    "StepResult",
    "dump_config",
    "load_registry",
    "parse_config",
    "run_step",
]
