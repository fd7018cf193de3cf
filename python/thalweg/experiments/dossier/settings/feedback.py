"""What is left of the sending rate when feedback, or nearly all of it, is lost, and how it is spaced.

The change comes at 5 s and lasts to the end of the trial. What the sender sent is read from the trace.
"""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import (
    Keys,
    Profile,
    Question,
    Setting,
    Span,
    flow,
    path,
    scenario,
)

_CHANGE_S = 5
_RTT_S = 0.04
_ENDS: dict[tuple[str, int], tuple[int, ...]] = {
    ("feedback", 100): (1, 5, 30, 120),
    ("feedback", 95): (5, 30),
    ("feedback", 90): (5, 30),
    ("data", 30): (30,),
    ("data", 60): (30,),
    ("data", 90): (30,),
}
"""By what is lost and the share of it in per cent: seconds from the change to the ends of trials."""
_QUICK = (("feedback", 100), ("data", 60))
_SPACED_S = 30
"""Trials that last at least so long without any feedback tell how the spacing of packets grows."""


def settings() -> Iterator[Setting]:
    """All of them."""
    for lost, ends in _ENDS.items():
        for begin, end in zip((0, *ends), ends, strict=False):
            profile: Profile = "quick" if lost in _QUICK and end <= 30 else "default"
            yield _lost(*lost, begin, end, profile)


def _lost(what: str, share: int, begin: int, end: int, profile: Profile) -> Setting:
    """The trials that end `end` seconds after the change, and of them what was sent from `begin` on."""
    key, section = ("up_loss", "5.2") if what == "feedback" else ("loss", "5.1.1")
    lost = "the feedback" if what == "feedback" else "the packets of both directions"

    def keys(player: Player) -> Keys:
        table = path("20 Mbps", "40 ms", change=[{"at": f"{_CHANGE_S} s", key: f"{share} %"}])
        title = f"{share} % of {lost} lost for {end} s"
        return scenario(title, f"{_CHANGE_S + end} s", table, [flow("main", player)])

    asked = [Question(section, "packets-per-rtt")]
    if (what, share) == ("feedback", 100) and end >= _SPACED_S:
        asked.append(Question(section, "spacing"))
    return Setting(
        f"{what}-{share}-{end}",
        f"{share} % of {lost} lost, from {begin} s to {end} s after the change",
        "6.1",
        keys,
        asked,
        profile,
        also=(what, share) == ("feedback", 100),
        span=Span(_CHANGE_S, _CHANGE_S + begin, _CHANGE_S + end, _RTT_S),
    )
