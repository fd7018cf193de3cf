"""The suite `bbr-draft` over rates and round-trip times: the second part of its page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import fill

from pages.made import row
from pages.tables.bbr_grid import LEAST_PACKETS, MOST_PACKETS, PACKET, RATES, RTTS, Cell, play
from thalweg.base.quantity import text
from thalweg.cli.tables import criterion_text
from thalweg.engine.catalogue import Suite

TIED = ("22-refill-app-limited",)
"""Scenarios whose stimulus is tied to a moment of their own path."""
WIDTH = 110
QUANTA_S = 0.003
"""Three send quanta of 1 ms each: what Inflight() allows at least (draft-ietf-ccwg-bbr section 5.6.4.2)."""
LOST, LEAST_LOST = 0.2, 6
"""The loss of cases 2, 6 and 7, and how many losses in a round trip end Startup (section 5.3.1.3)."""
PROBE_RTT_S = 5.0
"""ProbeRTTInterval."""
FEW_BPS = 1e5
"""Below this rate there are a few packets a second."""
REASONS = """\
A letter is assigned by a rule on the cell (`why` in `bbr_grid_page.py`); cells that were traced by hand are
named.

- **W**: the window is never below four packets (MinPipeCwnd, section 5.6.4.6), more than the BDP here (for
  cases 16 and 17, than the BDP at the tenth of the rate). The standing queue of these packets is the round
  trip, so that nothing can hold that speaks of one RTT or one BDP of the path. 64 kbps has five packets a
  second, at any RTT: probes do not end within the trial, and nothing is reordered. A finding about the
  range that the draft gives: with its own floor of the window the cases cannot hold there. Why max_bw is up
  to a quarter above the rate (cases 1 and 14) was not traced.
- **Q**: Inflight() allows three send quanta, 3 ms of the rate (section 5.6.4.2). With an RTT below 3 ms
  that is more than the queue of Startup leaves to drain, so that Drain and ProbeBW_DOWN end as they begin
  and show in no trace. A finding about the draft: cases 1, 3 and 4 speak of this Drain and of the
  ProbeBW_DOWN after it.
- **P**: ProbeRTT is due 5 s after the last one, whatever the RTT (section 5.3.4). With 200 ms and more it
  comes within a few rounds of Drain or of a probe and takes their place; the waits of ProbeBW of 2 to 3 s
  are clock time too. Case 9 meets it when its ProbeBW_DOWN begins after 3 s (traced: 100 Mbps, 40 ms; from
  3.5 s to ProbeRTT at 5.1 s). Case 16 shows the worst of it (traced: 10 Mbps, 200 ms): with a queue of 2 s,
  ProbeRTT begins within the round that follows each probe, and the filter of max_bw advances only if a
  round begins in ProbeBW after a probe (section 5.5.6); so it never advances, and max_bw stays at ten times
  the rate to the end. Our BBR does what the draft says; the expectation of case 16, that two cycles are
  enough, is wrong where round trips with queue are as long as ProbeRTT is apart. Bounds on utilisation and
  on the window are missed here since each ProbeRTT takes 200 ms and a round trip with half a BDP. Case 17
  misses our bound of 10 % on losses by up to two thirds; that was not traced.
- **L**: Startup ends by loss only after six ranges of lost packets in a round trip (section 5.3.1.3). At 60
  % of the rate and 20 % of loss that takes a BDP of 50 packets; below, Startup goes on until losses end. A
  finding about case 2, which asks only for "more than 2 %", and about what cases 6 and 7 need to leave
  Startup.
- **B**: the application writes 60 % of the rate all the time, but the sender is not always limited by it:
  what it keeps back in the ramp of Startup (traced: 1 Gbps, 40 ms, not in the table) or in a ProbeRTT
  during Startup (traced: 10 Mbps, 10 ms) it sends at full rate afterwards, finds the plateau and leaves
  Startup, as it must; or it ends probes with it (`07-up-app-limited`, traced: 100 Mbps, 1 ms, in the 130 ms
  after the ProbeRTT of 5 s). A finding about case 7: it holds only if nothing is ever kept back.
- **M**: case 9 holds the sender in ProbeBW_DOWN by a link of 0.9 times the rate, as if it sent at the
  pacing gain of 0.9. It sends 1 % less (PacingMarginPercent, section 2.5), so that the queue drains at 0.9
  % of the rate: on short paths it is gone before the next probe is due (traced: 100 Mbps, 10 ms; 73 kB in
  0.9 s). A finding about case 9: its change must be larger than the margin.
- **G**: our bounds of 15 RTT, half a BDP and 3 BDP leave no room for single packets where the BDP is nine
  of them."""


def cases() -> list[str]:
    """The scenarios of the suite that are played over the grid."""
    return [entry.name for entry in Suite.find("bbr-draft").entries if entry.name not in TIED]


def why(name: str, cell: Cell) -> str:
    """The letter of the reason for which a case fails on a path, `?` if none is known."""
    case = name[:2]
    least = cell.bdp / 10 if case in {"16", "17"} else cell.bdp
    loses_six = LOST * 0.6 * cell.bdp / PACKET >= LEAST_LOST
    rules = {
        "W": least < 4 * PACKET or cell.bps < FEW_BPS,
        "B": case == "07",
        "L": name in {"02-startup-loss-app-limited", "06-up-loss-app-limited"} and not loses_six,
        "Q": case in {"01", "03", "04"} and cell.rtt_s <= QUANTA_S,
        "P": cell.rtt_s >= PROBE_RTT_S / 25 or (case == "09" and cell.rtt_s >= 0.04),
        "M": case == "09",
        "G": cell.bdp < 9 * PACKET and case in {"04", "13", "21"},
    }
    return next((letter for letter, holds in rules.items() if holds), "?")


def shown(name: str, cell: Cell, seed: int) -> tuple[str, str]:
    """What the table shows of a case in a cell, and the first criterion that fails there with its value."""
    played = play(name, cell, seed)
    if played.failed is None:
        return played.why, ""
    if not played.failed:
        return "holds", ""
    first = played.failed[0]
    value = text(first.median, first.unit) if math.isfinite(first.median) else "never in that state"
    return f"fails {why(name, cell)}", f"{criterion_text(first)}: {value}"


def lines_of(name: str, rtt: str, seed: int) -> Iterator[str]:
    """The line of a case at a round-trip time."""
    yield row(name, rtt, *(shown(name, Cell(rate, rtt), seed)[0] for rate in RATES))


def section(seed: int) -> str:
    """The section of the page."""
    lines: list[str] = []
    failing: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    counts = {"holds": 0, "fails": 0, "n/a": 0, "-": 0}
    for name in cases():
        for rtt in RTTS:
            cells = {rate: shown(name, Cell(rate, rtt), seed) for rate in RATES}
            lines.append(row(name, rtt, *(cell for cell, _ in cells.values())))
            for rate, (cell, example) in cells.items():
                counts[cell.split()[0]] += 1
                if example:
                    failing.setdefault((name, cell.split()[1]), []).append((rate, rtt, example))
    examples = [
        row(name, letter, str(len(found)), f"{found[0][0]}, {found[0][1]}", found[0][2])
        for (name, letter), found in failing.items()
    ]
    about = f"""The draft wants its cases over a range of RTTs from below 1 ms to 1 s and of rates from
64 kbps to 10 Gbps. Here each scenario is played once for each of {len(RATES)} rates and
{len(RTTS)} RTTs (seed {seed}), with all that belongs to its own path derived from the cell
([`bbr_grid.py`](../../../pages/tables/bbr_grid.py)): rates, lengths
of losses, bursts and suspensions in round trips, times of changes, the buffer ({LEAST_PACKETS} packets at least),
and the bound on what is in flight. Case 22 is left out, since its pause is tied to a moment of its own path.
1 and 10 Gbps are left out, where a trial takes millions of packets, and so are cells (`-`) that would send more
than {MOST_PACKETS / 1e6:.0f} million. `n/a`: the case does not arise, as a sub-packet BDP at 100 Mbps.
{counts["holds"]} cells hold, {counts["fails"]} fail, {counts["n/a"]} have no such case and {counts["-"]}
are left out."""
    return f"""## Over rates and round-trip times

{fill(" ".join(about.split()), WIDTH, break_on_hyphens=False)}

<!-- made: grid -->
{row("scenario", "RTT", *RATES)}
{row(":--", ":--", *(":--" for _ in RATES))}
{chr(10).join(lines)}
<!-- end -->

What fails, with the first criterion that does in the first such cell:

<!-- made: failing -->
{row("scenario", "why", "cells", "first cell", "criterion and its value there")}
{row(":--", ":--", "--:", ":--", ":--")}
{chr(10).join(examples)}
<!-- end -->

{REASONS}
"""
