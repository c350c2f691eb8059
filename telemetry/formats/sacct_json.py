"""Slurm accounting rows from `sacct --json` or slurmrestd's /slurmdb answers, old shapes and new.

In Slurm 22.05 `exit_code` says SUCCESS/0 for every plain non-zero exit; only signals are right. Such a code is not
believed when the state says that the job failed. Newer releases give state.current as a list and wrap numbers as
{set, infinite, number}.
"""

from __future__ import annotations

from typing import Any

from telemetry.formats.documents import Cursor
from telemetry.formats.hostlist import expand
from telemetry.formats.sacct import STATES, SacctRow
from telemetry.formats.times import Moment

_GOOD = ("COMPLETED", "RUNNING", "PENDING", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "REQUEUED")


def is_sacct(found: Any) -> bool:
    """Whether a JSON value is an answer of sacct --json or slurmrestd."""
    return isinstance(found, dict) and isinstance(found.get("jobs"), list) and "items" not in found


def parse_json(found: dict[str, Any], text: str = "", problems: list[tuple[int, str]] | None = None) -> list[SacctRow]:
    """Job and step rows, each job followed by its steps. `text`: the file, to tell lines; else they are all 1."""
    said = problems if problems is not None else []
    for error in found.get("errors") or []:
        if isinstance(error, dict):
            what = error.get("description") or error.get("error") or error.get("error_number") or error.get("errno")
            said.append((1, f"Slurm answered with an error: {what}"))
    rows: list[SacctRow] = []
    cursor = Cursor(text)
    for job in found.get("jobs") or []:
        if not isinstance(job, dict):
            continue
        line, offset = cursor.find('"association"' if "association" in job else '"job_state"')
        row = _job(_as_accounted(job) if "job_state" in job else job, line, offset, said)
        if row:
            rows.append(row)
            steps = job.get("steps")
            rows += (
                [_step(step, row, job) for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
            )
    return rows


def _as_accounted(job: dict[str, Any]) -> dict[str, Any]:
    """A job as slurmctld describes it (/slurm/.../job), in the shape of the accounting."""
    array, het = _number(job.get("array_task_id")), _number(job.get("het_job_id"))
    return {
        **job,
        "state": {"current": job["job_state"], "reason": job.get("state_reason")},
        "association": {"user": job.get("user_name"), "cluster": job.get("cluster")},
        "time": {
            "submission": job.get("submit_time"),
            "start": job.get("start_time"),
            "end": job.get("end_time"),
            "limit": job.get("time_limit"),
        },
        "array": {"job_id": job.get("array_job_id"), "task_id": array},
        "het": {"job_id": het, "job_offset": job.get("het_job_offset")},
        "exit_code": _wait_status(job.get("exit_code")),
        "derived_exit_code": _wait_status(job.get("derived_exit_code")),
    }


def _wait_status(value: Any) -> Any:
    """A raw wait status: 256 is exit 1, 15 is signal 15, 253 is out of memory, 4294967294 is none."""
    if isinstance(value, dict) and "return_code" in value:
        return value
    status = _number(value)
    if status is None or status >= 0xFFFFFFF0:
        return None
    if status == 253:
        return {"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 125}}
    code = status >> 8 & 0xFF
    return {
        "status": "ERROR",
        "return_code": code - 128 if code > 128 else code,
        "signal": {"signal_id": status & 0x7F},
    }


def _job(job: dict[str, Any], line: int, offset: int, said: list[tuple[int, str]]) -> SacctRow | None:
    raw = _number(job.get("job_id"))
    state = _state(job.get("state"))
    if raw is None or state is None:
        said.append((line, "A job has no id or no known state; it was left out."))
        return None
    array, het, time, link = (_dict(job.get(key)) for key in ("array", "het", "time", "association"))
    task, array_id = _number(array.get("task_id")), _number(array.get("job_id"))
    het_id, part = _number(het.get("job_id")), _number(het.get("job_offset"))
    shown = str(raw)
    if array_id and task is not None:
        shown = f"{array_id}_{task}"
    elif het_id and part is not None:
        shown = f"{het_id}+{part}"
    nodelist = str(job.get("nodes") or "")
    try:
        nodes = tuple(expand(nodelist))
    except ValueError as error:
        said.append((line, f"{error}."))
        nodes = ()
    limit = _number(time.get("limit"))
    return SacctRow(
        line=line,
        offset=offset,
        job_id=shown,
        step=None,
        state=state,
        by=_by(job, state),
        raw_id=str(raw),
        name=str(job.get("name") or ""),
        user=link.get("user") or job.get("user") or None,
        cluster=link.get("cluster") or job.get("cluster") or None,
        exit=_exit(job.get("exit_code"), state),
        derived=_exit(job.get("derived_exit_code"), "COMPLETED"),
        nodelist=nodelist if nodes else "",
        nodes=nodes,
        submit=_moment(time.get("submission")),
        start=_moment(time.get("start")),
        end=_moment(time.get("end")),
        elapsed=_number(time.get("elapsed")),
        limit=limit * 60 if limit else None,
        reqmem=_memory(job),
        reason=_reason(job),
    )


def _step(step: dict[str, Any], job: SacctRow, whole: dict[str, Any]) -> SacctRow:
    named = _dict(step.get("step"))
    ident = named.get("id")
    if isinstance(ident, dict):
        ident = ident.get("step_id", ident.get("id"))
    # Newer releases write "8.batch"; older the bare part.
    part = str(ident if ident is not None else "-").rsplit(".", 1)[-1]
    time, nodes = _dict(step.get("time")), _dict(step.get("nodes"))
    listed = nodes.get("list")
    names = tuple(str(name) for name in listed) if isinstance(listed, list) else ()
    state = _state(step.get("state")) or "COMPLETED"
    return SacctRow(
        line=job.line,
        offset=job.offset,
        job_id=job.job_id,
        step=part,
        state=state,
        by=_by(step, state),
        raw_id=job.raw_id,
        name=str(named.get("name") or ""),
        user=job.user,
        cluster=job.cluster,
        exit=_exit(step.get("exit_code"), state if state == "COMPLETED" else "FAILED"),
        nodelist=str(nodes.get("range") or ",".join(names)),
        nodes=names,
        start=_moment(time.get("start")),
        end=_moment(time.get("end")),
        elapsed=_number(time.get("elapsed")),
        maxrss=_peak(step),
    )


def _by(found: dict[str, Any], state: str) -> str | None:
    # Slurm also names who ended a preempted job, or the srun that ended its own step: that is no cancellation.
    user = found.get("kill_request_user")
    return str(user) if user and state == "CANCELLED" else None


def _state(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("current")
    if isinstance(value, list):
        value = next((word for word in value if word in STATES), value[0] if value else None)
    word = str(value).split(" ")[0].upper() if value else ""
    return word if word in STATES else None


def _exit(value: Any, state: str) -> str | None:
    """`code:signal` as the text form shows it; None where the JSON form is known to be wrong."""
    if not isinstance(value, dict):
        return None
    status = value.get("status")
    status = status[0] if isinstance(status, list) and status else status
    code = _number(value.get("return_code")) or 0
    signal = _dict(value.get("signal"))
    number = _number(signal.get("signal_id", signal.get("id"))) or 0
    if status == "SUCCESS" and not code and state not in _GOOD:
        return None
    return f"{code}:{number}"


def _number(value: Any) -> int | None:
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def _moment(value: Any) -> Moment | None:
    number = _number(value)
    return Moment(float(number), 1.0, False) if number and number > 0 else None


def _reason(job: dict[str, Any]) -> str | None:
    state = job.get("state")
    reason = state.get("reason") if isinstance(state, dict) else job.get("state_reason")
    return str(reason) if reason else None


def _memory(job: dict[str, Any]) -> str | None:
    for entry in _list(_dict(job.get("tres")).get("requested")):
        if isinstance(entry, dict) and entry.get("type") == "mem":
            megabytes = _number(entry.get("count"))
            return f"{megabytes}M" if megabytes else None
    return None


def _peak(step: dict[str, Any]) -> int | None:
    requested = _dict(_dict(step.get("tres")).get("requested"))
    for entry in _list(requested.get("max")):
        if isinstance(entry, dict) and entry.get("type") == "mem":
            return _number(entry.get("count"))
    return None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
