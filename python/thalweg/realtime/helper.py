"""The program of the process that runs in real time.

It is run as a file, by an isolated interpreter, and loads only the native module: it needs to have a
single thread to make namespaces and to fork. Arguments: the file of the native module, the descriptors
of the request and of the answer, and where to import from if the request names controllers in Python.
"""

import json
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

if __name__ == "__main__":
    file, request, answer, path = sys.argv[1:]
    spec = spec_from_file_location("_native", file, loader=ExtensionFileLoader("_native", file))
    assert spec is not None
    assert spec.loader is not None
    native = module_from_spec(spec)
    spec.loader.exec_module(native)

    resolvers: list[Any] = []

    def resolve(text: str) -> object:
        """Finds a controller in Python."""
        if ".py" not in text:
            return None
        sys.path[:] = json.loads(path)
        sys.modules["thalweg._native"] = native
        from thalweg.engine.controllers.resolver import Resolver  # noqa: PLC0415 - most requests name none

        if not resolvers:
            resolvers.append(Resolver())
        return resolvers[0](text)

    def explain(failed: Any) -> str:
        """Says how a controller in Python has failed, with the line of its file."""
        from thalweg.engine.controllers.failure import error_of  # noqa: PLC0415 - `resolve` has found one before

        return str(error_of(failed, resolvers[0].definitions))

    native.serve_live(int(request), int(answer), resolve, explain)
