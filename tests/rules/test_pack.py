"""Rule packs: the shipped one holds what it promises, and a broken one is refused by file and line."""

import pytest

from rules.check import check
from rules.pack import CORE, PackError, load_pack

HEAD = "name: site\nversion: 1\nrequires_engine: 1\n"
RULE = """\
rule: {name}
cause: {cause}
title: A thing broke
layer: gpu
standing: self_standing
signatures:
  - id: {name}_line
    streams: [kernel]
    pattern: '{pattern}'
    examples:
      match: ['{example}']
"""


def pack_of(tmp_path, *documents, head=HEAD):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "pack.yaml").write_text(head)
    (folder / "rules.yaml").write_text("---\n".join(documents))
    return folder


def rule(name="thing_broke", cause="gpu_hang", pattern="thing broke", example="the thing broke"):
    return RULE.format(name=name, cause=cause, pattern=pattern, example=example)


def test_the_core_pack_holds_all_that_its_rules_promise():
    assert [str(fault) for fault in check(load_pack(CORE))] == []


@pytest.mark.parametrize(
    ("document", "line", "said"),
    [
        (rule(cause="gremlins"), 1, "unknown cause 'gremlins'"),
        (rule(pattern="thing .*"), 1, "ends open"),
        (rule(pattern="(?=thing) broke"), 1, "linear time"),
        (rule().replace("layer: gpu", "layer: moon"), 4, "layer"),
        (rule() + "colour: red\n", 12, "colour"),
        (rule() + "explains: [{effects: ['@gremlins']}]\n", 1, "unknown group"),
        (rule() + "explains: [{effects: [nobody]}]\n", 1, "'nobody'"),
        ("rule: [\n", 2, "not YAML"),
    ],
)
def test_a_broken_rule_is_refused_with_file_and_line(tmp_path, document, line, said):
    with pytest.raises(PackError) as caught:
        load_pack(CORE, pack_of(tmp_path, document))
    (fault, *_) = caught.value.faults
    assert fault.file == "site/rules.yaml"
    assert fault.line == line
    assert said in str(fault)


def test_an_example_that_does_not_match_is_a_fault(tmp_path):
    faults = check(load_pack(pack_of(tmp_path, rule(example="all is well"))))
    assert "does not match its example" in str(faults[0])


def test_a_circle_of_explanations_without_conditions_is_a_fault(tmp_path):
    one = rule("one", pattern="one broke", example="one broke") + "explains: [{effects: [two], where: same_job}]\n"
    two = rule("two", pattern="two broke", example="two broke") + "explains: [{effects: [one], where: same_job}]\n"
    assert any("explains itself" in str(f) for f in check(load_pack(pack_of(tmp_path, one, two))))


def test_two_rules_that_overrule_each_other_are_a_fault(tmp_path):
    one = rule("one", pattern="one broke", example="one broke") + "overrules: [{rules: [two], why: better}]\n"
    two = rule("two", pattern="two broke", example="two broke") + "overrules: [{rules: [one], why: better}]\n"
    assert any("overrule each other" in str(f) for f in check(load_pack(pack_of(tmp_path, one, two))))


def test_a_local_pack_adds_overrides_and_switches_off(tmp_path):
    head = HEAD + "disable: [gpu_fell_off_bus]\n"
    pack = load_pack(CORE, pack_of(tmp_path, rule(), head=head))
    assert "gpu_fell_off_bus" not in pack.by_id
    assert pack.where("thing_broke") == ("site/rules.yaml", 1)
    assert pack.name == "core+site"


def test_switching_off_a_rule_that_does_not_exist_is_a_fault(tmp_path):
    with pytest.raises(PackError, match="switches off"):
        load_pack(CORE, pack_of(tmp_path, rule(), head=HEAD + "disable: [nothing]\n"))
