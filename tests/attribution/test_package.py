"""`pip install .` gives the same program as the checkout: rule packs, templates, static files and all."""

import os
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "investigations" / "samples" / "bundles"
OURS = ("DJANGO_", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "FIRST_FAULT_", "PYTHONPATH")

pytestmark = pytest.mark.slow


def _run(*command, cwd, **env):
    bare = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**bare, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", folder]
    _run(sys.executable, "-m", "pip", "wheel", *options, ROOT, cwd=folder)
    return next(folder.glob("first_fault-*.whl"))


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The `bin` folder of a fresh environment with the package; its dependencies are borrowed from this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=folder)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / "bin"


def test_an_installed_copy_gives_the_same_verdict_byte_for_byte(installed, tmp_path):
    bundles = [SAMPLES / "job-88213", SAMPLES / "job-837"]
    here = _run(sys.executable, "manage.py", "attribute", *bundles, "--json", cwd=ROOT)
    there = _run(installed / "first-fault", "attribute", *bundles, "--json", cwd=tmp_path)
    assert here.count("\n") == 2
    same = there == here
    assert same, "the verdicts differ"  # a comparison shown by pytest would take minutes on lines this long
    first = _run(installed / "python", "-m", "attribution", "attribute", bundles[0], "--json", cwd=tmp_path)
    assert here.startswith(first)
    assert list(tmp_path.iterdir()) == []


def test_an_installed_copy_serves_pages_with_their_files(installed, tmp_path):
    script = """
import django
django.setup()
from pathlib import Path
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import get_template
assert settings.INSTALLED and "site-packages" in str(settings.SHIPPED), settings.SHIPPED
found = Path(get_template("registration/login.html").origin.name)
assert "site-packages" in str(found), found
assert "site-packages" in finders.find("css/base.css")
"""
    _run(installed / "python", "-c", script, cwd=tmp_path, DJANGO_SETTINGS_MODULE="attribution.settings")


def test_the_wheel_carries_every_file_of_the_program_and_no_test(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder, within in [
        ("templates", "attribution/"),
        ("static", "attribution/"),
        ("rules", ""),
        ("investigations", ""),
    ]:
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert within + file.relative_to(ROOT).as_posix() in inside
    assert not [name for name in inside if name.startswith("tests/")]
