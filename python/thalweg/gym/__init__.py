"""Environments in which agents learn to control congestion, and what they have learnt as a controller.

    import gymnasium
    import thalweg.gym

    env = gymnasium.make("thalweg/Congestion-v0", scenario="c4/simple-20mbps", interval="1 rtt")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`Congestion` is one flow of one trial, `VectorCongestion` (`gymnasium.make_vec`) many trials at once,
`CongestionAgents` several flows of one trial, each an agent of PettingZoo. `Policy` is the base class of
controllers that decide as an agent does. Environments need gymnasium and pettingzoo (`pip install
"thalweg[gym]"`); policies do not.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from thalweg.gym.task import FEATURES

if TYPE_CHECKING:
    from thalweg.gym.agents import CongestionAgents
    from thalweg.gym.environment import Congestion
    from thalweg.gym.policy import Policy
    from thalweg.gym.vector import VectorCongestion

__all__ = ["FEATURES", "Congestion", "CongestionAgents", "Policy", "VectorCongestion"]

ID = "thalweg/Congestion-v0"
_MODULES = {
    "Congestion": "environment",
    "CongestionAgents": "agents",
    "Policy": "policy",
    "VectorCongestion": "vector",
}


def __getattr__(name: str) -> object:
    """The public names of the package, by module (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'thalweg.gym' has no attribute {name!r}")
    return getattr(import_module(f"thalweg.gym.{_MODULES[name]}"), name)


def _register() -> None:
    import gymnasium  # noqa: PLC0415 - policies run without it

    if ID not in gymnasium.registry:
        gymnasium.register(
            ID,
            entry_point="thalweg.gym.environment:Congestion",
            vector_entry_point="thalweg.gym.vector:VectorCongestion",
        )


if find_spec("gymnasium") is not None:
    _register()
