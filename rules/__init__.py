"""Verdicts out: ``attribute(bundle)`` says which fault came first in a failed job, and how we know."""

from rules.attribution import attribute, attribute_path
from rules.pack import Pack, PackError, core_pack, load_pack
from rules.verdict import Verdict, verdict_schema

__all__ = ["Pack", "PackError", "Verdict", "attribute", "attribute_path", "core_pack", "load_pack", "verdict_schema"]
