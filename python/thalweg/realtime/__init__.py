"""Real time: programs, the kernel's TCP and the QUIC stack on the path of a scenario.

Everything runs in a separate process (`process.py` starts it, `helper.py` is its program), which creates
namespaces and devices without names: when it ends, the kernel removes them.
"""

from thalweg.realtime.executor import Alone, Contestant, LiveTrials, Round, Timing, faithful, play, rounds
from thalweg.realtime.peer import Peer
from thalweg.realtime.process import LiveRequest, ShellResult, run_shell
from thalweg.realtime.report import faithfulness, is_faithful, write_report
from thalweg.realtime.rig import Rig
from thalweg.realtime.trial import LiveScenario, LiveTrial, Recording

__all__ = [
    "Alone",
    "Contestant",
    "LiveRequest",
    "LiveScenario",
    "LiveTrial",
    "LiveTrials",
    "Peer",
    "Recording",
    "Rig",
    "Round",
    "ShellResult",
    "Timing",
    "faithful",
    "faithfulness",
    "is_faithful",
    "play",
    "rounds",
    "run_shell",
    "write_report",
]
