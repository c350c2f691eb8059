"""Who waited for whom, from what each rank's watchdog said."""

from rules.collectives import Watchdogs
from rules.facts import Topology
from telemetry.job import JobContext

WORK = "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={n}, NumelOut={n}, Timeout(ms)=600000) ran for 600047 milliseconds before timing out."


def findings(said, world, groups=()):
    dogs = Watchdogs()
    for number, (rank, seq, op, size) in enumerate(said):
        dogs.learn("c10d_work", WORK.format(rank=rank, seq=seq, op=op, n=size), None, "applog/out", number)
    for rank, seq, group in groups:
        text = f"[PG ID 0 PG GUID {group} Rank {rank}]  failure detected by watchdog at work sequence id: {seq} PG status: last"
        dogs.learn("c10d_failed_at", text, None, "applog/out", 99)
    return {f.name: f.fields for f in dogs.findings(Topology(JobContext()), world)}


def test_the_rank_that_did_not_speak_is_found():
    found = findings([(r, 7, "ALLREDUCE", 64) for r in (0, 1, 3)], 4)
    assert found["collective_absent_rank"]["absent"] == "2"
    assert found["collective_absent_rank"]["rank"] == "2"


def test_when_all_ranks_wait_nobody_is_absent():
    assert findings([(r, 7, "ALLREDUCE", 64) for r in range(4)], 4) == {}


def test_ranks_of_one_group_in_different_sizes_disagree():
    groups = [(0, 7, "0(default_pg)"), (1, 7, "0(default_pg)")]
    found = findings([(0, 7, "BROADCAST", 64), (1, 7, "BROADCAST", 4096)], None, groups)
    assert found["collective_mismatch"]["sure"] == "yes"
    assert found["collective_mismatch"]["ranks"] == "0-1"


def test_sizes_that_may_differ_by_design_are_no_disagreement():
    assert "collective_mismatch" not in findings([(0, 7, "ALLTOALL_BASE", 64), (1, 7, "ALLTOALL_BASE", 96)], None)


def test_without_the_groups_name_a_disagreement_is_not_sure():
    assert findings([(0, 7, "ALLREDUCE", 64), (1, 7, "ALLGATHER", 64)], None)["collective_mismatch"]["sure"] == "no"


def test_half_a_world_missing_names_nobody():
    assert findings([(r, 7, "ALLREDUCE", 64) for r in range(4)], 64) == {}
