"""The program of a process that loads one library and says what it is.

It is run as a file by an isolated interpreter. Arguments are the file of the native module and the library. What
the library prints goes nowhere.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys


def main() -> None:
    """Answers in one line."""
    module, library = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    loader = importlib.machinery.ExtensionFileLoader("_native", module)
    specification = importlib.util.spec_from_loader("_native", loader)
    assert specification is not None
    native = importlib.util.module_from_spec(specification)
    loader.exec_module(native)
    try:
        answer = {"info": native.inspect_library(library)}
    except native.ScenarioError as error:
        answer = {"problem": str(error)}
    answers.write(json.dumps(answer))
    answers.flush()
    os._exit(0)  # destructors of the library are its own business


if __name__ == "__main__":
    main()
