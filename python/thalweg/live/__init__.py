"""Real time: programs, the kernel's TCP and the QUIC stack on the path of a scenario.

Everything runs in a separate process (`process.py` starts it, `helper.py` is its program), which creates
namespaces and devices without names: when it ends, the kernel removes them.
"""

from thalweg.live.peer import Peer
from thalweg.live.process import Ended, LiveRequest, run_shell
from thalweg.live.report import faithfulness, is_faithful, write_report
from thalweg.live.rig import Rig
from thalweg.live.trial import LiveScenario
from thalweg.live.trials import Played, Timing, faithful, play

__all__ = [
    "Ended",
    "LiveRequest",
    "LiveScenario",
    "Peer",
    "Played",
    "Rig",
    "Timing",
    "faithful",
    "faithfulness",
    "is_faithful",
    "play",
    "run_shell",
    "write_report",
]
