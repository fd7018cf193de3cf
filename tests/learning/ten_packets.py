"""A controller in Python for flows that agents do not steer."""

import thalweg
from thalweg.engine.controllers import Ack, Path


class TenPackets(thalweg.Controller):
    """Ten packets, whatever happens."""

    def on_ack(self, event: Ack, path: Path) -> None:
        self.window = 10 * path.mtu
