"""Opening bundles: the job, the streams, what is missing, what is broken."""

import os
import tarfile
from pathlib import Path

import pytest

from telemetry import BundleError, open_bundle
from telemetry.archive import pack
from tests.telemetry.files import bundle_folder, recorded

INCIDENT = """
id: secret-case
title: The answer
source: https://example.org/
job:
  id: "77"
  cluster: c1
  scheduler: slurm
  started: '2026-03-11T08:41:02Z'
  state: CANCELLED by 1001
  exit_code: 1:0
  nodes: [node01, node02]
  ranks_per_node: 8
label: {cause: gpu_fell_off_bus}
"""


def test_the_job_is_read_and_the_rest_of_the_incident_file_is_not(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path / "gpu_fell_off_bus", {"incident.yaml": INCIDENT}))
    assert bundle.job.id == "77"
    assert bundle.job.exit_code == "1:0"
    assert bundle.job.state == "CANCELLED"
    assert bundle.job.started
    assert bundle.job.started.isoformat() == "2026-03-11T08:41:02+00:00"
    assert bundle.job.node_of_rank(8) == "node02"
    assert bundle.job.node_of_rank(16) is None
    assert "secret" not in repr(bundle.job)
    assert "gpu_fell" not in repr(bundle.job)


def test_the_digest_depends_on_paths_bytes_and_job_only(tmp_path: Path) -> None:
    files = {"incident.yaml": INCIDENT, "applog/a.out": "x\n", "syslog/node01.log": "y\n"}
    one = open_bundle(bundle_folder(tmp_path / "one", files)).digest
    relabelled = INCIDENT.replace("The answer", "Other").replace("gpu_fell_off_bus", "nothing")
    assert open_bundle(bundle_folder(tmp_path / "two", {**files, "incident.yaml": relabelled})).digest == one
    assert open_bundle(bundle_folder(tmp_path / "three", {**files, "applog/a.out": "z\n"})).digest != one
    other_job = INCIDENT.replace('"77"', '"78"')
    assert open_bundle(bundle_folder(tmp_path / "four", {**files, "incident.yaml": other_job})).digest != one
    moved = {name.replace("a.out", "b.out"): text for name, text in files.items()}
    assert open_bundle(bundle_folder(tmp_path / "five", moved)).digest != one


def test_a_node_without_syslog_is_missing_not_clean(tmp_path: Path) -> None:
    files = {"incident.yaml": INCIDENT, "syslog/node01.cluster.local.log": "x\n", "applog/out": ""}
    coverage = {report.source: report for report in open_bundle(bundle_folder(tmp_path, files)).coverage}
    assert list(coverage) == ["scheduler", "applog", "syslog", "fabric", "metrics"]
    assert coverage["syslog"].status == "partial"
    assert coverage["syslog"].nodes_missing == ("node02",)
    assert coverage["applog"].status == "empty"
    assert coverage["metrics"].status == "not_collected"


def test_a_node_whose_syslog_is_empty_is_missing_too(tmp_path: Path) -> None:
    files = {"incident.yaml": INCIDENT, "syslog/node01.log": "x\n", "syslog/node02.log": ""}
    assert open_bundle(bundle_folder(tmp_path, files)).coverage[2].nodes_missing == ("node02",)


def test_one_file_for_all_nodes_does_not_claim_that_nodes_are_missing(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path, {"incident.yaml": INCIDENT, "syslog/messages": "x\n"}))
    assert bundle.coverage[2].status == "complete"
    assert bundle.streams[0].node is None


def test_files_are_placed_on_nodes_by_their_names(tmp_path: Path) -> None:
    names = ["applog/rank3-node02.out", "applog/slurm-77.out", "fabric/leaf-3.log", "syslog/node01.log.gz"]
    bundle = open_bundle(bundle_folder(tmp_path, {"incident.yaml": INCIDENT, **dict.fromkeys(names, "x\n")}))
    assert [stream.node for stream in bundle.streams] == ["node02", None, "leaf-3", "node01"]


def test_broken_yaml_beside_logs_is_a_problem_and_the_job_comes_from_the_records(tmp_path: Path) -> None:
    head, steps = "JobID|User|State|ExitCode|Start|End|NodeList\n", "9.0||FAILED|1:0||||\n"
    sacct = head + "9|ann|FAILED|1:0|1796129202|1796129204|n[1-2]\n" + steps
    bundle = open_bundle(bundle_folder(tmp_path, {"incident.yaml": "job: [", "scheduler/sacct.txt": sacct}))
    assert (bundle.problems[0].stream, bundle.problems[0].where) == ("incident.yaml", "line 1")
    assert (bundle.job.id, bundle.job.state, bundle.job.nodes) == ("9", "FAILED", ("n1", "n2"))
    assert bundle.job.started
    assert bundle.job.started.timestamp() == 1796129202


def test_times_without_zone_do_not_become_the_jobs_window_unless_the_zone_is_known(tmp_path: Path) -> None:
    sacct = "JobID|State|Start|End|NodeList\n9|FAILED|2026-07-01T12:00:00|2026-07-01T13:00:00|n1\n"
    bare = open_bundle(bundle_folder(tmp_path / "a", {"scheduler/sacct.txt": sacct}))
    assert bare.job.started is None
    assert bare.job.nodes == ("n1",)
    zoned = {"scheduler/sacct.txt": sacct, "incident.yaml": "job: {timezone: Europe/Berlin}"}
    job = open_bundle(bundle_folder(tmp_path / "b", zoned)).job
    assert job.started
    assert job.started.isoformat() == "2026-07-01T10:00:00+00:00"


def test_records_of_several_jobs_describe_none_of_them(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path, {"scheduler/sacct.txt": recorded("slurm/all.P.txt")}))
    assert bundle.job.id is None
    assert bundle.job.nodes == ()


def test_the_last_run_of_a_requeued_job_describes_it(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path, {"scheduler/sacct.json": recorded("slurm/requeue.json")}))
    assert bundle.job.state == "COMPLETED"
    assert bundle.job.started is not None


def test_pods_tell_nodes_and_state(tmp_path: Path) -> None:
    job = open_bundle(bundle_folder(tmp_path, {"scheduler/pods.json": recorded("kubernetes/oom.pods.json")})).job
    assert (job.scheduler, job.nodes, job.state) == ("kubernetes", ("node02",), "FAILED")


@pytest.mark.parametrize("made", ["missing", "empty", "only a folder name"])
def test_nothing_to_read_is_an_error_that_says_what_to_do(tmp_path: Path, made: str) -> None:
    path = tmp_path / "case"
    if made != "missing":
        path.mkdir()
    if made == "only a folder name":
        (path / "applog").mkdir()
    with pytest.raises(BundleError) as raised:
        open_bundle(path)
    assert raised.value.where == str(path)
    assert raised.value.remedy


def test_links_out_of_the_bundle_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("secret")
    root = bundle_folder(tmp_path / "case", {"applog/a.out": "x\n"})
    os.symlink(tmp_path / "passwd", root / "applog" / "b.out")
    os.symlink("a.out", root / "applog" / "c.out")
    bundle = open_bundle(root)
    assert [stream.path for stream in bundle.streams] == ["applog/a.out", "applog/c.out"]
    assert bundle.problems[0].stream == "applog/b.out"


def test_a_file_outside_the_source_folders_is_named(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path, {"train.log": "x", "applog/a.out": "x"}))
    assert bundle.problems[0].stream == "train.log"
    assert "scheduler" in bundle.problems[0].remedy


def test_a_packed_bundle_is_the_same_bundle_and_packs_to_the_same_bytes(tmp_path: Path) -> None:
    files = {"incident.yaml": INCIDENT, "applog/a.out": "x\n", "syslog/node01.log": "y\n"}
    root = bundle_folder(tmp_path / "case", files)
    pack(root, tmp_path / "one.tar.zst")
    os.utime(root / "applog" / "a.out", (1, 1))
    pack(root, tmp_path / "two.tar.zst")
    assert (tmp_path / "one.tar.zst").read_bytes() == (tmp_path / "two.tar.zst").read_bytes()
    with open_bundle(tmp_path / "one.tar.zst") as packed:
        assert packed.digest == open_bundle(root).digest
        unpacked = packed.root
    assert not unpacked.exists()


@pytest.mark.parametrize("evil", ["../out", "/etc/out", "link", "device"])
def test_hostile_archives_are_refused(tmp_path: Path, evil: str) -> None:
    archive = tmp_path / "b.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("applog/x" if evil in ("link", "device") else evil)
        if evil == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        if evil == "device":
            member.type = tarfile.CHRTYPE
        tar.addfile(member)
    with pytest.raises(BundleError):
        open_bundle(archive)
    assert not (tmp_path / "out").exists()


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.zst").write_bytes(b"not an archive at all" * 100)
    with pytest.raises(BundleError, match="not an archive"):
        open_bundle(tmp_path / "x.tar.zst")


def test_a_hostile_yaml_file_does_not_hang_or_run_code(tmp_path: Path) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + at)}: &{chr(98 + at)} [{','.join(['*' + chr(97 + at)] * 9)}]\n" for at in range(12)
    )
    text = bomb + "job: {id: !!python/object/apply:os.system ['false'], nodes: *m}\n"
    bundle = open_bundle(bundle_folder(tmp_path, {"incident.yaml": text, "applog/a": "x"}))
    assert bundle.job.id is None


def test_a_name_that_is_not_utf8_is_shown_so_that_it_can_be_stored(tmp_path: Path) -> None:
    root = bundle_folder(tmp_path, {"applog/a.out": "x\n"})
    with open(os.fsencode(root) + b"/applog/\xff.out", "wb") as file:
        file.write(b"y\n")
    bundle = open_bundle(root)
    assert [stream.path for stream in bundle.streams] == ["applog/?.out", "applog/a.out"]
    assert bundle.streams[0].lines(1, 1)[0].text == b"y"
    assert len(bundle.digest) == 64


def test_an_unfinished_file_is_named_and_not_read(tmp_path: Path) -> None:
    bundle = open_bundle(bundle_folder(tmp_path, {"applog/a.out": "x\n", "applog/b.out.part": "x\n"}))
    assert [stream.path for stream in bundle.streams] == ["applog/a.out"]
    assert bundle.problems[0].stream == "applog/b.out.part"
