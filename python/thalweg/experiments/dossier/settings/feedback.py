"""What is left of the sending rate when feedback, or nearly all of it, is lost.

All settings have the same trials until 5 s, when the change comes; so the packets that the sender sent between two
ends of the trial are the difference of what it sent in two settings with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator

from thalweg.experiments.dossier.settings.player import Player
from thalweg.experiments.dossier.settings.setting import Keys, Profile, Question, Setting, flow, path, scenario

_CHANGE_S = 5
_RTT_S = 0.04
_ENDS: dict[tuple[str, int], tuple[int, ...]] = {
    ("feedback", 100): (0, 1, 5, 30, 120),
    ("feedback", 95): (0, 5, 30),
    ("feedback", 90): (0, 5, 30),
    ("data", 30): (0, 30),
    ("data", 60): (0, 30),
    ("data", 90): (0, 30),
}
"""By what is lost and the share of it in per cent: seconds from the change to the ends of trials."""
_QUICK = (("feedback", 100), ("data", 60))


def settings() -> Iterator[Setting]:
    """All of them; those that end with the change have no criterion: they are the beginnings of others."""
    for lost, ends in _ENDS.items():
        for begin, end in zip((None, *ends), ends, strict=False):
            profile: Profile = "quick" if lost in _QUICK and end <= 30 else "default"
            yield _lost(*lost, begin, end, profile)


def _lost(what: str, share: int, begin: int | None, end: int, profile: Profile) -> Setting:
    """The trials that end `end` seconds after the change, and of them what was sent from `begin` on."""
    key, section = ("up_loss", "5.2") if what == "feedback" else ("loss", "5.1.1")
    lost = "the feedback" if what == "feedback" else "the packets of both directions"

    def keys(player: Player) -> Keys:
        table = path("20 Mbps", "40 ms")
        if end:
            table["change"] = [{"at": f"{_CHANGE_S} s", key: f"{share} %"}]
        title = f"{share} % of {lost} lost for {end} s"
        return scenario(title, f"{_CHANGE_S + end} s", table, [flow("main", player)])

    return Setting(
        f"{what}-{share}-{end}",
        f"{share} % of {lost} lost, from {begin or 0} s to {end} s after the change",
        "6.1",
        keys,
        () if begin is None else (Question(section, "packets-per-rtt"),),
        profile,
        also=(what, share) == ("feedback", 100),
        since="" if begin is None else f"{what}-{share}-{begin}",
        rtts=0.0 if begin is None else (end - begin) / _RTT_S,
    )
