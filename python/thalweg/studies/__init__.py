"""Studies: experiments over many scenarios, each with a metric of its own.

One package for each study; all speak the document of `thalweg.studies.runner.result`.
"""

STUDIES = {
    "wifi-compete": "C4 before its drafts, against others on bad Wi-Fi (2025)",
    "harm": "Harm to the completion times of short flows",
    "transient": "How controllers react to steps of capacity, round-trip time and flow arrival",
    "stacks": "The modelled endpoint and a real QUIC stack under the same controllers",
    "fairness": "Shares of a bottleneck, for all pairs of controllers and many flows of one",
    "laws": "What the standards imply, held by measurement",
    "loopback": "Throughput of C4 and others over 127.0.0.1",
}
"""Name on the command line, and title."""
