"""Scenarios of calls that several tests play."""

CALL = """
title = "A call over Wi-Fi"
path = { rate = "20 Mbps", rtt = "40 ms", buffer = "50 ms", jitter = { model = "wifi", mean = "30 ms" } }
flow = [{ name = "main", controller = "c4", call = "4 s" }]
pass = [{ flow = "main", stream = "video", metric = "max-delay", at_most = "50 ms" }]
"""
"""A call over Wi-Fi whose frames come late."""
ENCODED_CALL = """
title = "A call whose encoder follows its controller"
time_limit = "20 s"
path = { rate = "1.5 Mbps", rtt = "40 ms", buffer = "100 ms", jitter = "2 ms" }
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

CALL_IN_BOTH_DIRECTIONS = """
title = "A call in both directions"
time_limit = "8 s"
[path]
rate = "1 Mbps"
rtt = "40 ms"
buffer = "500 ms"
change = [{ at = "3 s", rate = "50 kbps" }, { at = "4 s", rate = "1 Mbps" }]
[[flow]]
name = "call"
controller = "gcc"
""" + "".join(
    f'[[flow.media]]\nname = "{name}"\nfrom = "{end}"\ncarriage = "datagrams"\nper_second = 30\n'
    'duration = "7 s"\nrate = { least = "300 kbps", most = "600 kbps" }\n'
    for name, end in (("video", "server"), ("camera", "client"))
)
"""The path all but stops for a second: each picture freezes."""

CALL_THAT_STOPS = """
title = "A call that is given up"
time_limit = "8 s"
path = { rate = "1 Mbps", rtt = "40 ms", buffer = "500 ms", change = [{ at = "1 s", rate = "100 kbps" }] }
[[flow]]
name = "call"
controller = "cubic"
media = [{ name = "video", per_second = 30, duration = "4 s", frame = "2 kB", skip_after = "200 ms" }]
"""
"""All frames are one group: the first that is too late takes the rest with it."""
