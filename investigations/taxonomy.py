"""The vocabulary of verdicts as pages and reviews need it: groups, labels, and whether a word is one of ours."""

from __future__ import annotations

from rules import taxonomy

OUTCOMES: tuple[str, ...] = taxonomy.outcomes()
SUB_DOMAINS: tuple[str, ...] = tuple(taxonomy.sub_domains())
ALL_CAUSES: frozenset[str] = frozenset(taxonomy.causes())

DOMAINS: dict[str, list[str]] = {}
for _sub, _domain in taxonomy.sub_domains().items():
    DOMAINS.setdefault(_domain, []).append(_sub)

CAUSES: dict[str, list[str]] = {sub: [] for sub in SUB_DOMAINS}
for _cause, _sub in taxonomy.causes().items():
    CAUSES[_sub].append(_cause)


def sub_domain_of(cause: str) -> str:
    """`gpu_hang` -> `gpu`; `unknown` for a word that is no cause."""
    return taxonomy.sub_domain_of(cause)


def domain_of(sub_domain: str) -> str:
    """`gpu` -> `infrastructure`; `unknown` for a word that is no sub-domain."""
    return taxonomy.sub_domains().get(sub_domain, "unknown")


def words(slug: str) -> str:
    """A slug as a person reads it: `gpu_fell_off_bus` -> `GPU fell off bus`."""
    return taxonomy.plain_name(slug)


def cause_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Causes grouped by sub-domain, for a select element."""
    return [(words(sub), [(cause, words(cause)) for cause in causes]) for sub, causes in CAUSES.items()]
