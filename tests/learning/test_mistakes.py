"""What is wrong with the arguments of an environment, or with an action, is one message with what is accepted."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import thalweg
import thalweg.gym
from thalweg.gym import Congestion, CongestionAgents, Policy, VectorCongestion

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "scenario": ({"scenario": "c4/simple-20mbs"}, "did you mean c4/simple-20mbps"),
    "no scenario": ({"scenario": 3}, "accepted: a name, a path, or a thalweg.Scenario"),
    "flow": ({"flow": "mian"}, "no flow 'mian'; did you mean main"),
    "interval": ({"interval": "1 rrt"}, 'accepted: "1 rtt" or a time such as "10 ms"'),
    "no time": ({"interval": 10}, 'accepted: "1 rtt" or a time such as "10 ms"'),
    "zero": ({"interval": "0 ms"}, 'accepted: "1 rtt" or a time such as "10 ms"'),
    "feature": (
        {"observe": ["rtt_rato"]},
        'there is no feature "rtt_rato" (did you mean "rtt_ratio"?); accepted: rtt_ratio,',
    ),
    "no features": ({"observe": []}, "accepted: a name, or a list of names"),
    "action": ({"act": "cwnd"}, "accepted: window_factor, window, pacing_factor, pacing"),
    "two windows": ({"act": ["window", "window_factor"]}, "or one of each"),
    "term": ({"reward": {"rate": 1}}, 'reward: there is no feature "rate"'),
    "no weight": ({"reward": {"log_rate": "much"}}, "accepted: weights of features"),
    "no reward": ({"reward": None}, "accepted: weights of features"),
    "key": ({"vary": {"path.rte": ("1 Mbps", "2 Mbps")}}, "path.rte"),
    "range": ({"vary": {"path.rate": ("1 Mbps", "2 Gbps")}}, "accepted: two bounds of one unit"),
    "order": ({"vary": {"path.rate": ("3 Mbps", "2 Mbps")}}, "accepted: two bounds of one unit"),
    "choice": ({"vary": {"path.rate": []}}, "or a list to choose from"),
    "value": ({"vary": {"path.rate": ["many"]}}, "many"),
    "override": ({"overrides": {"path.rate": "fast"}}, "fast"),
    "vary": ({"vary": ["path.rate"]}, "accepted: ranges by key"),
    "no number": ({"reward": {"log_rate": np.nan}}, "accepted: weights of features"),
    "two flows": (
        {"scenario": "c4/cubic-short", "flow": ["main", "background"]},
        "several are for CongestionAgents",
    ),
    "stack": (
        {"overrides": {"flow.main.stack": "quic"}},
        "requires a download, an upload, or a call whose media one",
    ),
    "requests": ({"scenario": "ccafct/alone"}, "has a connection for each of its requests"),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_argument_that_is_wrong_is_refused_when_the_environment_is_made(what: str) -> None:
    arguments, said = WRONG[what]
    for make in (Congestion, VectorCongestion):
        with pytest.raises(thalweg.RequestError) as refusal:
            make(**arguments)
        assert said in str(refusal.value)
        assert "\n" not in str(refusal.value).strip()


@pytest.mark.parametrize("action", [[np.nan], [np.inf], [0.0, 0.0], [], ["much"], None])
def test_an_action_that_is_none_is_refused_and_the_episode_goes_on(action: Any) -> None:
    env = Congestion()
    env.reset(seed=1)
    with pytest.raises(thalweg.RequestError):
        env.step(action)
    assert np.isfinite(env.step(np.array([0.1], np.float32))[1])


def test_what_is_out_of_turn_is_refused() -> None:
    env, many = Congestion(overrides={"flow.main.download": "20 kB"}), VectorCongestion(2)
    with pytest.raises(thalweg.RequestError, match=r"step\(\) requires reset\(\) first"):
        env.step(np.array([0.1], np.float32))
    with pytest.raises(thalweg.RequestError, match=r"step\(\) requires reset\(\) first"):
        many.step(np.zeros((2, 1), np.float32))
    env.reset(seed=1)
    while not env.step(np.array([0.1], np.float32))[2]:
        pass
    with pytest.raises(thalweg.RequestError, match=r"step\(\) requires reset\(\) first"):
        env.step(np.array([0.1], np.float32))
    with pytest.raises(thalweg.RequestError, match="seed"):
        env.reset(seed=-1)
    with pytest.raises(thalweg.RequestError, match="one for each of 2"):
        many.reset(seed=[1])
    many.reset(seed=1)
    for actions in (np.zeros((3, 1), np.float32), np.full((2, 1), np.nan, np.float32)):
        with pytest.raises(thalweg.RequestError):
            many.step(actions)


def test_vectors_and_agents_refuse_what_they_cannot_do() -> None:
    reward: Any = len
    for arguments, said in (
        ({"reward": reward}, "needs the interpreter"),
        ({"num_envs": 0}, "num_envs"),
        ({"jobs": -1}, "jobs"),
    ):
        with pytest.raises(thalweg.RequestError, match=said):
            VectorCongestion(**arguments)
    for flows in (["main", "main"], [], ["mian"]):
        with pytest.raises(thalweg.RequestError):
            CongestionAgents("c4/cubic-short", flows)


def test_a_failing_controller_of_another_flow_is_one_message_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(
        "import thalweg\n\n\nclass Bad(thalweg.Controller):\n    def on_ack(self, event, path):\n        1 / 0\n"
    )

    def play(env: Any, action: Any) -> None:
        env.reset(seed=1)
        for _ in range(1000):
            env.step(action)

    given: Any = {"scenario": "c4/cubic-short", "flow": "main", "controllers": {"background": str(file)}}
    one = np.zeros(1, np.float32)
    for env, action in ((Congestion(**given), one), (VectorCongestion(**given), one[None])):
        with pytest.raises(thalweg.ControllerError, match=rf"{file}:6: ZeroDivisionError.*flow background"):
            play(env, action)


def test_a_policy_without_act_or_with_unknown_features_is_one_message() -> None:
    class Nothing(Policy):
        pass

    class Unknown(Policy):
        features = ("rtt_rato",)

    for policy, said in ((Nothing, "has no act"), (Unknown, 'there is no feature "rtt_rato"')):
        with pytest.raises(thalweg.ControllerError, match=said):
            thalweg.Scenario.load("c4/simple-20mbps", controllers={"main": policy}).run()


def test_policies_run_without_gymnasium() -> None:
    script = (
        "import sys\nsys.modules['gymnasium'] = None\n"
        "import thalweg, thalweg.gym\n"
        "class Same(thalweg.gym.Policy):\n    def act(self, observation): return 0.1\n"
        "s = thalweg.Scenario.load('c4/simple-20mbps', controllers={'main': Same})\n"
        "print(s.run(seed=1).flows['finished'][0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "True\n", done.stderr


def test_the_environment_is_registered_once() -> None:
    assert thalweg.gym.ID in gymnasium.registry
