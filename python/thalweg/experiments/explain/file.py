"""What a file of another program says about one connection, in sentences: limits, cuts, path, controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as File
from typing import Any

import numpy as np

from thalweg.base.quantity import percent, text
from thalweg.engine.scenario import Scenario
from thalweg.experiments.explain.conformance import Conformance, conformance
from thalweg.experiments.explain.file_what_if import Swap, doubt, swaps
from thalweg.experiments.explain.reproduction import Numbers, Reproduction, reproduction
from thalweg.experiments.explain.twin import FLOW, Twin
from thalweg.foreign.inference.cuts import NO_LOSS, counted, cuts
from thalweg.foreign.inference.idle import WHOLE, steady
from thalweg.foreign.inference.limits import Limits, limits, logged
from thalweg.foreign.inference.path import Path, path
from thalweg.foreign.inference.who import BUGS, FITS, Who, who
from thalweg.foreign.reading import View, read
from thalweg.foreign.reading.read import choose
from thalweg.results.limited import WORDS

_LEAST_SHARE = 0.01
_MOST_NAMED = 6
_NEXT = 2
_ASSUMED = "cubic"
"""The controller of a scenario whose file has too little to tell it."""


_EXCEEDED = (
    "Do not rely on it either way: packets come closer together than the capacity allows, as with jitter, so the "
    "capacity may be too low."
)


@dataclass(frozen=True)
class FileAccount:
    """One connection of a file."""

    view: View
    others: tuple[str, ...]
    """Names of the other connections in the file."""
    unread: tuple[tuple[str, str], ...]
    """Names of those that cannot be read, and why."""
    held: Limits | None
    """None where nothing tells what limited it."""
    path: Path
    who: Who
    cuts: tuple[tuple[float, str], ...]
    conforms: Conformance | None
    swaps: tuple[Swap, ...] = ()
    """With `what_if`: its twin with other controllers."""
    played: dict[str, Reproduction] = field(default_factory=dict, repr=False, compare=False)
    """What the twin made of it with each controller that has played it."""

    @property
    def twin(self) -> Twin:
        """The scenario of its path and its application. Raises RequestError if the file says too little."""
        return Twin.of(self.view, self.held, self.path)

    @property
    def controller(self) -> tuple[str, str]:
        """The controller of its scenario, and why it is this one."""
        if self.closest is not None:
            one_of = (
                f": of {', '.join(self.who.named)}, its twin is the closest" if len(self.who.named) > 1 else ""
            )
            return self.closest, f"The controller is {self.closest}{one_of}."
        if self.who.best is not None:
            name = self.who.best.controller
            return name, f"No controller fits; {name} is the closest one."
        return _ASSUMED, f"The file does not tell the controller: {_ASSUMED} is assumed."

    @cached_property
    def closest(self) -> str | None:
        """Among controllers that fit alike, the one that is closest when it plays the twin; None if none fits."""
        named = self.who.named
        if len(named) < 2:
            return named[0] if named else None
        return min(named, key=lambda name: self._reproduced(name).distance)

    @property
    def doubt(self) -> str:
        """Why the answers of `what_if` may not hold; empty if nothing says so."""
        if not self.swaps:
            return ""
        if not self.who.named:
            return "No controller fits the file, so that these are compared with none."
        # Before its first packet of data, a flow has a handshake and a request.
        took = Numbers.of(self.view).time_s + (self.path.base_rtt_s or 0.0)
        found = doubt(self.swaps[0], took)
        return f"{found} {_EXCEEDED}".strip() if self.path.is_exceeded else found

    @cached_property
    def scenario(self) -> str:
        """The text of a scenario that is as close to it as the file allows. Raises RequestError."""
        name, why = self.controller
        said = [f"What `thalweg explain` infers of {self.view.name} ({self.view.source}).", self._path(), why]
        return self.twin.commented(name, [one for one in said if one])

    @cached_property
    def reproduction(self) -> Reproduction:
        """Whether its scenario reproduces it. Raises RequestError."""
        return self._reproduced(self.controller[0])

    def _reproduced(self, name: str) -> Reproduction:
        """What the twin makes of it with a controller, which is played once."""
        if name not in self.played:
            twin = self.twin
            self.played[name] = reproduction(self.view, Scenario.from_toml(twin.scenario(twin.best, name), FLOW))
        return self.played[name]

    def sentences(self) -> list[str]:
        """In the order in which one asks."""
        said = (
            self._which(),
            self._rates(),
            self._losses(),
            self._limits(),
            self._window(),
            self._path(),
            self._who(),
            self.conforms.sentence() if self.conforms else "",
            *(one.sentence() for one in self.swaps),
            self.doubt,
            self._missing(),
        )
        return [sentence for sentence in said if sentence]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        view = self.view
        return {
            "flow": view.name,
            "others": list(self.others),
            "unread": [{"flow": name, "why": why} for name, why in self.unread],
            "source": view.source,
            "vantage": view.vantage,
            "duration_s": view.duration_s,
            "bytes": view.bytes,
            "sentences": self.sentences(),
            "limited": self.held.shares if self.held else {},
            "seconds": self.held.by_seconds() if self.held else [],
            "cuts": [{"time_s": time, "cause": cause} for time, cause in self.cuts],
            "path": self.path.document(),
            "controllers": list(self.who.named),
            "residuals": {
                fit.controller: round(fit.residual, 4) for fit in self.who.fits if np.isfinite(fit.residual)
            },
            "conforms": self.conforms.document() if self.conforms else None,
            "what_if": [one.document() for one in self.swaps],
            "missing": list(view.missing),
        }

    def _which(self) -> str:
        view = self.view
        end = f", logged by its {view.end}" if view.end in ("client", "server") else ""
        more = ""
        if self.others:
            named = ", ".join(self.others[:_MOST_NAMED]) + (", ..." if len(self.others) > _MOST_NAMED else "")
            more = f" The file has {len(self.others)} more (--flow): {named}."
        bad = "".join(f" {name} cannot be read: {_without(why, name)}." for name, why in self.unread[:_MOST_NAMED])
        return f"{view.name}: {view.source}{end}, seen from the {view.vantage} of the data.{more}{bad}"

    def _rates(self) -> str:
        view = self.view
        rate = view.bytes * 8 / view.duration_s if view.duration_s > 0 else 0.0
        sent = f"It {'sent' if view.vantage == 'sender' else 'received'} {text(view.bytes, 'B')} in "
        told = f"{sent}{text(view.duration_s, 's')}, at {text(rate, 'bps')} on average."
        if not view.bytes and (packets := view.sent_s.size or view.arrived_s.size):
            did = "sent" if view.is_sender else "received"
            told = f"It {did} {packets} packets in {text(view.duration_s, 's')}."
        if view.rtt:
            low, middle, high = (
                text(float(value), "s", 3) for value in np.percentile(view.rtt.values, [0, 50, 95])
            )
            told += (
                f" Its RTT was {low} at least, {middle} in the median, and above {high} for 5 % of the samples."
            )
        return told

    def _losses(self) -> str:
        view = self.view
        if "retransmissions" in view.said:
            return f"It retransmitted {view.said['retransmissions']:.0f} packets."
        if not view.is_sender or not view.has_acks:
            return ""
        lost, wrongly = int(np.isfinite(view.lost_s).sum()), int(view.is_spurious.sum())
        marks = int(view.marks.values.max()) if view.marks else 0
        marked = f" {marks} packets were marked (CE)." if marks else ""
        if not lost:
            return f"It declared no packet lost.{marked}"
        share = percent(lost / view.sent_s.size)
        late = f", {wrongly} of them wrongly: they arrived" if wrongly else ""
        return f"It declared {lost} of {view.sent_s.size} packets lost ({share}){late}.{marked}"

    def _limits(self) -> str:
        shares = self.held.shares.items() if self.held else ()
        ordered = sorted((one for one in shares if one[1] >= _LEAST_SHARE), key=lambda one: -one[1])
        if self.held is None or not ordered:
            return ""
        (most, share), *rest = ordered
        words, meaning = WORDS[most]
        others = ", ".join(f"{WORDS[name][0]} {percent(part)}" for name, part in rest)
        more = f" ({others})" if others else ""
        return (
            f"It was limited by {words} {percent(share)} of the time{meaning}{more}; that follows from "
            f"{self.held.evidence}."
        )

    def _window(self) -> str:
        if self.held is None or (not self.view.window and not self.cuts):
            return ""
        by = "" if self.view.window else " of the controller that fits"
        if not self.cuts:
            return f"The window{by} never fell by 5 % or more."
        parts = [
            f"{count} for {cause}" if cause != NO_LOSS else f"{count} without a loss or a mark"
            for cause, count in counted(list(self.cuts)).most_common()
        ]
        times = f"{len(self.cuts)} time{'s' if len(self.cuts) > 1 else ''}"
        return f"The window{by} fell by 5 % or more {times}: {', '.join(parts)}."

    def _path(self) -> str:
        known = self.path
        parts = []
        if known.capacity_bps is not None:
            parts.append(f"a capacity of {_bound(known.is_capacity_seen)}{text(known.capacity_bps, 'bps')}")
        if known.base_rtt_s is not None:
            parts.append(f"a base RTT of {text(known.base_rtt_s, 's')}")
        if known.buffer_bytes is not None:
            parts.append(f"a buffer of {_bound(known.is_buffer_seen)}{text(known.buffer_bytes, 'B', 3)}")
        if not parts:
            return ""
        seen = {
            "overflow": bool(known.overflows),
            "random loss": known.random_loss is not None,
            "policer": known.policer_bps is not None,
        }
        if known.random_loss is not None:
            parts.append(f"random loss of {percent(known.random_loss)}")
        if known.policer_bps is not None:
            parts.append(f"a policer at {text(known.policer_bps, 'bps')}")
        if known.others_bps is not None:
            begun = f" from {text(known.others_from_s, 's', 2)} on" if known.others_from_s else ""
            parts.append(f"other flows that took {text(known.others_bps, 'bps', 2)} of it{begun}")
        none = [f"no {what}" for what, was in seen.items() if not was]
        unseen = f"; it showed {', '.join(none)}" if none and self.view.is_whole else ""
        return f"The path has {', '.join(parts)}{unseen}."

    def _who(self) -> str:
        if not self.who.fits:
            return ""
        best = self.who.best
        if best is None:
            return "There is too little of it to tell the controller."
        if not self.who.named:
            is_close = best.residual < FITS
            what = "can be told from the others" if is_close else "that is known here fits"
            follows = ", and one that follows what is delivered comes close to any sender"
            why = follows if is_close else f" where {FITS} is the most"
            return (
                f"No controller {what}: {best.controller} is closest, with a residual of {best.residual:.3f}{why}."
            )
        names = self.who.named
        if self.who.bug is not None:
            bug = best.controller.partition("=")[2]
            original = next(one for one in self.who.fits if one.controller == BUGS[bug])
            if self.who.is_logged:
                return (
                    f"Its controller behaves as {original.controller} with the known bug {bug}: with it, and not "
                    "without, it decides what the file logs."
                )
            return (
                f"Its controller behaves as {original.controller} with the known bug {bug} (residual "
                f"{best.residual:.3f}; without the bug {original.residual:.3f})."
            )
        several = f"one of {', '.join(names)}, which it does not tell apart" if len(names) > 1 else names[0]
        rest = [one for one in self.who.fits if one.is_known and one.controller not in names][:_NEXT]
        further = ", ".join(f"{one.controller} {one.residual:.3f}" for one in rest)
        more = f"; the next are {further}" if rest else ""
        if best.residual >= FITS:
            more += f"; that is above {FITS}, and it is named since it would be farther with other waits"
        return f"Its controller behaves as {several} (residual {best.residual:.3f}{more})."

    def _missing(self) -> str:
        return f"The file does not say: {'; '.join(self.view.missing)}." if self.view.missing else ""


def account_of_file(
    file: str | File, flow: str | None = None, controller: str | None = None, what_if: Sequence[str] = ()
) -> FileAccount:
    """Explains one connection of a file: `flow`, or the largest. `controller`: one to hold it against, too.

    `what_if`: controllers that play the transfer in its twin. Raises RequestError.
    """
    views = read(file)
    view = choose(views, flow)
    held, found = limits_and_who(view)
    window = view.window
    if not window and found.named and found.best is not None:
        window = found.best.window
    falls = tuple(cuts(view, held, window)) if held is not None and window else ()
    others = tuple(one.name for one in views if one.name != view.name and not one.damage)
    unread = tuple((one.name, one.damage) for one in views if one.damage)
    conforms = conformance(view, held, controller, found.fits) if controller is not None else None
    account = FileAccount(view, others, unread, held, path(view), found, falls, conforms)
    if not what_if:
        return account
    return replace(account, swaps=tuple(swaps(account.twin, account.closest, what_if)))


def limits_and_who(view: View) -> tuple[Limits | None, Who]:
    """A controller that fits explains a steady rate; what else limits a sender says nothing of its controller."""
    said = logged(view)
    is_said = any(said.shares.values())
    if not view.is_whole:
        return (said if is_said else None), Who(())
    held = said if is_said else limits(view)
    found = who(view, held)
    steady_s = sum(end - begin for begin, end in steady(view))
    # Without steady times a second look is the first one; where all are steady, no controller is: they probe.
    if not is_said and not view.pacing_bps and 0 < steady_s <= WHOLE * view.duration_s:
        freely = limits(view, is_explained=True)
        again = who(view, freely)
        # Nobody is accused for a rate that may as well be the application's.
        is_accused = again.bug is not None and found.bug is None
        if again.named and not is_accused:
            return freely, again
    return held, found


def _without(why: str, name: str) -> str:
    return why.removeprefix(f"{name}: ")


def _bound(is_seen: bool) -> str:
    return "" if is_seen else "at least "
