//! Conduct that cannot be.

use thalweg_sim::Scenario;

#[test]
fn conduct_that_makes_no_sense_is_refused_with_what_is_accepted() {
    let refusals = [
        "receiver = \"optimistic\"",
        "receiver = true",
        "receiver = \"greedy\"\nreceive_window = \"64 kB\"",
        "receiver = \"optimistic-acks\"\nreceive_window = \"64 kB\"",
        "receiver = \"ack-division\"\nstack = \"quic\"",
        "sender = \"ignores-losses\"",
        "sender = \"ignores-loss\"\nstack = \"quic\"",
    ]
    .map(|keys| {
        let text = format!(
            "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n{keys}\n"
        );
        let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
        read.expect_err("refused").to_string()
    });
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    a.toml:9: `receiver = "optimistic"`: unknown value "optimistic" (did you mean "optimistic-acks"?); accepted: one of "honest", "optimistic-acks", "ack-division", "hides-ce", "greedy"
    a.toml:9: `receiver = true`: is neither a text nor a table; accepted: "honest", "optimistic-acks", "ack-division", "hides-ce", "greedy"
    a.toml:10: flow.0.receive_window: receive_window cannot be combined with a receiver whose flow control has no limit, "greedy" or "optimistic-acks"
    a.toml:10: flow.0.receive_window: receive_window cannot be combined with a receiver whose flow control has no limit, "greedy" or "optimistic-acks"
    a.toml:9: flow.0.receiver: a receiver that is not "honest" requires stack = "model"
    a.toml:9: `sender = "ignores-losses"`: unknown value "ignores-losses" (did you mean "ignores-loss"?); accepted: "honest" or "ignores-loss"
    a.toml:9: flow.0.sender: a sender that is not "honest" requires stack = "model"
    "##);
}
