"""Calls in both directions: what a sender does not delay, and counts that must agree whatever is sent."""

import random

import polars as pl
import pytest

from thalweg import Scenario, Trial
from thalweg.pages.figures.frames import freezes

REAL_TIME = ("gcc", "nada", "screamv2")
CONTROLLERS = ("c4", "cubic", "reno", "bbr", "prague", "ledbat-pp", *REAL_TIME)


def stream(name: str, end: str, keys: str) -> str:
    return f'[[flow.media]]\nname = "{name}"\nfrom = "{end}"\nduration = "3 s"\n{keys}\n'


@pytest.mark.parametrize("controller", ["c4", "cubic", *REAL_TIME])
def test_frames_of_the_server_do_not_wait_for_a_request_behind_those_of_the_client(controller: str) -> None:
    keys = 'carriage = "datagrams"\nper_second = 30\nrate = { least = "300 kbps", most = "1.5 Mbps" }'
    text = (
        'title = "both"\n[path]\nrate = "20 Mbps"\nrtt = "2 ms"\nbuffer = "100 ms"\n'
        f'[[flow]]\nname = "call"\ncontroller = "{controller}"\n'
    )
    text += stream("video", "server", keys) + stream("camera", "client", keys)
    streams = Scenario.from_toml(text, "both").trials(10).streams
    video = streams.filter(pl.col("stream") == "video")
    # A frame of the server is due when the client is connected, and made when the request has come: one way of
    # 1 ms later, or when the pacer has let the last of the handshake through, 1250 bytes at 450 kbps: 22 ms.
    waited = video["mean_delay_s"] - video["mean_one_way_delay_s"]
    assert float(waited.to_numpy().min()) >= 0.001
    assert float(waited.to_numpy().max()) < 0.025


def drawn(rng: random.Random) -> str:
    """Up to eight streams in both directions, audio and video, with repair, probes and a path that may fall."""
    most = round(10 ** rng.uniform(4.5, 7))
    rate = rng.choice((1, 2, 4)) * most
    head = f'title = "drawn"\ntime_limit = "20 s"\n[path]\nrate = "{rate} bps"\n'
    head += f'rtt = "{rng.choice((1, 40, 200))} ms"\n'
    head += f'buffer = "{rng.choice((50, 500))} ms"\nloss = "{rng.choice((0, 1, 5))} %"\n'
    if rng.random() < 0.5:
        head += f'[[path.change]]\nat = "1 s"\nrate = "{rate // rng.choice((2, 20))} bps"\n'
    flow = f'[[flow]]\nname = "call"\ncontroller = "{rng.choice(CONTROLLERS)}"\n'
    if rng.random() < 0.3:
        flow += f'probe = {{ target = "{2 * most} bps", budget = "20 %" }}\n'
    count = rng.choice((1, 2, 8))
    for number in range(count):
        datagrams = rng.random() < 0.6
        keys = f'carriage = "{"datagrams" if datagrams else "streams"}"\nper_second = {rng.choice((10, 30, 50))}\n'
        if rng.random() < 0.3:
            keys += f'frame = "{rng.randint(20, 200)} B"\n'
        else:
            own = max(most // count, 1000)
            keys += f'rate = {{ least = "{max(own // rng.choice((1, 10)), 1000)} bps", most = "{own} bps" }}\n'
        if datagrams and rng.random() < 0.4:
            keys += rng.choice(("repair = { retransmit = true }\n", 'repair = { fec = "20 %" }\n'))
        if not datagrams:
            keys += rng.choice(
                ("", "group = 1\n", 'skip_after = "200 ms"\n', 'group = 10\nskip_after = "200 ms"\n')
            )
        flow += stream(f"s{number}", rng.choice(("server", "client")), keys)
    return head + flow


def check(trial: Trial) -> None:
    assert trial.trace is not None
    frames = trial.trace.frames
    finished = bool(trial.flows["finished"][0])
    for row in trial.streams.iter_rows(named=True):
        own = frames.filter(pl.col("stream") == row["stream"])
        came = own.filter(pl.col("delay_s").is_not_nan())
        assert came.height == row["frames"]
        per_second = round(1 / float(own["time_s"].diff().drop_nulls().to_numpy().min())) if own.height > 1 else 0
        if finished and per_second:
            # Every frame came or did not; what came late is late.
            assert row["frames"] + row["undelivered"] == 3 * per_second
            assert int((came["delay_s"] > came["deadline_s"]).sum()) == row["late"]
        assert row["skipped"] <= row["undelivered"]
        assert (row["freezes"] == 0) == (row["frozen_s"] == 0)
        assert row["frozen_s"] >= 0.15 * row["freezes"]
        # The trace ends with the trial, which may be before the stream was to end.
        assert sum(end - begin for begin, end in freezes(own)) <= row["frozen_s"] + 2e-9
        order = [row[f"{name}_delay_s"] for name in ("p50", "p95", "p99", "max")]
        assert order == sorted(order) or not came.height


@pytest.mark.parametrize("seed", range(40))
def test_the_counts_of_drawn_calls_agree_with_their_frames(seed: int) -> None:
    text = drawn(random.Random(seed))
    check(Scenario.from_toml(text, "drawn").run(seed, trace=True, audit=True))
