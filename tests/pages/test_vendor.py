"""Third-party files are what the manifest says, and nothing is loaded from elsewhere."""

import hashlib
import re
import tomllib
from pathlib import Path

import plotly

STATIC = Path(__file__).parents[2] / "static"
TEMPLATES = Path(__file__).parents[2] / "templates"
MANIFEST = tomllib.loads((STATIC / "vendor" / "MANIFEST.toml").read_text(encoding="utf-8"))["file"]


def test_every_vendored_file_has_its_entry_and_its_checksum():
    entries = {entry["path"]: entry for entry in MANIFEST}
    files = {path.name for path in (STATIC / "vendor").iterdir()} - {"MANIFEST.toml"}
    assert files == entries.keys()
    for name, entry in entries.items():
        content = (STATIC / "vendor" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], name
        assert entry["licence"]
        assert entry["version"]


def test_the_browsers_plotly_is_the_version_that_checks_the_figures():
    with (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").open(encoding="utf-8") as script:
        carried = script.read(400)
    served = next(entry["version"] for entry in MANIFEST if entry["path"] == "plotly-cartesian.min.js")
    assert f"v{served}" in carried


def test_no_template_has_inline_code_or_style():
    for path in TEMPLATES.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text), path
        assert not re.search(r"<script(?![^>]*\ssrc=)", text), path
        assert not re.search(r"(?:src|href)=\"https?:", text), path


def test_charts_never_offer_to_send_data_away():
    script = (STATIC / "js" / "timeline.js").read_text(encoding="utf-8")
    assert "showSendToCloud: false" in script
    assert "plotlyServerURL: ''" in script


def test_no_style_sheet_but_the_tokens_names_a_colour():
    for path in (STATIC / "css").glob("*.css"):
        if path.name == "tokens.css":
            continue
        found = re.findall(r"#[0-9a-fA-F]{3,8}\b", path.read_text(encoding="utf-8"))
        assert set(found) <= {"#fff"}, path  # white for print
