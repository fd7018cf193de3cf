"""The program of a process that plays trials for another one, one at a time.

It is run as a file by an isolated interpreter. The first line of its input says where to import from. A further
line is a scenario (`portable.py`), or the seed of a trial of the last one, which is answered by a line. What
handlers print goes to standard error. The process ends with its input, also within a handler that never returns:
whoever asks may have been killed.
"""

import json
import os
import queue
import signal
import sys
import threading


def listen(lines: queue.SimpleQueue[str]) -> None:
    """Hands over what is asked, and ends the process with its input: nobody is there to read an answer."""
    status = 1
    try:
        for line in sys.stdin:
            lines.put(line)
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Answers until the input ends."""
    sys.path[:] = json.loads(sys.stdin.readline())
    # Ctrl-C is for the process that asks: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    from thalweg.base.errors import ScenarioError  # noqa: PLC0415 - there is no way to it before
    from thalweg.trials.portable import Portable, line_of  # noqa: PLC0415

    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(lines,), daemon=True).start()
    scenario: Portable | None = None
    refusal = ""
    while True:
        asked = json.loads(lines.get())
        if isinstance(asked, dict):
            try:
                scenario = Portable.of(asked)
            except ScenarioError as error:
                scenario, refusal = None, str(error)
            continue
        answer = scenario.answer(*asked) if scenario else {"failed": "ControllerError", "error": refusal}
        answers.write(line_of(answer))
        answers.flush()


if __name__ == "__main__":
    main()
