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
    a.toml:5: path.jitter: "reordering" has packets overtake others; accepted: reorder = true beside it
    a.toml:6: path.jitter: extent 0 is out of range; accepted: 1 to 10000 packets
    a.toml:6: `jitter = { model = "reordering", share = "2", extent = 3 }`: "2" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:5: path.up.jitter: every "1 us" is too short; accepted: "10 us" or more
    a.toml:5: `ecn = "clear"`: unknown value "clear"; accepted: one of "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `ecn = true`: is neither a text nor a table; accepted: "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `up = { ecn = "dropce" }`: unknown value "dropce" (did you mean "drop-ce"?); accepted: one of "keep", "bleach", "drop-ce", "hide-ce"
    a.toml:5: `change = [{ at = "1 s", ecn = "bleach" }]`: unknown key "ecn"; accepted: one of "at", "when", "rate", "up_rate", "rtt", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    "##);
}
