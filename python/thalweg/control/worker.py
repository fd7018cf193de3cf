"""The program of a process that plays trials with controllers in Python, one at a time.

It is run as a file by an isolated interpreter. The first line of its input says where to import from and which
scenario to read; each further line is a seed, and is answered by a line. What handlers print goes to
standard error.
"""

import json
import os
import signal
import sys


def main() -> None:
    """Answers until the input ends."""
    asked = json.loads(sys.stdin.readline())
    sys.path[:] = asked["path"]
    # Ctrl-C is for the process that asks: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    from thalweg import _native  # noqa: PLC0415 - there is no way to it before
    from thalweg.control.failure import error_of  # noqa: PLC0415
    from thalweg.control.resolver import Resolver  # noqa: PLC0415

    resolver = Resolver()

    def answer(said: dict[str, object]) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    try:
        scenario = _native.Scenario.from_toml(asked["toml"].encode(), asked["name"], [], [], resolver)
    except _native.ScenarioError as error:
        answer({"error": str(error)})
        return
    for text, sha256 in asked["hashes"].items():
        source = resolver.definitions[text].source
        if source is None or source.sha256 != sha256:
            answer({"error": f"{text} has changed while its trials ran; accepted: the same file until the end"})
            return
    for seed in sys.stdin:
        try:
            text, core_s = scenario.told(int(seed), asked["audit"])
        except _native.ControllerFailed as failed:
            answer({"error": str(error_of(failed, resolver.definitions))})
        except _native.AuditError as found:
            answer({"audit": str(found)})
        else:
            answer({"told": text, "core_s": core_s})


if __name__ == "__main__":
    main()
