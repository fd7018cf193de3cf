"""Controllers of the kernel, and the corresponding ones of the simulator."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from thalweg import _native
from thalweg.base.errors import RequestError

PREFIX = "kernel:"
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_OTHER_NAMES = {"bbr": "bbr1"}
"""Controllers with another name in the kernel: its BBR is the first version."""


def is_kernel(controller: str) -> bool:
    """Whether the kernel sends.

    >>> is_kernel("kernel:cubic"), is_kernel("cubic")
    (True, False)
    """
    return controller.startswith(PREFIX)


def kernel_controllers() -> frozenset[str]:
    """The congestion controls of this kernel; none where there is no Linux."""
    try:
        return frozenset(_AVAILABLE.read_text().split())
    except OSError:
        return frozenset()


def in_kernel(controller: str) -> str:
    """The controller of the kernel of the same name, where there is one; else the same."""
    return f"{PREFIX}{controller}" if controller in kernel_controllers() else controller


def simulated(controller: str) -> str:
    """The controller of the simulator that corresponds to one of the kernel; one of the simulator is unchanged.

    >>> simulated("kernel:cubic"), simulated("kernel:bbr"), simulated("bbr")
    ('cubic', 'bbr1', 'bbr')
    """
    name = controller.removeprefix(PREFIX)
    return _OTHER_NAMES.get(name, name) if is_kernel(controller) else controller


def with_simulated(controllers: Iterable[str], option: str) -> tuple[str, ...]:
    """Each controller of the kernel, followed by the corresponding one of the simulator, if any.

    Raises RequestError for one that is not the kernel's, naming the option.

    >>> with_simulated(["kernel:reno", "kernel:bbr"], "--controller")
    ('kernel:reno', 'reno', 'kernel:bbr', 'bbr1')
    """
    known = {str(controller["name"]) for controller in _native.controllers()}
    both: list[str] = []
    for name in controllers:
        if not is_kernel(name):
            raise RequestError(f"{option} {name!r}: needs a kernel controller, such as kernel:cubic")
        both += [name] + ([simulated(name)] if simulated(name) in known else [])
    return tuple(dict.fromkeys(both))
