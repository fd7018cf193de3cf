"""Shipped scenarios with the C4 of draft -04, which the verdicts and the comparison with the peer are of."""

from __future__ import annotations

from collections.abc import Mapping

from thalweg.engine.catalogue import Entry, find_scenario
from thalweg.engine.scenario import Scenario

DRAFT_04 = "c4:variant=draft-04"


def of_draft_04(
    scenario: str | Entry,
    overrides: Mapping[str, str] | None = None,
    controllers: Mapping[str, str] | None = None,
) -> Scenario:
    """The scenario whose flows of `c4` have that version, but for those that `controllers` binds.

    >>> [flow["controller"] for flow in of_draft_04("c4/cubic-short").flows]
    ['c4:variant=draft-04', 'cubic']
    """
    entry = find_scenario(scenario) if isinstance(scenario, str) else scenario
    flows = Scenario.from_entry(entry).flows
    earlier = {str(flow["name"]): DRAFT_04 for flow in flows if flow["controller"] == "c4"}
    return Scenario.from_entry(entry, dict(overrides or {}), {**earlier, **(controllers or {})})
