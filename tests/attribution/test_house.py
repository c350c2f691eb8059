"""The order of the house: which package may import which, and how long a file may get."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BY_HAND = {".py", ".html", ".js", ".css", ".md", ".yaml", ".sh"}
NOT_BY_HAND = ("static/vendor/", "/migrations/", "investigations/samples/", "tests/data/", "LICENSE")
LONGEST = 500


def _tracked_files():
    """What git knows or would take, so that a new file counts before it is committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_written_by_hand_is_longer_than_500_lines():
    lengths = {
        name: (ROOT / name).read_bytes().count(b"\n")
        for name in _tracked_files()
        if Path(name).suffix in BY_HAND and not any(part in name for part in NOT_BY_HAND)
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST} == {}


@pytest.mark.slow
def test_imports_run_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("package", ["telemetry", "connectors", "rules"])
def test_the_lower_packages_load_without_django(package):
    script = f"import sys, {package}\nassert not any(m.split('.')[0] in ('django', 'celery') for m in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
