//! What a user reads whose scenario cannot be run: file, line, key, value, and the accepted forms.

#[path = "../any_variant/mod.rs"]
mod any_variant;
mod calls;
mod changes;
mod commands;
mod controllers;
mod names;
mod short_forms;
mod stacks;
mod words;

use std::fmt::Write;
use thalweg_sim::Scenario;
const GOOD: &str = r#"title = "Example"
[path]
rate = "10 Mbps"
rtt = "50 ms"
[[path.change]]
at = "1 s"
rate = "5 Mbps"
[[path.change]]
at = "2 s"
rate = "10 Mbps"
[[flow]]
name = "main"
controller = "c4"
download = "9 MB"
[[flow]]
name = "other"
controller = "cubic"
download = "1 MB"
[[pass]]
flow = "main"
metric = "closed"
at_most = "5 s"
"#;

fn read(
    text: &[u8],
    sets: &[(&str, &str)],
    controllers: &[(&str, &str)],
) -> Result<Scenario, String> {
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs.map(|(a, b)| (a.to_string(), b.to_string())).collect()
    };
    let result = any_variant::from_toml(text, "a.toml", &own(sets), &own(controllers));
    result.map_err(|error| crate::lists::shortened(&error.to_string()))
}

/// The message for the good scenario with its first `from` replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    read(text.as_bytes(), &[], &[])
        .err()
        .unwrap_or_else(|| panic!("`{to}` is accepted"))
}

#[test]
fn the_example_is_good() {
    read(GOOD.as_bytes(), &[], &[]).unwrap();
}

#[test]
fn a_refusal_names_file_line_key_value_and_accepted_forms() {
    let mut table = String::new();
    for (from, to) in [
        // keys
        ("rtt =", "rt ="),
        ("download =", "downlod ="),
        ("download =", "recursive = 1\ndownload ="),
        ("[[pass]]", "[[passes]]"),
        ("title = \"Example\"\n", ""),
        ("rate = \"10 Mbps\"\n", ""),
        ("at = \"1 s\"\n", ""),
        // quantities
        ("\"50 ms\"", "\"50 Mbps\""),
        ("\"50 ms\"", "\"50\""),
        ("\"50 ms\"", "50"),
        ("\"50 ms\"", "true"),
        ("\"50 ms\"", "[50]"),
        (
            "title = \"Example\"",
            "title = \"Example\"\nrtt = \"50 ms\"",
        ),
        ("[[flow]]", "[flow]"),
        ("[[path.change]]", "[path.change]"),
        ("[[pass]]", "[pass]"),
        ("controller = \"c4\"", "controller = \"c4\"\nroute = \"a\""),
        ("\"c4\"", "\"kernel:cubic\""),
        ("\"cubic\"", "\"cubik\""),
        ("\"10 Mbps\"", "\"10 ms\""),
        ("\"10 Mbps\"", "\"fast\""),
        ("\"9 MB\"", "\"-1 MB\""),
        ("\"9 MB\"", "\"99999999999 GB\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nbuffer = \"2 pakets\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nbuffer = \"0 ms\""),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\nloss = { model = \"random\", rate = \"200 %\" }",
        ),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\nloss = { model = \"sometimes\" }",
        ),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nloss = \"200 %\""),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nloss = 0.01"),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nloss = {}"),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\njitter = { model = \"wifi\" }",
        ),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\njitter = { model = \"uniform\", min = \"9 ms\", max = \"2 ms\" }",
        ),
        // controllers
        ("\"c4\"", "\"c5\""),
        ("\"cubic\"", "\"cubic:fast=on\""),
        ("\"cubic\"", "\"cubic:variant=windows\""),
        // flows and criteria
        ("name = \"other\"", "name = \"main\""),
        ("name = \"other\"", "name = \"\""),
        (
            "download = \"9 MB\"",
            "upload = \"1 MB\"\ndownload = \"1 MB\"",
        ),
        ("download = \"9 MB\"\n", ""),
        ("download = \"9 MB\"", "download = \"1 MB\"\nstreams = 0"),
        ("flow = \"main\"", "flow = \"background\""),
        ("\"closed\"", "\"speed\""),
        ("at_most = \"5 s\"", "at_most = \"soon\""),
        ("at_most = \"5 s\"", "at_most = 5"),
        ("at_most = \"5 s\"", "at_most = \"5 Mbps\""),
        ("at_most = \"5 s\"", "at_most = \"5 s\"\nat_least = \"1 s\""),
        ("at_most = \"5 s\"\n", ""),
        ("at_most = \"5 s\"", "at_most = \"5 s\"\nin = \"0 %\""),
        ("at_most = \"5 s\"", "at_most = \"5 s\"\nin = 95"),
        ("at_most = \"5 s\"", "at_most = \"5 s\"\nstream = \"audio\""),
        ("\"closed\"", "\"complete\""),
        ("\"closed\"", "\"p95-delay\""),
        (
            "metric = \"closed\"\nat_most = \"5 s\"",
            "metric = \"rate\"\nat_least = \"5 s\"",
        ),
        (
            "metric = \"closed\"\nat_most = \"5 s\"",
            "metric = \"loss\"\nat_most = \"2\"",
        ),
        // paths that make no sense
        ("at = \"2 s\"", "at = \"500 ms\""),
        (
            "at = \"1 s\"\nrate = \"5 Mbps\"\n[[path.change]]\nat = \"2 s\"\nrate = \"10 Mbps\"",
            "at = \"1 s\"\nrate = \"5 Mbps\"\n[[path.change]]\nat = \"1100 ms\"\nrate = \"0 bps\"",
        ),
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nrepeat = \"2 s\""),
        ("title =", "time_limit = \"0 s\"\ntitle ="),
        ("title =", "time_limit = \"6 s\"\ntitle ="),
        ("5 s\"", "601 s\""),
        ("title =", "overhead = \"2 kB\"\ntitle ="),
        ("[[flow]]", "[transport]\nmax_mtu = \"500 B\"\n[[flow]]"),
        (
            "[[flow]]",
            "[transport]\nmtu_fallback = true\nmax_mtu = \"3 kB\"\n[[flow]]",
        ),
        (
            "[[flow]]",
            "[transport]\ninitial_window = \"1 kB\"\n[[flow]]",
        ),
        ("[[flow]]", "[noise]\nphase = \"600 s\"\n[[flow]]"),
        ("[[flow]]", "[noise]\nhandshake = \"513 B\"\n[[flow]]"),
        ("[[flow]]", "[noise]\nhandshake = 8\n[[flow]]"),
        (
            "[[flow]]",
            "[transport]\nmax_ack_delay = \"20 s\"\n[[flow]]",
        ),
        (
            "[[flow]]",
            "[transport]\ninitial_max_data = \"1 kB\"\n[[flow]]",
        ),
        // no TOML at all
        ("[path]", "[path"),
        ("\"Example\"", "Example"),
        ("[path]", "[path]\nrate = \"1 Mbps\""),
    ] {
        writeln!(table, "{}", refusal(from, to)).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:4: `rt = "50 ms"`: unknown key "rt" (did you mean "rtt"?); accepted: one of "name", "rate", "trace", "rtt", "buffer", "queue", "splits", "jitter", "loss", "ecn", "noise", "policer", "medium", "reorder", "up", "change", "repeat"
    a.toml:14: `downlod = "9 MB"`: unknown key "downlod" (did you mean "download"?); accepted: one of "name", "controller", "stack", "host", "start", "route", "tunnel", "background", "download", "upload", "requests", "call", "media", "measure_from", "probe", "streams", "request", "app_rate", "chunk", "think_time", "pauses", "receive_window", "receiver", "sender", "circuit_breaker", "zero_rtt", "seed", "command"
    a.toml:14: `recursive = 1`: unknown key "recursive"; accepted: one of "name", "controller", "stack", "host", "start", "route", "tunnel", "background", "download", "upload", "requests", "call", "media", "measure_from", "probe", "streams", "request", "app_rate", "chunk", "think_time", "pauses", "receive_window", "receiver", "sender", "circuit_breaker", "zero_rtt", "seed", "command"
    a.toml:19: `[[passes]]`: unknown key "passes" (did you mean "pass"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml:1: the key "title" is missing at the top; accepted: title = "A download"
    a.toml:2: path.rate: is missing; accepted: rate = "20 Mbps", or trace = "FILE"
    a.toml:5: path.change.0.at: is missing; accepted: at = "2 s", or when = { flow = "main", enters = "Drain" }
    a.toml:4: `rtt = "50 Mbps"`: "50 Mbps" has an unknown unit "Mbps"; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:4: `rtt = "50"`: "50" has no unit; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:4: `rtt = 50`: 50 has no unit; accepted: a text with a unit, such as "80 ms"
    a.toml:4: `rtt = true`: true is neither a text nor a number; accepted: a text with a unit, such as "80 ms"
    a.toml:4: `rtt = [50]`: this is a list; accepted: a text with a unit, such as "80 ms"
    a.toml:2: `rtt = "50 ms"`: unknown key "rtt" (did you mean "path.rtt"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml:15: `[[flow]]`: flows are a list: write [[flow]]
    a.toml:8: `[[path.change]]`: changes are a list: write [[path.change]]
    a.toml:19: `[pass]`: pass criteria are a list: write [[pass]]
    a.toml:14: `route = "a"`: "a" is a text; accepted: a list in square brackets
    a.toml:13: flow.0.controller: "kernel:cubic" belongs to the kernel and requires real time (thalweg run --live)
    a.toml:17: flow.1.controller: unknown controller "cubik" (did you mean "cubic"?); accepted: CONTROLLERS
    a.toml:3: `rate = "10 ms"`: "10 ms" has an unknown unit "ms"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:3: `rate = "fast"`: "fast" has an unknown unit "fast"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:14: `download = "-1 MB"`: "-1 MB" is negative; accepted: "10 MB" (10 000 000 bytes), "397 B", "64 KiB"
    a.toml:14: `download = "99999999999 GB"`: "99999999999 GB" is too large; accepted: "10 MB" (10 000 000 bytes), "397 B", "64 KiB"
    a.toml:5: `buffer = "2 pakets"`: "2 pakets" has an unknown unit "pakets"; accepted: "80 ms", "250 kB", "100 packets", "1 bdp", "unlimited"
    a.toml:5: `buffer = "0 ms"`: "0 ms" is 0; accepted: "80 ms", "250 kB", "100 packets", "1 bdp", "unlimited"
    a.toml:5: `loss = { model = "random", rate = "200 %" }`: "200 %" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:5: `loss = { model = "sometimes" }`: unknown value "sometimes"; accepted: one of "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:5: `loss = "200 %"`: "200 %" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:5: `loss = 0.01`: 0.01 has no unit; accepted: "1 %", or a table with model = "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:5: `loss = {}`: the key "model" is missing here; accepted: "1 %", or a table with model = "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:5: `jitter = { model = "wifi" }`: the key "mean" is missing here; accepted: mean = "5 ms"
    a.toml:5: path.jitter: min "9 ms" is above max "2 ms"; accepted: min <= max
    a.toml:13: flow.0.controller: unknown controller "c5"; accepted: CONTROLLERS
    a.toml:17: flow.1.controller: controller "cubic" has no option "fast"; accepted: variant, start, c, beta, start_beta, fast_convergence, ecn, abe, rate_limited_increase
    a.toml:17: flow.1.controller: option "variant" of "cubic" cannot be "windows"; accepted: rfc9438, cuback, linux, picoquic, dcubic
    a.toml:16: flow.1.name: "main" names two flows; accepted: unique names
    a.toml:16: `name = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    a.toml:14: flow.0.upload: a flow has one workload; download, upload, requests and call (or media) cannot be combined
    a.toml:11: flow.0: flow "main" has no workload; accepted: download = "10 MB", upload = "10 MB", call = "5 s", requests = { ... } or [[flow.media]]
    a.toml:15: flow.0.streams: 0 is out of range; accepted: 1 to 10000
    a.toml:20: pass.0.flow: there is no flow "background"; accepted: main, other
    a.toml:21: pass.0.metric: unknown metric "speed"; accepted: METRICS
    a.toml:22: pass.0.at_most: "soon" has an unknown unit "soon"; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:22: `at_most = 5`: 5 has no unit; accepted: a text with a unit, such as "5 s", "20 Mbps" or "1 %", or "3" for a metric without one
    a.toml:22: pass.0.at_most: "5 Mbps" has an unknown unit "Mbps"; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:19: pass.0: at_most cannot be combined with at_least; use another [[pass]] for the second bound
    a.toml:19: pass.0: there is no bound; accepted: at_most = "5 s"
    a.toml:23: pass.0.in: "0 %": must be above 0 %; accepted: "95 %", up to "100 %"
    a.toml:23: `in = 95`: 95 has no unit; accepted: a text with a unit, such as "1 %"
    a.toml:23: pass.0.stream: "audio" cannot be combined with metric "closed", which measures the whole flow
    a.toml:21: pass.0.metric: unknown metric "complete" (did you mean "completion"?); accepted: METRICS
    a.toml:19: pass.0.stream: is missing for "p95-delay"; accepted: call = "5 s" or [[flow.media]] in this flow, or a metric of a flow
    a.toml:22: pass.0.at_least: "5 s" has an unknown unit "s"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    a.toml:22: pass.0.at_most: "2" is more than one; accepted: "1 %", "0.01", from 0 to 1
    a.toml:9: path.change.1.at: "500 ms" is before the change above; changes must be in the order of time
    a.toml:10: path.change.1.rate: the capacity from server to client is 0 from 1.1 s on, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[path.change]] to one
    a.toml:10: path.change.1.at: "2 s" is not within the period that repeats; accepted: less than path.repeat
    a.toml:1: time_limit: "0 s" leaves no time; accepted: "600 s"
    a.toml:1: time_limit: "6 s" is too short for flow "main" to finish on this path; accepted: at least "9 s"
    a.toml:22: pass.0.at_most: "601 s" is beyond the end of the trial; accepted: at most the time_limit, "600 s"
    a.toml:1: overhead: "2 kB" is too large; accepted: "0 B" to "1000 B"
    a.toml:12: transport.max_mtu: "500 B" is not a size of a QUIC packet; accepted: "1200 B" to "65527 B"
    a.toml:13: transport.max_mtu: "3 kB" is too large with mtu_fallback; accepted: at most "2.504 kB"
    a.toml:12: transport.initial_window: "1 kB" is below two packets; accepted: at least "2.88 kB"
    a.toml:12: noise.phase: "600 s" leaves no time for trials that start so late; accepted: less than the time_limit, "600 s"
    a.toml:12: noise.handshake: "513 B" is more than handshakes differ by; accepted: at most "512 B"
    a.toml:12: `handshake = 8`: 8 has no unit; accepted: a text with a unit, such as "10 MB"
    a.toml:12: transport.max_ack_delay: "20 s" is not a max_ack_delay of QUIC; accepted: less than "16.384 s"
    a.toml:12: transport.initial_max_data: "1 kB" is too small; accepted: at least "4096 B"
    a.toml:2: `[path`: unclosed table; accepted: "]"
    a.toml:1: `title = Example`: string values must be quoted; accepted: a text in quotes
    a.toml:4: `rate = "10 Mbps"`: "rate" comes twice here; accepted: once
    "##);
}

#[test]
fn scenarios_that_lack_everything_are_refused_as_well() {
    let flow = &GOOD[GOOD.find("[[flow]]").unwrap()..];
    let still = "title = \"t\"\n[path]\nrate = \"0 bps\"\nrtt = \"1 ms\"\n";
    let mut table = String::new();
    for text in [
        b"title = \"\xff\"".to_vec(),
        b"title = \"t\"\n\n# caf\xe9\n".to_vec(),
        b"".to_vec(),
        GOOD.replace(flow, "").into_bytes(),
        format!("{still}{flow}").into_bytes(),
    ] {
        writeln!(table, "{}", read(&text, &[], &[]).unwrap_err()).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:1: is not UTF-8; accepted: a TOML text in UTF-8
    a.toml:3: is not UTF-8; accepted: a TOML text in UTF-8
    a.toml:1: the key "title" is missing at the top; accepted: title = "A download"
    a.toml: flow: there is no flow; accepted: one or more [[flow]] tables
    a.toml:3: path.rate: "0 bps" never transmits a packet; accepted: a rate above 0, or a [[path.change]] to one
    "##);
}

#[test]
fn what_the_command_line_sets_is_refused_by_its_own_name() {
    let mut table = String::new();
    for set in [
        ("flow.nobody.start", "1 s"),
        ("flow.main.speed", "3"),
        ("path.rate", "10 ms"),
        ("path.rate.value", "1"),
        ("path..rate", "1 Mbps"),
        ("path.change.7.at", "1 s"),
        ("path.change.1.at", "100 ms"),
        ("flow.main.download", "-1 MB"),
        ("flow.other.name", "main"),
        ("flow.main.controller", "c9"),
        ("nonsense", "1"),
        ("rtt", "40 ms"),
        ("loss", "1 %"),
        ("download", "1 MB"),
        ("flow.mian.start", "1 s"),
        ("path.loss", "one"),
        ("path.rate", "10"),
    ] {
        writeln!(table, "{}", read(GOOD.as_bytes(), &[set], &[]).unwrap_err()).unwrap();
    }
    for controller in [
        ("nobody", "c4"),
        ("mian", "c4"),
        ("main", "c9"),
        ("main", "cubik"),
        ("main", "kernel:cubic"),
        ("main", "c4:varient=v1"),
        ("main", "c4:variant=v9"),
        ("main", ""),
    ] {
        writeln!(
            table,
            "{}",
            read(GOOD.as_bytes(), &[], &[controller]).unwrap_err()
        )
        .unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    --set flow.nobody.start=1 s: flow has no entry "nobody"; accepted: main, other, or * for all
    a.toml --set flow.main.speed=3: `speed = 3`: unknown key "speed" (did you mean "seed"?); accepted: one of "name", "controller", "stack", "host", "start", "route", "tunnel", "background", "download", "upload", "requests", "call", "media", "measure_from", "probe", "streams", "request", "app_rate", "chunk", "think_time", "pauses", "receive_window", "receiver", "sender", "circuit_breaker", "zero_rtt", "seed", "command"
    a.toml --set path.rate=10 ms: `rate = "10 ms"`: "10 ms" has an unknown unit "ms"; accepted: "20 Mbps", "1.5 Gbps", "512 kbps", "0 bps"
    --set path.rate.value=1: path.rate is a value and has no key "value"; accepted: path.rate=VALUE
    --set path..rate=1 Mbps: the key has an empty part; accepted: path.rate="10 Mbps"
    --set path.change.7.at=1 s: path.change has no entry "7"; accepted: 0, 1, or * for all
    a.toml --set path.change.1.at=100 ms: path.change.1.at: "100 ms" is before the change above; changes must be in the order of time
    a.toml --set flow.main.download=-1 MB: `download = "-1 MB"`: "-1 MB" is negative; accepted: "10 MB" (10 000 000 bytes), "397 B", "64 KiB"
    a.toml --set flow.other.name=main: flow.1.name: "main" names two flows; accepted: unique names
    a.toml --set flow.main.controller=c9: flow.0.controller: unknown controller "c9"; accepted: CONTROLLERS
    a.toml --set nonsense=1: `nonsense = 1`: unknown key "nonsense"; accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml --set rtt=40 ms: `rtt = "40 ms"`: unknown key "rtt" (did you mean "path.rtt"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml --set loss=1 %: `loss = "1 %"`: unknown key "loss" (did you mean "path.loss"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    a.toml --set download=1 MB: `download = "1 MB"`: unknown key "download" (did you mean "flow.NAME.download"?); accepted: one of "title", "source", "note", "overhead", "time_limit", "noise", "allow_unseeded", "sample", "path", "link", "transport", "flow", "traffic", "tunnel", "pass"
    --set flow.mian.start=1 s: flow has no entry "mian" (did you mean "main"?); accepted: main, other, or * for all
    a.toml --set path.loss=one: `loss = "one"`: "one" is not a fraction; accepted: "1 %", "0.01", from 0 to 1
    a.toml --set path.rate=10: `rate = 10`: 10 has no unit; accepted: a text with a unit, such as "20 Mbps"
    --controller nobody=c4: there is no flow "nobody"; accepted: main, other
    --controller mian=c4: there is no flow "mian" (did you mean "main"?); accepted: main, other
    --controller main=c9: unknown controller "c9"; accepted: CONTROLLERS
    --controller main=cubik: unknown controller "cubik" (did you mean "cubic"?); accepted: CONTROLLERS
    --controller main=kernel:cubic: "kernel:cubic" belongs to the kernel and requires real time (thalweg run --live)
    --controller main=c4:varient=v1: controller "c4" has no option "varient" (did you mean "variant"?); accepted: variant, rtt_floor, submillisecond_bonus, push, max_reduction, delay_bound, sensitivity, drain, trim, reentry, ratchet, alpha_previous, initial_max_rtt, clamp
    --controller main=c4:variant=v9: option "variant" of "c4" cannot be "v9"; accepted: draft-05, draft-04, 2026-10, v1, v1-no-exit-on-delay, v2, v3
    --controller main=: unknown controller ""; accepted: CONTROLLERS
    "##);
}

#[test]
fn a_controller_that_cannot_be_simulated_gives_way_to_one_that_is_set() {
    for foreign in ["kernel:cubic", "noq:cubic"] {
        let text = GOOD.replace("\"c4\"", &format!("\"{foreign}\""));
        let controller = |sets: &[(&str, &str)], controllers: &[(&str, &str)]| {
            let scenario = read(text.as_bytes(), sets, controllers)?;
            Ok::<_, String>(scenario.flows[0].controller.as_str().to_owned())
        };
        let refusal = controller(&[], &[]).expect_err("a refusal");
        assert!(refusal.contains(foreign), "{refusal}");
        let set = [("flow.main.controller", "reno")];
        assert_eq!(controller(&set, &[]).as_deref(), Ok("reno"));
        let bound = controller(&set, &[("main", "bbr")]);
        assert_eq!(bound.as_deref(), Ok("bbr"), "controllers are bound last");
        let renamed = controller(
            &[("flow.main.name", "a"), ("pass.0.flow", "a")],
            &[("a", "bbr")],
        );
        assert_eq!(renamed.as_deref(), Ok("bbr"));
    }
}

#[test]
fn links_routes_and_requests_that_make_no_sense_are_refused() {
    const ROUTES: &str = r#"title = "Example"
[[link]]
name = "a"
rate = "10 Mbps"
rtt = "50 ms"
[[link]]
name = "b"
rate = "10 Mbps"
rtt = "50 ms"
[[flow]]
name = "main"
controller = "c4"
requests = { count = 3, mean_gap = "10 ms", p5 = "1 kB", p95 = "9 kB" }
route = ["a", "b"]
"#;
    let mut table = String::new();
    for (from, to) in [
        ("\"a\", \"b\"", ""),
        ("\"a\", \"b\"", "\"a\", \"c\""),
        ("\"a\", \"b\"", "\"a\", \"a\""),
        ("route = [\"a\", \"b\"]\n", ""),
        ("name = \"b\"", "name = \"a\""),
        ("name = \"b\"\n", ""),
        (
            "[[flow]]",
            "[path]\nrate = \"1 Mbps\"\nrtt = \"1 s\"\n[[flow]]",
        ),
        (
            "name = \"b\"\nrate = \"10 Mbps\"",
            "name = \"b\"\nrate = \"0 bps\"",
        ),
        ("count = 3", "count = 0"),
        ("p5 = \"1 kB\"", "p5 = \"0 B\""),
        ("p95 = \"9 kB\"", "p95 = \"9 B\""),
        ("route =", "download = \"1 MB\"\nroute ="),
        (
            "[[flow]]",
            "[[link.change]]\nat = \"1 s\"\nrate = \"0 bps\"\n[[flow]]\nstart = \"2 s\"",
        ),
        ("title =", "sample = \"0 s\"\ntitle ="),
    ] {
        let text = ROUTES.replacen(from, to, 1);
        assert_ne!(text, ROUTES);
        writeln!(table, "{}", read(text.as_bytes(), &[], &[]).unwrap_err()).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:14: flow.0.route: the route is empty; accepted: one or more of a, b
    a.toml:14: flow.0.route: there is no link "c"; accepted: a, b
    a.toml:14: flow.0.route: "a" is repeated; a route has each link once
    a.toml:10: flow.0.route: is missing for flow "main"; accepted: a list of a, b, from server to client
    a.toml:7: link.1.name: "a" names two links; accepted: unique names
    a.toml:6: link.1.name: is missing; accepted: name = "bottleneck"
    a.toml:2: link: [[link]] cannot be combined with [path]; use [path] for one hop, or [[link]] tables and a route for each flow
    a.toml:8: link.1.rate: "0 bps" never transmits a packet; accepted: a rate above 0, or a [[path.change]] to one
    a.toml:13: flow.0.requests.count: 0 is out of range; accepted: 1 to 100000
    a.toml:13: flow.0.requests.p5: "0 B" is too small; accepted: "1 B" or more
    a.toml:13: flow.0.requests.p95: "9 B" is below p5; accepted: at least "1 kB"
    a.toml:13: flow.0.requests: a flow has one workload; download, upload, requests and call (or media) cannot be combined
    a.toml:12: link.1.change.0.rate: the capacity from server to client is 0 from 1 s on, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[link.change]] to one
    a.toml:1: sample: "0 ns" is too fine for "600 s" (time_limit) and 6 series; accepted: bins of "200 us" or more
    "##);
}

#[test]
fn a_share_needs_two_flows() {
    let alone = GOOD.replace(
        "[[flow]]\nname = \"other\"\ncontroller = \"cubic\"\ndownload = \"1 MB\"\n",
        "",
    );
    let share = |text: &str| {
        let text = text.replace(
            "metric = \"closed\"\nat_most = \"5 s\"",
            "metric = \"share\"\nat_least = \"40 %\"",
        );
        read(text.as_bytes(), &[], &[]).map(|_| ())
    };
    assert_eq!(share(GOOD), Ok(()));
    assert!(
        share(&alone)
            .unwrap_err()
            .contains("metric \"share\" needs at least two flows; this scenario has one")
    );
}

#[test]
fn a_metric_over_time_needs_bins_that_those_of_the_series_divide() {
    let starvation = |sample: &str| {
        let text = GOOD.replace("metric = \"closed\"", "metric = \"starvation\"");
        read(
            format!("sample = \"{sample}\"\n{text}").as_bytes(),
            &[],
            &[],
        )
        .map(|_| ())
    };
    assert_eq!(starvation("20 ms"), Ok(()));
    let refused = starvation("30 ms").unwrap_err();
    assert!(refused.contains("pass.0.metric: \"starvation\" is measured in bins of 100 ms, which sample = \"30 ms\" does not divide; accepted: sample = \"10 ms\""), "{refused}");
}
