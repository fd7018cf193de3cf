"""The smallest scenario that a command can be tested with."""

SCENARIO = """\
title = "A short download"

[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "1 bdp"

[[flow]]
name = "main"
controller = "cubic"
download = "200 kB"

[[pass]]
flow = "main"
metric = "completion"
at_most = "5 s"
"""
