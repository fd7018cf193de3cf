"""A call over Wi-Fi whose frames come late."""

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
