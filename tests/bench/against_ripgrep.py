"""`make bench`: the whole verdict on a 64-node, 1 GiB bundle against ripgrep looking for the same patterns.

Both on one core, in turn, best of five, warm page cache. ripgrep gets, for each source's folder, exactly the patterns
that our scan uses there (group names removed) and only counts lines; our time is the whole verdict: start of Python,
load of the rules and of the cached databases, scan, clocks, faults, judgement. The lines that ripgrep counts must be
the distinct lines that our scan hits, else the comparison is void and this says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rules import core_pack
from rules.attribution import scanner_for
from rules.schema import KIND_OF_SOURCE
from telemetry.bundle import open_bundle
from telemetry.formats.records import records
from tests.bench import generated

ROUNDS = 5


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_one_core(command: list[str], env: dict[str, str] | None = None) -> tuple[float, str]:
    began = time.perf_counter()
    done = subprocess.run(["taskset", "-c", "0", *command], capture_output=True, text=True, check=False, env=env)
    took = time.perf_counter() - began
    if done.returncode not in (0, 1):  # ripgrep's 1 is: no line matched
        raise SystemExit(f"{command[0]} failed ({done.returncode}): {done.stderr[-800:]}")
    return took, done.stdout


def our_lines(root: Path) -> dict[str, int]:
    """Distinct lines that our scan hits, by source; structured scheduler records are not lines and are left out."""
    scanner = scanner_for(core_pack())
    counts: dict[str, int] = {}
    for stream in open_bundle(root).streams:
        if records(stream) is None:
            database = scanner.database(KIND_OF_SOURCE[stream.source])
            hits = sum(1 for block in stream.blocks(count_lines=False) for _ in database.hits(block))
            counts[stream.source] = counts.get(stream.source, 0) + hits
    return counts


def ripgrep(source_folder: Path, patterns: Path) -> tuple[float, int]:
    command = ["rg", "--no-config", "-j1", "-uuu", "-a", "--no-unicode", "-c", "-f", str(patterns), str(source_folder)]
    took, out = on_one_core(command)
    return took, sum(int(line.rsplit(":", 1)[-1]) for line in out.splitlines() if line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1024, help="MiB of logs to generate")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "first-fault-bench")
    options = parser.parse_args()
    if not shutil.which("rg") or not shutil.which("taskset"):
        raise SystemExit(
            "The bench needs ripgrep (`rg`) and `taskset` in PATH; Debian: apt-get install ripgrep util-linux."
        )
    root = options.folder / "bundle"
    say(
        f"Input: {options.size} MiB, {generated.NODES} nodes, seed fixed; {(generated.__doc__ or '').strip().splitlines()[0]}"
    )
    generated.write(root, options.size * 1024 * 1024)
    scanner = scanner_for(core_pack())
    sources = ("syslog", "applog")
    files: dict[str, Path] = {}
    for source in sources:
        kind = KIND_OF_SOURCE[source]
        files[source] = options.folder / f"patterns-{source}.txt"
        files[source].write_text("\n".join(scanner.patterns_of(kind)) + "\n", encoding="utf-8")
        size = sum(f.stat().st_size for f in (root / source).iterdir())
        say(f"  {source}: {size / 2**20:.0f} MiB, {len(scanner.patterns_of(kind))} patterns")
    hits = our_lines(root)
    say("Lines hit: " + ", ".join(f"{source} {hits.get(source, 0)}" for source in sources))
    ours, theirs, peaks = [], [], []
    script = [sys.executable, "-m", "tests.bench.verdict", str(root)]
    for number in range(ROUNDS):
        began = time.perf_counter()
        out = on_one_core(script)[1]
        ours.append(time.perf_counter() - began)
        told = json.loads(out)
        peaks.append(told["peak"])
        total = 0.0
        for source in sources:
            took, counted = ripgrep(root / source, files[source])
            total += took
            if counted != hits.get(source, 0):
                raise SystemExit(
                    f"Void: ripgrep counts {counted} lines in {source}, our scan hits {hits.get(source, 0)}."
                )
        theirs.append(total)
        say(f"  round {number + 1}: verdict {ours[-1]:.2f} s, ripgrep {theirs[-1]:.2f} s")
    say(f"Verdict: {told['outcome']}, {told['cause']} on {', '.join(told['nodes'])}")
    say(
        f"Best of {ROUNDS}: verdict {min(ours):.2f} s, ripgrep {min(theirs):.2f} s, ratio {min(ours) / min(theirs):.2f}"
    )
    say(f"Peak memory of the verdict (VmHWM): {max(peaks) / 2**20:.0f} MiB")
    with tempfile.TemporaryDirectory() as cold:
        took = on_one_core(script, {**os.environ, "FIRST_FAULT_CACHE": cold})[0]
    say(f"First verdict with a cold pattern cache: {took:.2f} s")


if __name__ == "__main__":
    main()
