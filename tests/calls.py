"""Scenarios of calls that several tests play."""

CALL = """
title = "A call over Wi-Fi"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "50 ms"
jitter = { model = "wifi", mean = "30 ms" }
[[flow]]
name = "main"
controller = "c4"
call = "4 s"
[[pass]]
flow = "main"
stream = "video"
metric = "max-delay"
at_most = "50 ms"
"""
"""A call over Wi-Fi whose frames come late."""
ENCODED_CALL = """
title = "A call whose encoder follows its controller"
time_limit = "20 s"
[path]
rate = "1.5 Mbps"
rtt = "40 ms"
buffer = "100 ms"
jitter = "2 ms"
[[flow]]
name = "main"
controller = "cubic"
[[flow.media]]
name = "video"
carriage = "datagrams"
per_second = 30
duration = "10 s"
rate = { least = "100 kbps", most = "2 Mbps" }
"""
