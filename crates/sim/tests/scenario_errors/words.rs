//! Keys that are missing, and keys and metrics that are called otherwise elsewhere.

use super::refusal;
use std::fmt::Write;

#[test]
fn a_missing_key_shows_its_form_and_a_guess_is_told_what_it_means() {
    let mut table = String::new();
    for (from, to) in [
        ("rtt = \"50 ms\"\n", ""),
        ("name = \"main\"\n", ""),
        ("flow = \"main\"\n", ""),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\npolicer = { rate = \"5 Mbps\" }",
        ),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\nup = { policer = { rate = \"5 Mbps\" } }",
        ),
        ("rate =", "bandwidth ="),
        ("rtt =", "delay ="),
        ("title =", "bandwidth = \"10 Mbps\"\ntitle ="),
        ("controller =", "cc ="),
        ("\"closed\"", "\"throughput\""),
        ("\"closed\"", "\"fct\""),
    ] {
        writeln!(table, "{}", refusal(from, to)).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:2: `[path]`: the key "rtt" is missing here; accepted: rtt = "40 ms"
    a.toml:11: `[[flow]]`: the key "name" is missing here; accepted: name = "main"
    a.toml:19: `[[pass]]`: the key "flow" is missing here; accepted: flow = "main"
    a.toml:5: `policer = { rate = "5 Mbps" }`: the key "burst" is missing here; accepted: burst = "100 kB"
    a.toml:5: `up = { policer = { rate = "5 Mbps" } }`: the key "burst" is missing here; accepted: burst = "100 kB"
    a.toml:3: `bandwidth = "10 Mbps"`: unknown key "bandwidth" (did you mean "rate"?); accepted: one of "name", "rate", "trace", "rtt", "buffer", "queue", "splits", "jitter", "loss", "ecn", "noise", "policer", "medium", "reorder", "up", "change", "repeat"
    a.toml:4: `delay = "50 ms"`: unknown key "delay" (did you mean "rtt", of both directions together?); accepted: one of "name", "rate", "trace", "rtt", "buffer", "queue", "splits", "jitter", "loss", "ecn", "noise", "policer", "medium", "reorder", "up", "change", "repeat"
    a.toml:1: `bandwidth = "10 Mbps"`: unknown key "bandwidth" (did you mean "path.rate"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml:13: `cc = "c4"`: unknown key "cc" (did you mean "controller"?); accepted: one of "name", "controller", "stack", "host", "start", "route", "tunnel", "background", "download", "upload", "requests", "call", "media", "measure_from", "probe", "streams", "request", "app_rate", "chunk", "think_time", "pauses", "receive_window", "receiver", "sender", "circuit_breaker", "zero_rtt", "seed", "command"
    a.toml:21: pass.0.metric: unknown metric "throughput" (did you mean "rate"?); accepted: METRICS
    a.toml:21: pass.0.metric: unknown metric "fct" (did you mean "completion"?); accepted: METRICS
    "##);
}
