//! Texts that stand for a table: `queue = "codel"`.

use super::{GOOD, read, refusal};
use std::fmt::Write;
use thalweg_sim::Scenario;

#[test]
fn a_text_stands_for_the_most_common_table() {
    let set = |sets: &[(&str, &str)]| read(GOOD.as_bytes(), sets, &[]).unwrap();
    let links = |scenario: &Scenario| format!("{:?}", scenario.path());
    for (key, text, table) in [
        ("loss", "0.1 %", "{ model = \"random\", rate = \"0.1 %\" }"),
        ("queue", "codel", "{ model = \"codel\" }"),
        ("queue", "dualpi2", "{ model = \"dualpi2\" }"),
        ("jitter", "5 ms", "{ model = \"normal\", mean = \"5 ms\" }"),
    ] {
        for place in ["path", "path.up", "path.change.1"] {
            let key = format!("{place}.{key}");
            let short = set(&[(&key, text)]);
            assert_eq!(links(&short), links(&set(&[(&key, table)])), "{key}");
            assert_ne!(links(&short), links(&set(&[])), "{key}");
            // What ran is written with the text, and reads back as the same.
            let again = read(short.toml().as_bytes(), &[], &[]).unwrap();
            assert_eq!(links(&again), links(&short), "{key}");
        }
        let file = GOOD.replace("rtt =", &format!("{key} = \"{text}\"\nrtt ="));
        let file = read(file.as_bytes(), &[], &[]).unwrap();
        assert_eq!(links(&file), links(&set(&[(&format!("path.{key}"), text)])));
    }
    // A word is a model, where it needs no more.
    let none = set(&[("path.jitter", "none")]);
    assert_eq!(links(&none), links(&set(&[])));
}

#[test]
fn a_key_can_be_set_in_the_table_that_a_text_stands_for() {
    let text = GOOD.replace(
        "rtt =",
        "queue = \"codel\"\njitter = \"5 ms\"\nloss = \"1 %\"\nrtt =",
    );
    let set = |key: &str, value: &str| {
        let scenario = read(text.as_bytes(), &[(key, value)], &[]).unwrap();
        format!("{:?}", scenario.path())
    };
    for (key, inner, value, table) in [
        (
            "queue",
            "target",
            "9 ms",
            "{ model = \"codel\", target = \"9 ms\" }",
        ),
        ("queue", "model", "fq-codel", "{ model = \"fq-codel\" }"),
        (
            "jitter",
            "model",
            "wifi",
            "{ model = \"wifi\", mean = \"5 ms\" }",
        ),
        (
            "loss",
            "rate",
            "2 %",
            "{ model = \"random\", rate = \"2 %\" }",
        ),
    ] {
        let whole = set(&format!("path.{key}"), table);
        assert_eq!(
            set(&format!("path.{key}.{inner}"), value),
            whole,
            "{key}.{inner}"
        );
    }
}

#[test]
fn a_text_that_stands_for_no_table_is_refused_with_the_accepted_forms() {
    let mut table = String::new();
    for (from, to) in [
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\njitter = \"5\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\njitter = 5"),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\njitter = \"wifi\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\njitter = \"wify\""),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\njitter = \"truncated-normal\"",
        ),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nqueue = \"fqcodel\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nqueue = 5"),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nqueue = {}"),
    ] {
        writeln!(table, "{}", refusal(from, to)).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:5: `jitter = "5"`: "5" has no unit; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:5: `jitter = 5`: 5 has no unit; accepted: "80 ms", or a table with model = "none", "uniform", "normal", "truncated-normal", "wifi", "two-components", "trace", "bursts", "nr-bpdv", "reordering"
    a.toml:5: `jitter = "wifi"`: "wifi" requires "mean": jitter = { model = "wifi", mean = "7 ms" }
    a.toml:5: `jitter = "wify"`: unknown value "wify" (did you mean "wifi"?); accepted: one of "none", "uniform", "normal", "truncated-normal", "wifi", "two-components", "trace", "bursts", "nr-bpdv", "reordering"
    a.toml:5: `jitter = "truncated-normal"`: "truncated-normal" requires "mean": jitter = { model = "truncated-normal", mean = "5 ms", sd = "2 ms", max = "10 ms" }
    a.toml:5: `queue = "fqcodel"`: unknown value "fqcodel" (did you mean "fq-codel"?); accepted: one of DISCIPLINES
    a.toml:5: `queue = 5`: 5 is a number; accepted: DISCIPLINES, or a table with one of these as its model
    a.toml:5: `queue = {}`: the key "model" is missing here; accepted: DISCIPLINES, or a table with one of these as its model
    "##);
}
