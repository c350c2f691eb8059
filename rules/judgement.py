"""From faults to an outcome: which fault came first, or why nobody can say.

The steps, in order: set aside what was not the job's (place, time); what a rule overrules; what another fault
explains. Of what is left, evidence that stands by itself outranks evidence that something unseen could explain, and
a fault that certainly came first outranks a later one. Two that nothing separates are ambiguous. With symptoms only,
or without the source that would decide, the answer is that the evidence is insufficient.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rules import taxonomy
from rules.clocks import order, window
from rules.derived import at_work
from rules.doubt import doubted_by
from rules.explanations import USUAL, Edge
from rules.faults import Fault, certainly_before, near
from rules.observation import Observation
from rules.pack import Pack
from rules.schema import KIND_OF_SOURCE, Source
from rules.sieve import OUTLIVED, Rejection, Sieve
from rules.spans import QUIET
from telemetry.bundle import Bundle
from telemetry.coverage import Coverage

# More nodes than this with the same hardware cause at once is a shared cause: then only the first are named.
NODES_NAMED: Final = 4
# Groups that only say how a job was torn down, not what it suffered.
ENDING: Final = frozenset(("job_end", "teardown"))
# A fault this long before a job was ended from outside needs something that shows its effect.
UNWITNESSED: Final = 900.0
HOUR: Final = 3600.0
WAITED: Final = frozenset({"collective_wait"})
DIED: Final = frozenset({"rank_abort", "cuda_error", "peer_loss"})
# Time-outs of devices and kernels (a GPU's firmware, a blocked task) are logged up to this long after what they tell.
LOGGED_LATE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Alternative:
    cause: str
    faults: tuple[Fault, ...]
    why: str


@dataclass(slots=True)
class Judgement:
    outcome: str
    cause: str | None
    winners: list[Fault] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    symptoms: list[Fault] = field(default_factory=list)
    aside: list[Fault] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    lacking: dict[Source, tuple[str, ...]] = field(default_factory=dict)
    why: str = ""


def seen(
    coverage: tuple[Coverage, ...], source: str, nodes: set[str], job_nodes: tuple[str, ...]
) -> tuple[bool, tuple[str, ...]]:
    """Was a source there for these nodes (all of the job's when none is named)? Returns also the nodes it lacks."""
    entries = [c for c in coverage if c.source == source]
    if not entries or all(c.status in ("failed", "not_configured", "not_collected") for c in entries):
        return False, tuple(sorted(nodes or set(job_nodes)))
    missing = {n for c in entries for n in c.nodes_missing}
    wanted = nodes & set(job_nodes) or set(job_nodes)
    lacking = tuple(sorted(wanted & missing))
    return not lacking, lacking


class Case:
    """One bundle's faults on their way to an outcome."""

    def __init__(self, bundle: Bundle, pack: Pack, faults: list[Fault], observation: Observation) -> None:
        self.bundle, self.pack, self.faults = bundle, pack, faults
        self.terminal_state, self.cancelled_by = observation.terminal_state, observation.cancelled_by
        self.at_work = at_work(bundle, observation.progress)
        self.progress_at = observation.progress.at if observation.progress else None
        self.sieve = Sieve(faults, pack, self.progress_at)
        self.edges = self.sieve.edges
        self.start, self.end = window(bundle.job)
        self.spans = observation.spans

    def judge(self) -> Judgement:
        if self.terminal_state == "completed":
            return self._completed()
        judgement = self._unless_clocks_lie(self._decide(self.sieve.roots()))
        judgement.rejected = self.sieve.rejected
        self._set_aside_earlier(judgement)
        # What was ruled out caused nothing that is shown.
        gone = {id(r.fault) for r in self.sieve.rejected}
        judgement.edges = [e for e in self.edges if id(e.cause) not in gone]
        judgement.symptoms = self._symptoms(judgement)
        return judgement

    def _unless_clocks_lie(self, judgement: Judgement) -> Judgement:
        """Takes an answer back that stands only because another machine's clock puts its likely cause elsewhere."""
        aside = [r.fault for r in self.sieve.rejected if r.by_time]
        doubted = doubted_by(judgement.winners, aside, self.pack) if judgement.outcome == "attributed" else []
        if not doubted:
            return judgement
        self.sieve.rejected = [r for r in self.sieve.rejected if r.fault not in doubted]
        told = [*judgement.winners, *doubted]
        causes = list(dict.fromkeys(f.rule.cause for f in told if f.rule.cause))
        why = "By the clocks the one did not cause the other; if one of them is wrong, it did."
        return self._ambiguous_between(told, causes, why)

    def _set_aside_earlier(self, judgement: Judgement) -> None:
        """What certainly began before the first fault, and is not its effect, is no symptom of it."""
        known = (
            {id(e.effect) for e in self.edges}
            | {id(r.fault) for r in self.sieve.rejected}
            | set(map(id, judgement.winners))
        )
        for fault in self.faults:
            if fault.rule.standing == "context" or fault.scope == "after" or id(fault) in known:
                continue
            if not judgement.winners or not all(certainly_before(fault, w) for w in judgement.winners):
                continue
            if fault.rule.cause:
                self.sieve.reject(
                    fault, f"It came before the first fault, and {fault.demoted or 'nothing links them'}."
                )
            else:
                judgement.aside.append(fault)

    def _symptoms(self, judgement: Judgement) -> list[Fault]:
        """What was seen inside the job and is neither the answer, nor a candidate, nor ruled out, nor mere context."""
        others = [*judgement.winners, *judgement.aside, *(f for a in judgement.alternatives for f in a.faults)]
        taken = set(map(id, others)) | {id(r.fault) for r in self.sieve.rejected}
        inside = [f for f in self.faults if f.scope in ("inside", "elsewhere") and f.rule.standing != "context"]
        left = [f for f in inside if id(f) not in taken]
        # What tells a reader most stands first: not what the job outlived, nor how it was torn down in the end, nor
        # what another symptom led to.
        here = set(map(id, left))
        led_to = {id(e.effect) for e in self.edges if id(e.cause) in here and e.effect.rule is not e.cause.rule}
        return sorted(
            left,
            key=lambda f: (
                bool(f.demoted) or bool(self.sieve.outlived(f, [])),
                bool(ENDING & set(f.rule.groups)),
                id(f) in led_to,
            ),
        )

    def _completed(self) -> Judgement:
        for fault in (f for f in self.faults if f.may_decide):
            self.sieve.reject(fault, "The job completed, so this did not stop it.")
        return Judgement("no_failure", None, rejected=self.sieve.rejected, edges=self.edges, why="completed")

    def _decide(self, roots: list[Fault]) -> Judgement:
        solid = [f for f in roots if f.rule.standing == "self_standing" and not f.rule.fallback]
        soft = [f for f in roots if f.rule.standing == "symptom_like" and not f.rule.fallback]
        last = [f for f in roots if f.rule.fallback]
        if solid:
            earlier = [s for s in soft if s.rule.fatal and all(certainly_before(s, f) for f in solid)]
            for fault in (*soft, *last):
                if fault not in earlier:
                    self.sieve.reject(
                        fault, f"{solid[0].rule.title} stands by itself and explains the job's end.", solid[0].rule.rule
                    )
            return self._among(solid + earlier)
        if soft:
            for fault in last:
                self.sieve.reject(fault, f"{soft[0].rule.title} says more than this.", soft[0].rule.rule)
            return self._among(soft)
        if last:
            return self._among(last)
        return self._without_cause()

    def _among(self, roots: list[Fault]) -> Judgement:
        first = self._first_ones(roots)
        for fault in roots:
            if fault not in first:
                later = f"It came later than {first[0].rule.title[:1].lower() + first[0].rule.title[1:]}."
                self.sieve.reject(fault, later, by_time=True)
        causes = list(dict.fromkeys(f.rule.cause for f in first if f.rule.cause))
        if len(causes) > 1:
            return self._ambiguous_between(first, causes)
        solid = [f for f in first if f.rule.standing == "self_standing"]
        if solid and self._unwitnessed(solid):
            judgement = Judgement("insufficient_evidence", None, why="unwitnessed")
            why = "The job was ended from outside long after it, and nothing shows that it had stopped the job by then."
            judgement.alternatives = [Alternative(causes[0], tuple(solid), why)]
            return judgement
        if solid and (waits := self._waited_before(solid)):
            for fault in solid:
                what = waits[0].rule.title[:1].lower() + waits[0].rule.title[1:]
                why = f"The job was broken before it ({what}), so it came with the end or after it."
                self.sieve.reject(fault, why, waits[0].rule.rule)
            return self._without_cause()
        if solid:
            return Judgement("attributed", causes[0], self._named(solid), why="self_standing")
        return self._soft(first, causes[0])

    def _unwitnessed(self, winners: list[Fault]) -> bool:
        """A job ended from outside, long after the fault, with nothing in between that shows it suffered."""
        ended = window(self.bundle.job)[1]
        if self.terminal_state not in ("timeout", "cancelled", "preempted") or ended is None:
            return False
        for fault in winners:
            last = fault.signals[-1].last
            # What a rule requires beside its own line is a witness already, and so are steps that stop with the fault.
            witnessed = fault.rule.layer == "scheduler" or fault.rule.requires or self._stopped_with(fault)
            if witnessed or last is None or ended - last.hi < UNWITNESSED:
                return False
            effects = [e.effect for e in self.edges if e.cause is fault and e.effect.rule is not fault.rule]
            if any(not ENDING & set(f.rule.groups) for f in effects):
                return False
        return True

    def _waited_before(self, winners: list[Fault]) -> list[Fault]:
        """What showed the job to be broken certainly before its supposed cause, and that nothing seen explains."""
        if any(f.rule.layer == "scheduler" for f in winners):
            return []
        # A program's crash is printed at once; a device's or a kernel's own time-outs are logged some time after.
        program = all(f.rule.layer == "application" for f in winners)
        groups, late = (WAITED, 0.0) if program else (DIED, LOGGED_LATE)
        gone = {id(r.fault) for r in self.sieve.rejected}
        explained = {id(e.effect) for e in self.edges if e.cause.may_decide and id(e.cause) not in gone}
        return [
            f
            for f in self.faults
            if groups & set(f.rule.groups)
            and f.scope == "inside"
            and id(f) not in explained
            and f.first.own_clock
            and all(order(f.first, w.first) < 0 and near(f, w, HOUR) and not near(f, w, late) for w in winners)
            and not self.sieve.outlived(f, [])
        ]

    def _without_effect(self, fault: Fault, later: Fault) -> bool:
        """Nothing followed a fault for long, until another came: then that it was earlier decides nothing."""
        last = fault.signals[-1].last
        start = later.start()
        if last is None or start is None or start - last.hi < UNWITNESSED or self._stopped_with(fault):
            return False
        return not any(
            e.effect is not later and (begun := e.effect.start()) is not None and begun - last.hi < UNWITNESSED
            for e in self.edges
            if e.cause is fault and e.effect.first.own_clock and e.effect.rule is not fault.rule
        )

    def _stopped_with(self, fault: Fault) -> bool:
        """Was the last sign of progress near the fault, and none after it?"""
        start, last = fault.start(), fault.signals[-1].last
        if self.progress_at is None or start is None or last is None:
            return False
        return start - OUTLIVED <= self.progress_at <= last.hi + OUTLIVED

    def _first_ones(self, roots: list[Fault]) -> list[Fault]:
        """Those that no other root certainly precedes. Of one cause all stay: the same fault in several places."""
        kept = []
        for fault in roots:
            before = [
                o
                for o in roots
                if o is not fault and o.rule.fatal and certainly_before(o, fault) and not self._without_effect(o, fault)
            ]
            if not before or all(o.rule.cause == fault.rule.cause for o in before):
                kept.append(fault)
        return kept or roots

    @staticmethod
    def _named(winners: list[Fault]) -> list[Fault]:
        # A host's log without a clock to trust adds no place to what others show at a known time.
        told = [f for f in winners if f.first.time or f.first.source not in ("syslog", "fabric")]
        winners = told or winners
        if len({f.node for f in winners}) <= NODES_NAMED:
            return winners
        leading = [f for f in winners if not any(certainly_before(o, f) for o in winners)]
        return leading or winners

    def _ambiguous_between(
        self, first: list[Fault], causes: list[str], why: str = "Nothing shows which of them came first."
    ) -> Judgement:
        alternatives = [Alternative(c, tuple(f for f in first if f.rule.cause == c), why) for c in causes]
        return Judgement("ambiguous", None, [], alternatives, why="order_unknown")

    def _soft(self, first: list[Fault], cause: str) -> Judgement:
        """Evidence that something unseen could explain: only as good as the sources that would show it."""
        lacking: dict[Source, tuple[str, ...]] = {}
        rivals: list[str] = []
        decided = True
        for fault in first:
            for source in fault.rule.needs:
                # A fault in no one place may be caused at any of the job's nodes, not only where it was printed.
                own = fault.nodes if fault.rule.place in ("device", "node", "rank") else set()
                there, nodes = seen(self.bundle.coverage, source, own, self.bundle.job.nodes)
                if source == "syslog":
                    nodes = (*nodes, *self._uncovered(fault, own or set(self.bundle.job.nodes)))
                if not there or nodes:
                    lacking[source] = tuple(sorted({*lacking.get(source, ()), *nodes}))
            rivals += [r for r in fault.rule.rivals if r not in rivals]
            decided = decided and (bool(fault.rule.needs) or not fault.rule.rivals)
        if decided and not lacking:
            return Judgement("attributed", cause, self._named(first), why="symptom_like")
        if len(rivals) >= 2 or (rivals and cause not in rivals):
            listed = rivals if cause in rivals or len(rivals) >= 2 else [cause, *rivals]
            why = "The evidence fits each of them." if not lacking else "What would tell them apart was not collected."
            return Judgement(
                "ambiguous",
                None,
                [],
                [Alternative(r, tuple(first), why) for r in listed],
                lacking=lacking,
                why="rivals",
            )
        judgement = Judgement("insufficient_evidence", None, lacking=lacking, why="source_missing")
        judgement.alternatives = [
            Alternative(cause, tuple(first), "Likely, but a source that could overturn it is missing.")
        ]
        return judgement

    def _uncovered(self, fault: Fault, nodes: set[str]) -> list[str]:
        """Nodes whose log begins after, or ends well before, the time at which it would show the fault's cause."""
        time = fault.first.time
        at, latest = (time.lo, time.hi) if time else (self.end, self.end)
        if at is None or latest is None:
            return []
        since = at - QUIET if self.start is None else max(self.start, at - QUIET)
        spans = {node: self.spans[node] for node in sorted(nodes) if node in self.spans}
        # One that breaks off must reach to the latest time that the fault can have.
        return [n for n, s in spans.items() if s.lo > since or (s.hi + s.quiet < at if s.quiet else s.hi < latest)]

    def _without_cause(self) -> Judgement:
        inside = [f for f in self.faults if f.scope == "inside" and (f.rule.standing == "symptom" or f.demoted)]
        troubled = [f for f in inside if not ENDING & set(f.rule.groups) and not self.sieve.outlived(f, [])]
        if self.terminal_state == "cancelled" and not troubled and self.cancelled_by == "own_user" and self.at_work:
            return Judgement("no_failure", "cancelled_by_user", why="cancelled")
        rivals = self._rivals(troubled)
        if len(rivals) >= 2:
            alternatives = [
                Alternative(c, fs, f"It would explain this: {fs[0].rule.title}.") for c, fs in rivals.items()
            ]
            return Judgement("ambiguous", None, [], alternatives, why="symptoms_with_rivals")
        judgement = Judgement("insufficient_evidence", None, why="symptoms_only" if inside else "nothing_seen")
        judgement.alternatives = [Alternative(c, fs, "Possible, but not shown.") for c, fs in rivals.items()]
        return judgement

    def _rivals(self, symptoms: list[Fault]) -> dict[str, tuple[Fault, ...]]:
        """The causes that unexplained symptoms leave open: those of the symptoms that no other symptom explains."""
        explained = {id(e.effect) for e in self.edges if e.cause in symptoms and e.effect.rule is not e.cause.rule}
        roots = [f for f in symptoms if id(f) not in explained and f.rule.rivals] or [
            f for f in symptoms if f.rule.rivals
        ]
        if not roots:
            return {}
        told = min(roots, key=lambda f: (f.first.time is None, f.first.time.lo if f.first.time else 0.0, f.rule.rule))
        demoted = [f.rule.cause for f in symptoms if f.demoted and f.rule.cause]
        return dict.fromkeys(dict.fromkeys([*told.rule.rivals, *demoted]), (told,))


def suspects(source: str, faults: list[Fault], pack: Pack) -> list[str]:
    """Causes that a source could have shown and that would explain something seen: what a gap there may hide.

    Those whose rules name an effect that was seen come first, then those that end jobs in the usual way.
    """
    kind = KIND_OF_SOURCE[source]
    told = {f.rule.rule for f in faults if f.scope == "inside" and f.rule.standing != "context"}

    def reaches(names: Iterable[str]) -> bool:
        return any(pack.reached(name) & told for name in names)

    usual = reaches(USUAL.effects)
    named_effect: dict[str, bool] = {}
    for rule in pack.rules:
        if not rule.is_cause or rule.maturity != "stable" or rule.cause is None:
            continue
        if not any(kind in s.streams or "any" in s.streams for s in rule.signatures):
            continue
        named_one = reaches(name for e in rule.explains for name in e.effects)
        if named_one or (rule.fatal and usual):
            named_effect[rule.cause] = named_effect.get(rule.cause, False) or named_one
    ordered = list(taxonomy.causes())
    return sorted(named_effect, key=lambda cause: (not named_effect[cause], ordered.index(cause)))
