"""Real time: programs, the kernel's TCP and the QUIC stack on the path of a scenario.

Everything happens in a process of its own (`process.py` starts it, `helper.py` is its program), which makes
namespaces and devices without names: when it ends, the kernel removes them.
"""

from thalweg.live.process import Ended, LiveRequest, run_shell
from thalweg.live.report import faithfulness, write_report
from thalweg.live.rig import Rig
from thalweg.live.trial import LiveScenario
from thalweg.live.trials import Played, Timing, play

__all__ = [
    "Ended",
    "LiveRequest",
    "LiveScenario",
    "Played",
    "Rig",
    "Timing",
    "faithfulness",
    "play",
    "run_shell",
    "write_report",
]
