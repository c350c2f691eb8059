"""What stands before the message of a log line: time, host, rank, program, process; several prefixes may nest.

Shapes and resolutions follow what the writers print: journald and rsyslog, the kernel ring, Slurm, torchrun and c10d,
glog and klog, NCCL and RCCL, UCX, libfabric, Open MPI, Cray MPICH, Ray, vLLM, container runtimes, Fabric Manager,
opensm, switches, and ipmitool's event lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from telemetry.formats.stamps import Assumed, Stamp, boot_or_epoch, c10d, stamp_at

_HEAD = 600
_STEPS = 10
_BODY_SLACK = b" \t"

_NAME = rb"[A-Za-z0-9][\w.-]{0,254}"
_LEVEL = rb"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|CRIT|FATAL|Info|Warning|Error|info|warning|error)"
_SOURCE_FILE = re.compile(rb"\.(?:py|cc|cpp|c|h|hpp|cu|cuh|go|rs|java|sh)$")
_NOT_HOSTS = {
    b"cuda", b"hip", b"rank", b"gpu", b"cpu", b"xpu", b"mps", b"hpu", b"INFO", b"WARNING", b"ERROR", b"DEBUG", b"line",
    b"step", b"epoch", b"iter", b"worker", b"pid", b"tid", b"GPU", b"Rank", b"local_rank", b"device", b"port", b"id",
}  # fmt: skip

_ANSI = re.compile(rb"(?:\x1b\[[0-9;]{0,16}[A-Za-z])+")
_SYSLOG_HEADER = re.compile(rb" (" + _NAME + rb") ([\w./@()+:-]{1,64}?)(?:\[(\d{1,10})\])?: ?")
_SYSLOG_HOST = re.compile(rb" (" + _NAME + rb") ")
_RUNTIME = re.compile(rb" (?:stdout|stderr) [FP] ")
_AFTER_STAMP = re.compile(rb"[:,|]? ?")
_RING = re.compile(rb"\[ {0,8}(\d{1,12})\.(\d{1,9})\](?:\[ ?[TC]\d{1,8}\])? ?")
_RANK_TAG = re.compile(rb"\[?(?:rank|Rank|RANK)[ =_:]{0,2}(\d{1,7})(?:/\d{1,7})?(?:\]:?|:| ?\|) ?")
_ROLE_TAG = re.compile(rb"\[(?:default|trainer|worker|main|training|learner|actor)_?(\d{1,6})\]:? ?")
_MPI_TAG = re.compile(rb"\[(?:[\w.@-]{1,100}@)?\d{1,9},(\d{1,7})\](?:<(?:stdout|stderr|stddiag)>)?: ?")
_HOST_TAG = re.compile(rb"\[(" + _NAME + rb"):(\d{1,10})(?::\d{1,10}){0,2}(?: {0,3}:\d{1,6})?(?:,\d{1,6})?\] ?")
_BARE_HOST_TAG = re.compile(rb"\[(" + _NAME + rb")\] ?(?:- )?")
_POD_TAG = re.compile(rb"\[pod/([\w.-]{1,253})/([\w.-]{1,253})\] ?")
_C10D = re.compile(rb"\[[IWEFV](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)\.\d{1,12} ([^\]]{1,200})\] ?")
_C10D_BARE = re.compile(rb"\[[IWEFV] [\w./-]{1,100}:\d{1,6}\] ?")
_LEVEL_TAG = re.compile(rb"\[(?:" + _LEVEL + rb"|[IWEFD])\] ?")
_TID_TAG = re.compile(rb"\[tid (\d{1,10})\] ?")
_JOB_TAG = re.compile(rb"\[job id [^\]]{1,60}\] ?")
_GROUP_TAG = re.compile(rb"\[PG (?:ID )?0 (?:PG GUID )?[^\]]{0,60}?[Rr]ank (\d{1,7})\] ?")
_STAMP_CLOSE = re.compile(rb"(?: ([IWEFDC]) (\d{1,10}) \d{1,10})?[^\]\[]{0,40}\]:? ?")
_ACTOR = re.compile(rb"\((?:([A-Za-z_][\w.:<>\[\]-]{0,80})(?=[ ,)]))?,? ?((?:,? ?[a-z_]{1,20}=[\w.:-]{1,80}){0,6})\) ?")
_ACTOR_NAMES = {b"raylet", b"autoscaler", b"gcs_server", b"scheduler", b"dashboard"}
_PAIR = re.compile(rb"([a-z_]{1,20})=([\w.:-]{1,80})")
_SRUN_LABEL = re.compile(rb"(\d{1,7}):(?: |$)")
_NOT_THE_RANKS = (b"slurmstepd", b"srun:")
_NCCL = re.compile(rb"(" + _NAME + rb"):(\d{1,10}):(\d{1,10}) (?:\[(\d{1,4})\] )?")
_NCCL_WORDS = (b"NCCL", b"RCCL", b"[", b"transport/", b"misc/", b"init.cc", b"proxy.cc", b"nccl")
_LIBFABRIC = re.compile(rb"libfabric:(\d{1,10}):(\d{10}):")
_LEVEL_FIRST = re.compile(rb"\[?" + _LEVEL + rb"(?:\|[^\]\s]{1,80})?\]?[:|]?\s{1,8}\[?(?=\d\d[\d/:-])")
_SUBMITIT = re.compile(rb"submitit \w{1,10} \(")
_MPICH = re.compile(rb"(?:MPICH|PE) [A-Za-z]{1,10} (?=\[Rank)")
_KEY_TIME = re.compile(rb"(?:level=\w{1,10} )?(?:time|ts|t|timestamp)=\"?")
_JSON_TIME = re.compile(
    rb"\"(?:time|ts|timestamp|@timestamp|asctime|date|t)\"\s?:\s?\"?(?:(\d{10})(?:\.(\d{1,9}))?|(?=\d{4}-))"
)
_SUMMARY_TIME = re.compile(rb"time {1,12}: (?=\d{4}-)")
_CANCELLED = re.compile(rb"(?:error: )?\*\*\* .{1,120}? CANCELLED AT (?=\d{4}-)")
_QUOTE_CLOSE = re.compile(rb"[\])\"]{0,2}(?: - )?[: ]?")
_LONG_FRACTION = re.compile(rb"\.\d{7,9}[+-]")
_GLOG_TAIL = re.compile(rb"(?: {1,8}(\d{1,10}))?(?: [\w./<>-]{1,200}:\d{1,6}\])? ?")
_KMSG = re.compile(rb"\d{1,3},\d{1,12},(\d{1,18}),[^;]{0,40};")
_PRIORITY = re.compile(rb"<\d{1,3}>(?:1 )?")
_SEL = re.compile(
    rb"[0-9a-f]{1,6} \| (?:(\d\d)/(\d\d)/(\d{4}|\d\d)|([A-Z][a-z]{2})-(\d\d)-(\d{4})) \| "
    rb"(\d\d:\d\d:\d\d)(?: [A-Z]{3,4})? \| ?"
)
_LABEL = re.compile(rb"(" + _NAME + rb"): ?")
_PROGRAM = re.compile(rb"(srun|slurmstepd|mpirun|mpiexec|prterun|torchrun|salloc|sbatch)(?:-[\w.-]{1,64})?: ?")
_CCL_PID = re.compile(rb":\((\d{1,10})\) ?")


@dataclass(frozen=True, slots=True)
class Prefix:
    """What is known before the message begins at `body`; None where the line does not say.

    time: the stamp whose zone is known, else the first one. inner: a second stamp (the program's own, behind that of
    a container runtime or of syslog). boot: seconds since boot in a kernel line that also has a time. rank: global;
    task: the rank through whose output another program (slurmstepd) spoke; it tells the node, not who is meant.
    local_rank: on its node. device: index of the GPU of the process (NCCL). container: pod or Ray actor name.
    """

    time: Stamp | None = None
    host: str | None = None
    rank: int | None = None
    task: int | None = None
    local_rank: int | None = None
    program: str | None = None
    pid: int | None = None
    container: str | None = None
    device: int | None = None
    boot: float | None = None
    inner: Stamp | None = None
    body: int = 0


def parse_prefix(
    line: bytes, *, near: float | None = None, year: int | None = None, hosts: Collection[str] = ()
) -> Prefix:
    """Read the prefixes of one line (only its first 600 bytes are looked at). Never raises.

    near: epoch seconds, mostly the job's end, next to which stamps without year or date are put; else `year` is taken.
    hosts: names of the job's nodes, so that `node03: ...` labels can be told from other words.
    """
    state = _State(Assumed(near, year), hosts)
    text = line[:_HEAD]
    _walk(state, text, 3 if text.startswith(b"\xef\xbb\xbf") else 0)
    if state.untouched and b"\r" in text.rstrip(b"\r\n"):
        # A progress bar was overwritten; the message follows its last carriage return.
        last = line.rstrip(b"\r\n").rfind(b"\r") + 1
        rest = _State(Assumed(near, year), hosts)
        _walk(rest, line[last : last + _HEAD], 0)
        if not rest.untouched:
            rest.body += last
            state = rest
    return state.done()


class _State:
    """What was found so far, while the prefixes are walked through."""

    def __init__(self, assumed: Assumed, hosts: Collection[str]) -> None:
        self.assumed = assumed
        self.hosts = hosts
        self.stamps: list[Stamp] = []
        self.host: bytes | None = None
        self.rank: int | None = None
        self.label: int | None = None
        self.task: int | None = None
        self.local_rank: int | None = None
        self.program: bytes | None = None
        self.pid: int | None = None
        self.container: bytes | None = None
        self.device: int | None = None
        self.boot: float | None = None
        self.cray = False
        self.body = 0
        self.untouched = True

    def is_host(self, name: bytes) -> bool:
        text = name.decode("ascii", "replace")
        return text in self.hosts or text.split(".")[0] in self.hosts

    def add_pid(self, value: bytes | None) -> None:
        if self.pid is None and value and value.isdigit():
            self.pid = int(value)

    def done(self) -> Prefix:
        time = next((stamp for stamp in self.stamps if stamp.zone in ("utc", "offset")), None)
        time = time or (self.stamps[0] if self.stamps else None)
        inner = next((stamp for stamp in self.stamps if stamp is not time), None)
        return Prefix(
            time=time,
            host=_text(self.host),
            rank=self.rank if self.rank is not None else self.label,
            task=self.task,
            local_rank=self.local_rank,
            program=_text(self.program),
            pid=self.pid,
            container=_text(self.container),
            device=self.device,
            boot=self.boot,
            inner=inner,
            body=self.body,
        )


def _text(value: bytes | None) -> str | None:
    return value.decode("utf-8", "replace") if value else None


def _walk(state: _State, text: bytes, at: int) -> None:
    state.body = at
    for step in range(_STEPS):
        probe = at
        while text[probe : probe + 1] in (b" ", b"\t"):
            probe += 1
        colour = _ANSI.match(text, probe)
        if colour:
            at = colour.end()
            continue
        first = text[probe : probe + 1]
        end = _READERS.get(first, _other)(state, text, probe, step)
        if end is None:
            return
        if end < 0:
            state.untouched = False
            return
        at = end
        state.body = end
        state.untouched = False


def _bracket(state: _State, text: bytes, at: int, step: int) -> int | None:
    if found := _RING.match(text, at):
        stamp = boot_or_epoch(found[1], found[2])
        if stamp.zone == "boot" and state.stamps:
            state.boot = stamp.seconds
        else:
            state.stamps.append(stamp)
        return found.end()
    if found := _RANK_TAG.match(text, at):
        state.rank = int(found[1])
        return found.end()
    if found := _ROLE_TAG.match(text, at):
        state.local_rank = int(found[1])
        return found.end()
    if found := _MPI_TAG.match(text, at):
        state.rank = int(found[1])
        return found.end()
    if found := _C10D.match(text, at):
        stamp_ = c10d(found[1], found[2], (found[3], found[4], found[5]), state.assumed)
        if stamp_:
            state.stamps.append(stamp_)
        return found.end()
    if found := _C10D_BARE.match(text, at):
        return found.end()
    if found := _GROUP_TAG.match(text, at):
        # Only in the default group is the group's rank the job's rank.
        if state.rank is None:
            state.rank = int(found[1])
        return found.end()
    seen = stamp_at(text, at + 1, state.assumed)
    if seen and (close := _STAMP_CLOSE.match(text, seen[1])):
        state.stamps.append(seen[0])
        state.add_pid(close[2])
        return _header(state, text, close.end(), seen[0], step)
    if (found := _LEVEL_FIRST.match(text, at)) and (seen := stamp_at(text, found.end(), state.assumed)):
        return _after_stamp(state, text, seen, step)
    if found := _POD_TAG.match(text, at):
        state.container = found[1]
        return found.end()
    if state.stamps and (found := _LEVEL_TAG.match(text, at)):
        return found.end()
    if found := _TID_TAG.match(text, at):
        state.add_pid(found[1])
        return found.end()
    if found := _HOST_TAG.match(text, at):
        name = found[1]
        if name in _NOT_HOSTS or name.isdigit() or _SOURCE_FILE.search(name):
            return None
        if state.host is None:
            state.host = name
        state.add_pid(found[2])
        return found.end()
    if state.cray or state.hosts:
        if found := _JOB_TAG.match(text, at):
            return found.end()
        found = _BARE_HOST_TAG.match(text, at)
        if found and not found[1].isdigit() and (state.cray or state.is_host(found[1])):
            state.host = state.host or found[1]
            return found.end()
    return None


def _digit(state: _State, text: bytes, at: int, step: int) -> int | None:
    if found := _KMSG.match(text, at):
        state.stamps.append(boot_or_epoch(found[1][:-6] or b"0", found[1][-6:].rjust(6, b"0")))
        return found.end()
    seen = stamp_at(text, at, state.assumed)
    if seen and not (seen[0].form == "month-day" and step and not state.untouched and not state.stamps):
        return _after_stamp(state, text, seen, step)
    if not state.stamps and (found := _SEL.match(text, at)):
        return _sel(state, text, found)
    if step == 0 and (found := _SRUN_LABEL.match(text, at)):
        if text.startswith(b"slurmstepd", found.end()):
            state.task = int(found[1])
        elif not text.startswith(_NOT_THE_RANKS, found.end()):
            state.label = int(found[1])
        return found.end()
    return _letter_names(state, text, at)


def _letter(state: _State, text: bytes, at: int, step: int) -> int | None:
    seen = stamp_at(text, at, state.assumed)
    if seen:
        if seen[0].form == "glog" or text[at + 1 : at + 5].isdigit():
            state.stamps.append(seen[0])
            tail = _GLOG_TAIL.match(text, seen[1])
            if tail:
                state.add_pid(tail[1])
                return tail.end()
        return _after_stamp(state, text, seen, step)
    if found := _RANK_TAG.match(text, at):
        state.rank = int(found[1])
        return found.end()
    if found := _PROGRAM.match(text, at):
        state.program = state.program or found[1]
        told = _CANCELLED.match(text, found.end())
        if told and (seen := stamp_at(text, told.end(), state.assumed)):
            state.stamps.append(seen[0])
        return found.end()
    if found := _LIBFABRIC.match(text, at):
        state.program = b"libfabric"
        state.add_pid(found[1])
        state.stamps.append(Stamp(float(found[2]), 1.0, "utc", form="epoch"))
        return found.end()
    if found := _MPICH.match(text, at):
        state.cray = True
        state.program = b"MPICH"
        return found.end()
    for opening in (_LEVEL_FIRST, _SUBMITIT, _KEY_TIME, _SUMMARY_TIME):
        found = opening.match(text, at)
        if found and (seen := stamp_at(text, found.end(), state.assumed)):
            state.stamps.append(seen[0])
            tail = _QUOTE_CLOSE.match(text, seen[1])
            return tail.end() if tail else seen[1]
    return _letter_names(state, text, at)


def _letter_names(state: _State, text: bytes, at: int) -> int | None:
    if (found := _NCCL.match(text, at)) and (found[4] or text.startswith(_NCCL_WORDS, found.end())):
        state.host = state.host or found[1]
        state.add_pid(found[2])
        if found[4]:
            state.device = int(found[4])
        return found.end()
    if state.hosts and (found := _LABEL.match(text, at)) and state.is_host(found[1]):
        state.host = state.host or found[1]
        return found.end()
    return None


def _parenthesis(state: _State, text: bytes, at: int, step: int) -> int | None:
    found = _ACTOR.match(text, at)
    if not found or not (found[2] or found[1] in _ACTOR_NAMES):
        return None
    pairs = {pair[1]: pair[2] for pair in _PAIR.finditer(found[2] or b"")}
    if not pairs.keys() & {b"pid", b"ip", b"rank"} and found[1] not in _ACTOR_NAMES:
        return None
    state.container = state.container or found[1]
    state.host = state.host or pairs.get(b"ip")
    state.add_pid(pairs.get(b"pid"))
    rank = pairs.get(b"rank", b"")
    if rank.isdigit() and len(rank) < 8:
        state.rank = int(rank)
    return found.end()


def _star(state: _State, text: bytes, at: int, step: int) -> int | None:
    found = _CANCELLED.match(text, at)
    seen = stamp_at(text, found.end(), state.assumed) if found else None
    if not seen:
        # Cisco writes an asterisk before the stamp of a clock that is not set.
        seen = stamp_at(text, at + 1, state.assumed)
        return _after_stamp(state, text, seen, step) if seen else None
    state.stamps.append(seen[0])
    return -1


def _brace(state: _State, text: bytes, at: int, step: int) -> int | None:
    if state.stamps:
        return None
    found = _JSON_TIME.search(text, at)
    if not found:
        return None
    if found[1]:
        state.stamps.append(boot_or_epoch(found[1], found[2] or b"0"))
        return -1
    seen = stamp_at(text, found.end(), state.assumed)
    if seen:
        state.stamps.append(seen[0])
        return -1
    return None


def _angle(state: _State, text: bytes, at: int, step: int) -> int | None:
    found = _PRIORITY.match(text, at)
    return found.end() if found and state.untouched else None


def _other(state: _State, text: bytes, at: int, step: int) -> int | None:
    return None


def _sel(state: _State, text: bytes, found: re.Match[bytes]) -> int | None:
    if found[1]:
        year = found[3] if len(found[3]) == 4 else b"20" + found[3]
        written = found[1] + b"/" + found[2] + b"/" + year
    else:
        written = found[5] + b" " + found[4] + b" " + found[6]
    seen = stamp_at(written + b" " + found[7], 0, state.assumed)
    if not seen:
        return None
    state.stamps.append(seen[0])
    return found.end()


def _after_stamp(state: _State, text: bytes, seen: tuple[Stamp, int], step: int) -> int:
    stamp, at = seen
    state.stamps.append(stamp)
    if found := _RUNTIME.match(text, at):
        return found.end()
    if found := _CCL_PID.match(text, at):
        state.add_pid(found[1])
        return found.end()
    tail = _AFTER_STAMP.match(text, at)
    end = tail.end() if tail else at
    if tail and tail[0] == b" ":
        return _header(state, text, end, stamp, step)
    return end


def _header(state: _State, text: bytes, at: int, stamp: Stamp, step: int) -> int:
    """A syslog header (host, program, pid) behind a stamp, if that writer's stamps have one."""
    if state.host is not None or text[at - 1 : at] != b" ":
        return at
    syslog = stamp.form in ("syslog", "month-year", "epoch", "switch")
    journal = stamp.form == "iso-t" and stamp.zone == "offset" and stamp.precision >= 1e-6
    found = _SYSLOG_HEADER.match(text, at - 1)
    if found:
        sure = found[3] or found[2] == b"kernel" or state.is_host(found[1])
        if sure or syslog or (journal and not _nanoseconds(text, at)):
            state.host, state.program = found[1], found[2]
            state.add_pid(found[3])
            return found.end()
    host = _SYSLOG_HOST.match(text, at - 1)
    if host and (syslog or journal) and (state.is_host(host[1]) or (syslog and _like_host(host[1]))):
        state.host = host[1]
        return host.end()
    return at


def _nanoseconds(text: bytes, at: int) -> bool:
    # Container runtimes write nine digits and no host; journald and rsyslog at most six.
    return bool(_LONG_FRACTION.search(text, max(at - 18, 0), at))


def _like_host(name: bytes) -> bool:
    return any(48 <= letter <= 57 or letter == 45 for letter in name) and not name.isdigit()


_Reader = Callable[[_State, bytes, int, int], int | None]
_READERS: dict[bytes, _Reader] = {
    b"[": _bracket,
    b"(": _parenthesis,
    b"*": _star,
    b"{": _brace,
    b"<": _angle,
    **{bytes([digit]): _digit for digit in b"0123456789"},
    **{bytes([letter]): _letter for letter in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
}
