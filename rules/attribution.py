"""``attribute``: a bundle and a rule pack in, a verdict out. Pure: no network, clock, database or chance."""

from __future__ import annotations

from pathlib import Path

from rules import faults as faulting
from rules.assembly import assemble
from rules.judgement import Case
from rules.observation import Scanner, observe
from rules.pack import Pack, core_pack
from rules.verdict import Verdict, unreadable
from telemetry.bundle import Bundle, BundleError, open_bundle

_scanners: dict[str, Scanner] = {}


def scanner_for(pack: Pack) -> Scanner:
    """The compiled databases of a pack, kept for the life of the process."""
    if pack.sha256 not in _scanners:
        _scanners[pack.sha256] = Scanner(pack)
    return _scanners[pack.sha256]


def attribute(bundle: Bundle, pack: Pack | None = None) -> Verdict:
    """The verdict on one bundle. The same bundle and pack give the same bytes, on any machine."""
    pack = pack or core_pack()
    observation = observe(bundle, pack, scanner_for(pack))
    faults = faulting.build(observation.signals, pack, observation.topology)
    judgement = Case(bundle, pack, faults, observation).judge()
    return assemble(bundle, pack, observation, faults, judgement)


def attribute_path(path: Path, pack: Pack | None = None) -> Verdict:
    """The verdict on a folder or archive; one that cannot be read gives a verdict-shaped answer with ``error``."""
    pack = pack or core_pack()
    try:
        return attribute(open_bundle(path), pack)
    except BundleError as error:
        return unreadable(error, pack)
