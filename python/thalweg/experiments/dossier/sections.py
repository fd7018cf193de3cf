"""The criteria and environments of RFC 9743 (March 2025), by section, with the strength of each.

Strength is the word that the RFC uses for the evaluation: MUST or SHOULD in the sense of RFC 2119, or lower-case
words of advice, which have no such force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strength = Literal["MUST", "SHOULD", "advice"]


@dataclass(frozen=True)
class Section:
    """A criterion, or an environment."""

    number: str
    title: str
    strength: Strength
    asks: str
    """What the section asks for, in our words."""

    @property
    def request(self) -> str:
        """What it asks for, after its word of RFC 2119.

        >>> CRITERIA["5.1.2"].request
        'Advisory: queues should be no longer than necessary'
        """
        word = "Advisory" if self.strength == "advice" else self.strength
        return f"{word}: {self.asks}"


_CRITERIA = (
    Section("5.1", "Single algorithm behavior", "advice", "how flows of the algorithm behave among themselves"),
    Section(
        "5.1.1",
        "Protection against congestion collapse",
        "advice",
        "while the loss stays high, a sender stops, or backs off to a packet in each round trip and then to less",
    ),
    Section("5.1.2", "Protection against bufferbloat", "advice", "queues should be no longer than necessary"),
    Section(
        "5.1.3",
        "Protection against high packet loss",
        "advice",
        "no high rates of loss, and a lower sending rate when there is loss",
    ),
    Section(
        "5.1.4", "Fairness within the proposed algorithm", "advice", "how flows of the algorithm share capacity"
    ),
    Section("5.1.5", "Short flows", "MUST", "how short flows and long flows of the algorithm affect each other"),
    Section(
        "5.2",
        "Mixed algorithm behavior: starvation, loss of all feedback",
        "MUST",
        "whether others may starve, and that a loss of all feedback results in backoff",
    ),
    Section(
        "5.2.1",
        "Existing general-purpose congestion control",
        "MUST",
        "the effect on flows of RFC 5681, RFC 9002 and RFC 9438, in throughput, latency and loss",
    ),
    Section("5.2.2", "Real-time congestion control", "SHOULD", "coexistence with real-time media"),
    Section(
        "5.2.3",
        "Short and long flows",
        "MUST",
        "the effect on short and long flows of common algorithms",
    ),
    Section(
        "5.3.1",
        "Differences with congestion control principles",
        "MUST",
        "an explanation of each deviation from RFC 2914 and RFC 7141",
    ),
    Section(
        "5.3.2", "Incremental deployment", "MUST", "a discussion of incremental deployment and of middleboxes"
    ),
)
_ENVIRONMENTS = (
    Section(
        "6",
        "A representative range",
        "SHOULD",
        "an evaluation over a range of bandwidths, delays and queue depths",
    ),
    Section("6.1", "Paths with tail-drop queues", "MUST", "an evaluation with drop-tail queues"),
    Section("6.2", "Tunnel behavior", "MUST", "traffic in tunnels, if the algorithm uses explicit signals"),
    Section("6.3", "Wired paths", "advice", "the baseline"),
    Section("6.4", "Wireless paths", "advice", "losses by radio, capacity and delay that vary"),
    Section("7.1", "Active queue management", "SHOULD", "several queue disciplines"),
    Section("7.2", "Operation with network circuit breakers", "advice", "a reaction before a breaker trips"),
    Section("7.3", "Paths with varying delay", "SHOULD", "a significant change of the minimum delay"),
    Section("7.4", "Internet of Things and constrained nodes", "advice", "very low rates and BDPs"),
    Section("7.5", "Paths with high delay", "advice", "satellite and longer"),
    Section("7.6", "Misbehaving nodes", "SHOULD", "senders and receivers that do not comply"),
    Section("7.7", "Extreme packet reordering", "advice", "packets far out of order"),
    Section("7.8", "Transient events", "SHOULD", "sudden congestion, routing changes, mobility"),
    Section("7.9", "Sudden changes in the path", "MUST", "changes of the path at common intervals"),
    Section(
        "7.10", "Multipath transport", "MUST", "failover and concurrent use of paths, of a multipath protocol"
    ),
    Section("7.11", "Data centers", "SHOULD", "round trips below 2 ms, bursts, incast"),
)
CRITERIA = {section.number: section for section in _CRITERIA}
"""Section 5, by number, in the order of the RFC."""
ENVIRONMENTS = {section.number: section for section in _ENVIRONMENTS}
"""Sections 6 and 7. The ones of section 6 are for general use: "MUST be IETF consensus" on them."""
NOT_EVALUATED = {
    "7.10": "the transport of the simulator uses one path",
}
"""Environments without a setting, and why."""
