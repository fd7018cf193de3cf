//! Changes of a path that cannot be read.

use super::refusal;
use std::fmt::Write;

#[test]
fn a_change_that_cannot_be_read_is_refused_with_the_accepted_forms() {
    let mut table = String::new();
    for (from, to) in [
        ("at = \"2 s\"", "at = \"2 s\"\nloss = 1"),
        ("at = \"2 s\"", "at = \"2 s\"\nup_loss = \"2\""),
        ("at = \"2 s\"", "at = \"2 s\"\nloss = { model = \"none\" }"),
        ("at = \"2 s\"", "at = \"2 s\"\nqueue = \"codle\""),
        (
            "at = \"2 s\"",
            "at = \"2 s\"\nqueue = { model = \"red\", min = \"9 kB\", max = \"1 kB\" }",
        ),
        (
            "at = \"2 s\"",
            "at = \"2 s\"\nup_queue = { model = \"fq-codel\", flows = 0 }",
        ),
        ("at = \"2 s\"", "at = \"2 s\"\nflush = \"yes\""),
        ("at = \"2 s\"", "at = \"2 s\"\ndelay = \"9 ms\""),
        ("at = \"2 s\"", "at = \"2 s\"\ndrop = true"),
    ] {
        writeln!(table, "{}", refusal(from, to)).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:10: `loss = 1`: 1 has no unit; accepted: "1 %", or a table with model = "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:10: `up_loss = "2"`: "2" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:10: `loss = { model = "none" }`: unknown value "none"; accepted: one of "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:10: `queue = "codle"`: unknown value "codle" (did you mean "codel"?); accepted: one of DISCIPLINES
    a.toml:10: path.change.1.queue: min "9 kB" is not below max "1 kB"; accepted: min < max
    a.toml:10: path.change.1.up_queue: flows 0 is out of range; accepted: 1 to 65536
    a.toml:10: `flush = "yes"`: "yes" is a text; accepted: true or false
    a.toml:10: `delay = "9 ms"`: unknown key "delay" (did you mean "rtt", of both directions together?); accepted: one of "at", "when", "rate", "up_rate", "rtt", "up_delay", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    a.toml:10: `drop = true`: unknown key "drop"; accepted: one of "at", "when", "rate", "up_rate", "rtt", "up_delay", "buffer", "jitter", "loss", "up_loss", "queue", "up_queue", "flush", "up_flush"
    "##);
}
