"""The hardware rules as a whole: every number of the vendor's tables reaches one rule, of the right weight.

Single rules bring their own examples and bundles; ``rules check`` runs those. Here stands what no single rule can
say: that the numbers leave no hole and that no line is claimed by two rules that would blame different things.
"""

from __future__ import annotations

import pytest

from rules.pack import Signature, core_pack
from rules.signals import read_fields

# https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html: numbers to be ignored when they stand alone.
IGNORED_XIDS = (37, 38, 44, 66, 67, 92, 93, 106, 107, 121, 141, 147, 148, 152, 153)
# Numbers that only record what followed from another event.
FOLLOWING_XIDS = (43, 45, 63, 154, 156, 160)
CAUSES_OF_XIDS = {
    31: "illegal_memory_access",
    46: "gpu_hang",
    48: "gpu_memory_uncorrectable",
    54: "gpu_power",
    62: "gpu_internal_error",
    64: "gpu_row_remap_failure",
    74: "gpu_link_down",
    79: "gpu_fell_off_bus",
    94: "gpu_memory_uncorrectable",
    95: "gpu_memory_uncorrectable",
    109: "gpu_hang",
    110: "gpu_internal_error",
    119: "gpu_firmware_failure",
    120: "gpu_firmware_failure",
    136: "gpu_link_down",
    140: "gpu_memory_uncorrectable",
    143: "gpu_internal_error",
    150: "gpu_link_down",
    157: "gpu_row_remap_failure",
    158: "gpu_internal_error",
    161: "gpu_row_remap_failure",
}
# https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html: always fatal, and non-fatal.
ALWAYS_FATAL_SXIDS = (12020, 22003, 22011, *range(23001, 23018))
NONFATAL_SXIDS = (10005, 11012, 11021, 11022, 11023, 12021, 12023, 15011, 19049, 20001, 20012, 22013, 24001)


def kernel_hits(line: str) -> list[Signature]:
    """The signatures that speak on a kernel line, with the generic ones dropped where another one speaks."""
    hits = [s for s in core_pack().scanned("kernel") if read_fields(s, line.encode()) is not None]
    return [s for s in hits if not s.model.generic] or hits


def xid_line(number: int) -> str:
    return f"NVRM: Xid (PCI:0000:3b:00): {number}, pid=35097, name=python3, Ch 00000008"


@pytest.mark.parametrize("number", range(1, 181))
def test_every_xid_number_is_read_and_blames_one_thing_at_most(number):
    hits = kernel_hits(xid_line(number))
    assert hits, f"Xid {number} is not seen at all"
    assert len({s.rule.cause for s in hits if s.rule.cause}) <= 1


@pytest.mark.parametrize(("number", "cause"), CAUSES_OF_XIDS.items())
def test_an_xid_that_names_a_fault_leads_to_its_cause(number, cause):
    assert cause in {s.rule.cause for s in kernel_hits(xid_line(number))}


@pytest.mark.parametrize("number", IGNORED_XIDS)
def test_an_xid_that_the_vendor_says_to_ignore_is_only_shown(number):
    assert {s.rule.standing for s in kernel_hits(xid_line(number))} == {"context"}


@pytest.mark.parametrize("number", FOLLOWING_XIDS)
def test_an_xid_that_follows_another_event_is_never_a_cause(number):
    assert {s.rule.standing for s in kernel_hits(xid_line(number))} == {"symptom"}


@pytest.mark.parametrize("frame", ["PCI:0000:3b:00", "0000:3b:00", "PCI:0009:01:00 GPU-I:01 GPU-CI:00"])
def test_an_xid_is_read_in_every_form_of_its_frame(frame):
    hits = kernel_hits(f"Mar  1 10:00:00 n1 kernel: [12.3] NVRM: Xid ({frame}): 79, GPU has fallen off the bus.")
    assert [s.rule.cause for s in hits] == ["gpu_fell_off_bus"]


@pytest.mark.parametrize("number", ALWAYS_FATAL_SXIDS)
def test_an_always_fatal_switch_message_stands_by_itself(number):
    line = f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {number}, Fatal, Link 32 text (First)"
    assert [(s.rule.cause, s.rule.standing) for s in kernel_hits(line)] == [("gpu_switch_fault", "self_standing")]


@pytest.mark.parametrize("number", NONFATAL_SXIDS)
def test_a_routine_switch_message_is_only_shown_even_where_the_driver_prints_fatal(number):
    line = f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {number}, Fatal, Link 32 text (First)"
    assert {s.rule.standing for s in kernel_hits(line)} == {"context"}


SIGNAL, DOWN = "gpu_link_signal_integrity", "gpu_link_down"


@pytest.mark.parametrize(
    ("reason", "cause"),
    [(2, SIGNAL), (4, SIGNAL), (10, SIGNAL), (43, SIGNAL), (1, DOWN), (21, DOWN), (22, DOWN), (35, DOWN), (37, DOWN)],
)
def test_the_reason_inside_a_link_down_word_decides_the_cause(reason, cause):
    word = reason << 20 | 0x105C6
    line = f"NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_DOWN Fatal XC0 i0 Link 08 (0x{word:08x} 0x00000000 0x00000000)"
    assert {s.rule.cause for s in kernel_hits(line)} == {cause}


def test_a_link_down_by_a_planned_reset_is_only_shown():
    line = "NVRM: Xid (PCI:0000:00:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x026001c6 0x00000000 0x00000000)"
    assert {s.rule.standing for s in kernel_hits(line)} == {"context"}


@pytest.mark.parametrize(
    "line",
    [
        "pcieport 0000:30:01.1: AER: Correctable error message received from 0000:3d:00.0",
        "EXT4-fs (nvme0n1p2): re-mounted. Opts: (null). Quota mode: none.",
        "nvme nvme0: 128/0/0 default/read/poll queues",
        "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1a2b3c)",
        "mce: [Hardware Error]: Machine check events logged",
        "amdgpu 0000:e3:00.0: amdgpu: 0 uncorrectable hardware errors detected in umc block",
        "amdgpu 0000:c1:00.0: amdgpu: psp gfx command LOAD_TA(0x1) failed and response status is (0x7)",
        "CPU43: Package temperature is above threshold, cpu clock is throttled (total events = 57)",
        "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@host) (gcc 11.4.0) #54-Ubuntu SMP",
    ],
)
def test_everyday_kernel_chatter_can_never_be_a_cause(line):
    assert not [s.id for s in kernel_hits(line) if s.rule.is_cause]
