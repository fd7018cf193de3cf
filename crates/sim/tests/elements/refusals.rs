//! Keys of elements with values that make no sense.

use thalweg_sim::Scenario;

#[test]
fn elements_that_make_no_sense_are_refused_with_what_is_accepted() {
    let refusals = [
        "jitter = \"bursts\"",
        "jitter = { model = \"bursts\", every = \"0 s\" }",
        "jitter = { model = \"bursts\", every = \"10 ms\", sd = \"1 ms\" }",
        "jitter = { model = \"nr-bpdv\", clip = 0 }",
        "jitter = { model = \"nr-bpdv\", sd = \"5\" }",
        "reorder = true\njitter = \"nr-bpdv\"",
        "jitter = { model = \"reordering\", share = \"1 %\", extent = 3 }",
        "reorder = true\njitter = { model = \"reordering\", share = \"1 %\", extent = 0 }",
        "reorder = true\njitter = { model = \"reordering\", share = \"2\", extent = 3 }",
        "up = { jitter = { model = \"bursts\", every = \"1 us\" } }",
        "ecn = \"clear\"",
        "ecn = true",
        "up = { ecn = \"dropce\" }",
        "change = [{ at = \"1 s\", ecn = \"bleach\" }]",
        "loss = { model = \"gilbert-elliott\", p = \"1 %\" }",
        "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"1 %\", bad = \"1 s\" }",
        "loss = { model = \"gilbert-elliott\", good = \"0 s\", bad = \"1 s\" }",
        "up = { loss = { model = \"gilbert-elliott\", good = \"10 us\", bad = \"1 us\" } }",
        "loss = { model = \"periodic\" }",
        "loss = \"periodic\"",
        "loss = { model = \"periodic\", every = 0 }",
        "loss = { model = \"periodic\", every = 1 }",
        "loss = { model = \"scripted\", packets = [0] }",
        "loss = { model = \"scripted\", packets = [\"12-10\"] }",
        "loss = { model = \"scripted\", packets = [1.5] }",
        "loss = { model = \"scripted\", packets = \"10-12\" }",
        "change = [{ at = \"1 s\", up_loss = { model = \"periodic\", every = 0 } }]",
        "up = { rtt = \"250 ms\" }",
        "up = { owd = \"250 ms\" }",
        "delay = \"250 ms\"",
        "change = [{ at = \"1 s\", up_rtt = \"1 s\" }]",
        "queue = { model = \"cake\", overhead = \"300 B\" }",
        "queue = { model = \"cake\", mpu = 84 }",
        "queue = { model = \"cake\", framing = \"ethernet\" }",
    ]
    .map(|lines| {
        let text = format!("title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"40 ms\"\n{lines}\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n");
        let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
        read.expect_err("refused").to_string()
    });
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:5: `jitter = "bursts"`: "bursts" requires "every": jitter = { model = "bursts", every = "10 ms" }
    a.toml:5: path.jitter: every "0 ns" is too short; accepted: "10 us" or more
    a.toml:5: `jitter = { model = "bursts", every = "10 ms", sd = "1 ms" }`: unknown key "sd"; accepted: "every"
    a.toml:5: path.jitter: clip 0 is out of range; accepted: 0.001 to 100 standard deviations
    a.toml:5: `jitter = { model = "nr-bpdv", sd = "5" }`: "5" has no unit; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:6: path.jitter: "nr-bpdv" keeps the order of packets; it cannot be combined with reorder = true
    a.toml:5: path.jitter: "reordering" has packets overtake others, which requires reorder = true
    a.toml:6: path.jitter: extent 0 is out of range; accepted: 1 to 10000 packets
    a.toml:6: `jitter = { model = "reordering", share = "2", extent = 3 }`: "2" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:5: path.up.jitter: every "1 us" is too short; accepted: "10 us" or more
    a.toml:5: `ecn = "clear"`: unknown value "clear"; accepted: one of "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `ecn = true`: is neither a text nor a table; accepted: "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `up = { ecn = "dropce" }`: unknown value "dropce" (did you mean "drop-ce"?); accepted: one of "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `change = [{ at = "1 s", ecn = "bleach" }]`: unknown key "ecn"; accepted: one of "at", "when", "rate", "up_rate", "rtt", "up_delay", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    a.toml:5: path.loss: "gilbert-elliott" requires p and r, its steps for each packet, or good and bad, its mean times; accepted: p = "0.1 %", r = "30 %", or good = "636 ms", bad = "16.7 ms"
    a.toml:5: path.loss: "gilbert-elliott" requires p and r, its steps for each packet, or good and bad, its mean times; accepted: p = "0.1 %", r = "30 %", or good = "636 ms", bad = "16.7 ms"
    a.toml:5: path.loss: good "0 s" is not a time; accepted: good = "636 ms", above 0
    a.toml:5: path.up.loss: good and bad, "11 us" together, are too short for a trial of "600 s" (time_limit); accepted: at least "120 us"
    a.toml:5: `loss = { model = "periodic" }`: the key "every" is missing here; accepted: every = 1000
    a.toml:5: `loss = "periodic"`: "periodic" is not a fraction; accepted: "1 %", "0.01", from 0 to 1
    a.toml:5: path.loss: every 0 is not a period; accepted: every = 1000, or 1 or more
    a.toml:5: path.loss: every packet from server to client is always lost, so flow "main" (flow.0) can never finish; accepted: a loss below "100 %", or a later [[path.change]] to one
    a.toml:5: `loss = { model = "scripted", packets = [0] }`: 0 is not a packet; accepted: a number such as 10, counted from 1, or a range such as "10-12"
    a.toml:5: `loss = { model = "scripted", packets = ["12-10"] }`: "12-10" is not a range of packets; accepted: a number such as 10, counted from 1, or a range such as "10-12"
    a.toml:5: `loss = { model = "scripted", packets = [1.5] }`: 1.5 is a number; accepted: a number such as 10, counted from 1, or a range such as "10-12"
    a.toml:5: `loss = { model = "scripted", packets = "10-12" }`: "10-12" is a text; accepted: a list in square brackets
    a.toml:5: path.change.0.up_loss: every 0 is not a period; accepted: every = 1000, or 1 or more
    a.toml:5: `up = { rtt = "250 ms" }`: unknown key "rtt" (did you mean "delay", one way?); accepted: one of "rate", "trace", "delay", "buffer", "queue", "policer", "jitter", "loss", "ecn"
    a.toml:5: `up = { owd = "250 ms" }`: unknown key "owd" (did you mean "delay", one way?); accepted: one of "rate", "trace", "delay", "buffer", "queue", "policer", "jitter", "loss", "ecn"
    a.toml:5: `delay = "250 ms"`: unknown key "delay" (did you mean "rtt", of both directions together?); accepted: one of "name", "rate", "trace", "rtt", "buffer", "queue", "splits", "jitter", "loss", "ecn", "noise", "policer", "medium", "reorder", "up", "change", "repeat"
    a.toml:5: `change = [{ at = "1 s", up_rtt = "1 s" }]`: unknown key "up_rtt" (did you mean "up_delay", one way?); accepted: one of "at", "when", "rate", "up_rate", "rtt", "up_delay", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    a.toml:5: path.queue: overhead "300 B" is too large; accepted: at most "256 B", as by tc-cake
    a.toml:5: `queue = { model = "cake", mpu = 84 }`: 84 has no unit; accepted: a text with a unit, such as "10 MB"
    a.toml:5: `queue = { model = "cake", framing = "ethernet" }`: unknown value "ethernet"; accepted: "atm" or "ptm"
    "##);
}
