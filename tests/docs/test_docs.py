"""The documents say what the code does: every word explained, every link good, every example valid."""

import re

import pytest
import yaml

from connectors.config import parse_config
from connectors.files.placeholders import ALLOWED
from connectors.files.settings import LogPattern
from connectors.registry import BUILT_IN, load_registry
from rules import schema, verdict_schema
from rules.check import check
from rules.pack import CORE, load_pack
from telemetry.bundle import SOURCES
from telemetry.coverage import STATUSES, Coverage
from telemetry.job import JobContext
from telemetry.manifest import Manifest, StreamEntry
from tests.docs.reading import DOCUMENTS, ROOT, anchors, examples, links, rows, section, text_of, words

RULE_WORDS = {
    "Rule": schema.RuleModel,
    "Signature": schema.SignatureModel,
    "Place": schema.PlaceFields,
    "Decode": schema.Decode,
    "Examples": schema.Examples,
    "Example": schema.Example,
    "Requires": schema.Requires,
    "Explains": schema.Explains,
    "Overrules": schema.Overrules,
    "Bundle": schema.BundleExample,
}
BY_SLUG = {connector.slug: connector for connector in BUILT_IN}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_within_the_repository_leads_somewhere(path):
    for link in links(path):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{path.name} points to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{path.name} points to {link}, a heading that is not there"


def test_every_document_is_reached_from_the_readme():
    named = {link.partition("#")[0] for link in links(ROOT / "README.md")}
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= named


@pytest.mark.parametrize("heading", RULE_WORDS)
def test_every_word_of_a_rule_is_explained(heading):
    explained = words_of_first_column("docs/rules.md", heading, "The words of a rule")
    assert sorted(explained) == sorted(RULE_WORDS[heading].model_fields)


def words_of_first_column(name, heading, within=""):
    return [row[0].strip("`") for row in rows(section(name, heading, within))]


def test_no_model_of_a_rule_file_is_forgotten():
    models = {model for model in vars(schema).values() if isinstance(model, type) and issubclass(model, schema.Model)}
    assert models - {schema.Model} == set(RULE_WORDS.values())


def test_groups_relations_and_derived_signals_are_explained():
    assert {word.lstrip("@") for word in words_of_first_column("docs/rules.md", "Groups")} == schema.GROUPS
    relations = words_of_first_column("docs/rules.md", "Relations of place")
    assert sorted(relations) == sorted(schema.Where.__args__)
    derived = words_of_first_column("docs/rules.md", "Derived signals")
    assert sorted(derived) == sorted(schema.Derived.__args__)


@pytest.mark.parametrize("field", ["layer", "standing", "place", "maturity"])
def test_every_value_of_a_choice_is_named(field):
    allowed = schema.RuleModel.model_fields[field].annotation.__args__
    text = section("docs/rules.md", "Rule", "The words of a rule") + text_of("docs/rules.md")
    assert [value for value in allowed if f"`{value}`" not in text] == []


def test_the_rules_in_the_documents_pass_the_check(tmp_path):
    found = [*examples("docs/rules.md", "yaml"), *examples("CONTRIBUTING.md", "yaml")]
    assert len(found) == 3
    local = tmp_path / "site-rules"
    local.mkdir()
    for number, text in enumerate(found):
        (local / ("pack.yaml" if text.startswith("# pack.yaml") else f"rule{number}.yaml")).write_text(text)
    pack = load_pack(CORE, local)
    assert pack.name == "core+site"
    assert {"site_project_quota", "example_peer_went_away"} <= set(pack.by_id)
    assert [str(fault) for fault in check(pack) if fault.file.startswith("site-rules/")] == []


def _objects(properties):
    """Name and schema of every key of the verdict that is an object or a list of objects."""
    for name, shape in properties.items():
        for one in (shape, *shape.get("anyOf", ()), shape.get("items", {})):
            if name != "fields" and one.get("properties"):
                yield name, one["properties"]


def test_every_key_of_a_verdict_is_explained():
    properties = verdict_schema()["properties"]
    assert words_of_first_column("docs/verdict.md", "Verdict", "The keys") == list(properties)
    parts = dict(_objects(properties))
    assert {"pack", "error", "job", "culprits", "evidence", "chain", "coverage", "clocks"} <= set(parts)
    for name, held in parts.items():
        assert words_of_first_column("docs/verdict.md", name) == list(held), name


def test_every_word_that_a_verdict_may_use_is_named():
    properties = verdict_schema()["properties"]
    text = text_of("docs/verdict.md")
    choices = [properties[name]["enum"] for name in ("outcome", "terminal_state", "domain")]
    for name, held in _objects(properties):
        choices += [shape["enum"] for shape in held.values() if "enum" in shape and name != "alternatives"]
    assert [word for choice in choices for word in choice if f"`{word}`" not in text] == []


def _environment_of(source):
    names = set(re.findall(r"""env\.\w+\(\s*["']([A-Z_]+)["']""", source))
    secret = set(re.findall(r"""_secret\(\s*["']([A-Z_]+)["']""", source))
    return names | secret | {f"{name}_FILE" for name in secret}


def test_every_environment_variable_is_explained():
    explained = set(words_of_first_column("docs/settings.md", "The console"))
    read = _environment_of(text_of("attribution/settings.py"))
    assert {"SECRET_KEY", "SECRET_KEY_FILE", "FIRST_FAULT_ROOTS"} <= read
    assert explained == read
    below = [path for package in ("rules", "telemetry", "connectors") for path in (ROOT / package).rglob("*.py")]
    named = {name for path in below for name in re.findall(r'environ\.get\("([A-Z_]+)"', path.read_text())}
    assert set(words_of_first_column("docs/settings.md", "The engine")) == named


def _default(field):
    return "required" if field.is_required() else field.get_default(call_default_factory=True)


@pytest.mark.parametrize(
    ("heading", "config"),
    [*((connector.slug, connector.Config) for connector in BUILT_IN), ("patterns", LogPattern)],
)
def test_every_setting_of_a_connector_is_explained_with_its_default(heading, config):
    table = [row for row in rows(section("docs/connectors.md", heading)) if not row[0].startswith("`{")]
    assert [row[0].strip("`") for row in table] == list(config.model_fields)
    for (name, field), row in zip(config.model_fields.items(), table, strict=True):
        default, told = _default(field), yaml.safe_load(row[1].strip("`"))
        assert told == (list(default) if isinstance(default, tuple) else default), name


def test_every_connector_and_placeholder_is_explained():
    assert set(BY_SLUG) == {connector.slug for connector in load_registry(()).all()}
    listed = {re.sub(r"\[`(\w+)`\].*", r"\1", row[0]): row for row in rows(section("docs/connectors.md", "Connectors"))}
    assert set(listed) == set(BY_SLUG)
    for slug, connector in BY_SLUG.items():
        assert (listed[slug][1] == "yes") == ("find" in connector.capabilities)
        assert (listed[slug][2] == "yes") == ("discover" in connector.capabilities)
    placeholders = {word.strip("{}") for word in words(section("docs/connectors.md", "patterns")) if word[0] == "{"}
    assert placeholders == set(ALLOWED)


@pytest.mark.parametrize("name", ["README.md", "docs/connectors.md"])
def test_every_example_of_a_connectors_settings_holds(name):
    found = [text for text in examples(name, "yaml") if text.startswith("# kind: ")]
    assert found == examples(name, "yaml")
    for text in found:
        kind = text.splitlines()[0].removeprefix("# kind: ")
        parse_config(BY_SLUG[kind], yaml.safe_load(text))


def test_the_bundle_format_is_explained():
    for heading, model in (("The job", JobContext), ("streams", StreamEntry), ("Coverage", Coverage)):
        explained = words_of_first_column("docs/bundles.md", heading)
        assert [word for word in explained if word not in STATUSES] == list(model.__dataclass_fields__), heading
    assert [
        word for word in words_of_first_column("docs/bundles.md", "Coverage") if word in STATUSES and word != "status"
    ] == list(STATUSES)
    assert words_of_first_column("docs/bundles.md", "The five sources") == list(SOURCES)
    written = set(Manifest(JobContext()).as_dict())
    assert set(words_of_first_column("docs/bundles.md", "The manifest")) == written


def test_the_screenshot_is_small():
    assert (ROOT / "docs/images/investigation.png").stat().st_size < 300_000
