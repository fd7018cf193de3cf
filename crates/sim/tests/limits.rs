//! Limits of scenarios: each is refused immediately with what is accepted, and accepted scenarios can be
//! stopped.

use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use thalweg_sim::{Progress, Scenario, run_trials};

const GOOD: &str = r#"title = "Example"
[path]
rate = "10 Mbps"
rtt = "50 ms"
[[flow]]
name = "main"
controller = "c4"
download = "9 MB"
"#;

fn read(text: &str) -> Result<Scenario, String> {
    let begin = Instant::now();
    let scenario = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
    let took = begin.elapsed();
    // Without limits it would take minutes, or never end.
    assert!(took < Duration::from_secs(30), "{took:?} to read");
    scenario.map_err(|error| crate::lists::shortened(&error.to_string()))
}

/// The good scenario with the first of each pair replaced by the second.
fn with(changes: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn refusal(changes: &[(&str, &str)]) -> String {
    let text = with(changes);
    read(&text)
        .err()
        .unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn a_flow_that_can_never_finish_is_refused_in_either_direction_and_at_once() {
    let suspended = "[[path.change]]\nat = \"1.8 s\"\nrate = \"0 bps\"\n[[flow]]";
    let wifi = [
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nrepeat = \"2 s\""),
        ("[[flow]]", suspended),
    ];
    let and = |more: &[(&'static str, &'static str)]| [&wifi[..], more].concat();
    let up = ("[[flow]]", "[path.up]\nrate = \"0 bps\"\n[[flow]]");
    let mut table = String::new();
    for changes in [
        and(&[up]),
        vec![up],
        vec![(
            "[[flow]]",
            "[[path.change]]\nat = \"1 s\"\nup_rate = \"0 bps\"\n[[path.change]]\nat = \"2 s\"\nrtt = \"9 ms\"\n[[flow]]\nstart = \"5 s\"",
        )],
        and(&[("\"9 MB\"", "\"9999999999999 MB\"")]),
        and(&[("download = \"9 MB\"", "upload = \"9999999999999 MB\"")]),
        vec![("download = \"9 MB\"", "upload = \"9 MB\""), up],
        vec![("[[flow]]", "loss = \"100 %\"\n[[flow]]")],
        vec![(
            "[[flow]]",
            "[[path.change]]\nat = \"1 s\"\nloss = \"100 %\"\nup_loss = \"0 %\"\n[[flow]]\nstart = \"5 s\"",
        )],
        vec![(
            "[[flow]]",
            "[[path.change]]\nat = \"1 s\"\nup_loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"0 %\" }\n[[flow]]\nstart = \"5 s\"",
        )],
    ] {
        writeln!(table, "{}", refusal(&changes)).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:10: path.up.rate: the capacity from client to server is 0 always, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[path.change]] to one
    a.toml:6: path.up.rate: the capacity from client to server is 0 always, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[path.change]] to one
    a.toml:7: path.change.0.up_rate: the capacity from client to server is 0 from 1 s on, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[path.change]] to one
    a.toml:12: flow.0.download: "9999999999.999 GB" is more than the path carries from server to client in 584 years; accepted: at most "20752587 GB"
    a.toml:12: flow.0.upload: "9999999999.999 GB" is more than the path carries from client to server in 584 years; accepted: at most "20752587 GB"
    a.toml:6: path.up.rate: the capacity from client to server is 0 always, so flow "main" (flow.0) can never finish; accepted: a rate above 0, or a later [[path.change]] to one
    a.toml:5: path.loss: every packet from server to client is always lost, so flow "main" (flow.0) can never finish; accepted: a loss below "100 %", or a later [[path.change]] to one
    a.toml:7: path.change.0.loss: every packet from server to client is lost from 1 s on, so flow "main" (flow.0) can never finish; accepted: a loss below "100 %", or a later [[path.change]] to one
    a.toml:7: path.change.0.up_loss: every packet from client to server is lost from 1 s on, so flow "main" (flow.0) can never finish; accepted: a loss below "100 %", or a later [[path.change]] to one
    "##);
    // With a change that comes back, it can.
    read(&with(&wifi)).unwrap();
}

#[test]
fn a_value_beyond_its_limits_is_refused_with_the_accepted_range() {
    let noise = "rtt = \"50 ms\"\nnoise = { rate_sd = \"1 Mbps\", every = \"10 us\" }";
    let pie = "rtt = \"50 ms\"\nqueue = { model = \"pie\", update = \"10 us\" }";
    let queues = "rtt = \"50 ms\"\nqueue = { model = \"fq-codel\", flows = 65536 }";
    let mut table = String::new();
    let mut refuse = |text: &str| {
        let error = read(text).err().unwrap_or_else(|| "accepted".to_owned());
        writeln!(table, "{error}").unwrap();
    };
    for changes in [
        vec![(
            "title",
            "sample = \"100 us\"\ntime_limit = \"100 h\"\ntitle",
        )],
        vec![("title", "sample = \"10 us\"\ntitle")],
        vec![("title", "sample = \"1 h\"\ntime_limit = \"1 s\"\ntitle")],
        vec![("rtt = \"50 ms\"", "rtt = \"50 ms\"\nrepeat = \"1 ns\"")],
        vec![
            ("rtt = \"50 ms\"", noise),
            ("title", "time_limit = \"100 h\"\ntitle"),
        ],
        vec![("rtt = \"50 ms\"", pie)],
        vec![(
            "download = \"9 MB\"",
            "media = [{ name = \"a\", per_second = 10000, duration = \"900 s\", frame = \"9 B\" }, { name = \"b\", per_second = 10000, duration = \"900 s\", frame = \"9 B\" }]",
        )],
        vec![(
            "download = \"9 MB\"",
            "requests = { count = 100000, mean_gap = \"1 ms\", p5 = \"1 kB\", p95 = \"2 kB\" }\n[[flow]]\nname = \"b\"\ncontroller = \"c4\"\ndownload = \"1 MB\"",
        )],
        vec![
            ("\"10 Mbps\"", "\"400 Gbps\""),
            ("\"50 ms\"", "\"100 s\""),
            ("\"9 MB\"", "\"900000 GB\""),
        ],
        vec![
            ("\"10 Mbps\"", "\"1000 Tbps\""),
            ("\"50 ms\"", "\"1 us\""),
            ("\"9 MB\"", "\"9000000000 GB\""),
            ("title", "time_limit = \"100 h\"\ntitle"),
        ],
        vec![(
            "download = \"9 MB\"",
            "download = \"9 MB\"\nstreams = 10001",
        )],
        vec![(
            "download = \"9 MB\"",
            "download = \"9 MB\"\nstreams = 1001\nstack = \"quic\"",
        )],
    ] {
        refuse(&with(&changes));
    }
    let flow = |n: usize| {
        format!(
            "[[flow]]\nname = \"f{n}\"\ncontroller = \"c4\"\ndownload = \"9 MB\"\nstreams = 10000\n"
        )
    };
    let flows: String = (0..25).map(flow).collect();
    refuse(&format!("{GOOD}{flows}"));
    let flows: String = (0..10_000).map(flow).collect();
    refuse(&format!("{GOOD}{flows}"));
    let link =
        |n: usize| format!("[[link]]\nname = \"l{n}\"\nrate = \"1 Mbps\"\nrtt = \"50 ms\"\n");
    let links = |n: usize| (0..n).map(link).collect::<String>();
    let path = &GOOD[GOOD.find("[path]").unwrap()..GOOD.find("[[flow]]").unwrap()];
    refuse(&GOOD.replace(path, &links(1_001)));
    refuse(&GOOD.replace(path, &links(20).replace("rtt = \"50 ms\"", queues)));
    let few = |name: &str| format!("route = [\"{name}\"]\n");
    let many = "requests = { count = 3000, mean_gap = \"1 ms\", p5 = \"1 kB\", p95 = \"2 kB\" }";
    refuse(
        &GOOD
            .replace(path, &links(1_000))
            .replace("download = \"9 MB\"", many)
            .replace("controller", &format!("{}controller", few("l0"))),
    );
    let change = |n: usize| format!("[[path.change]]\nat = \"{n} us\"\nrate = \"1 Mbps\"\n");
    let changes: String = (0..100_001).map(change).collect();
    refuse(&GOOD.replace("[[flow]]", &format!("{changes}[[flow]]")));
    refuse(&format!("{GOOD}# {}", "=".repeat(1_000_001)));
    refuse(&format!("{GOOD}#{}", " ".repeat(80 << 20)));
    insta::assert_snapshot!(table, @r##"
    a.toml:1: sample: "100 us" is too fine for "360000 s" (time_limit) and 4 series; accepted: bins of "48.1 ms" or more
    a.toml:1: sample: "10 us" is too fine for "600 s" (time_limit) and 4 series; accepted: bins of "100 us" or more
    a.toml:1: sample: "3600 s" is longer than the trial; accepted: at most the time_limit, "1 s"
    a.toml:5: path.repeat: "1 ns" is too short for a trial of "600 s" (time_limit); accepted: at least "60 us"
    a.toml:6: path.noise.every: "10 us" is too short for a trial of "360000 s" (time_limit); accepted: at least "360 us"
    a.toml:5: path.queue.update: "10 us" is too short for a trial of "600 s" (time_limit); accepted: at least "60 us"
    a.toml:5: flow.0: 18000000 frames in the calls so far are too many; accepted: at most 10000000
    a.toml:9: flow.1: flows and requests so far make 100001 connections; accepted: at most 100000 over 2 links
    a.toml:5: flow: 5990415335 packets of these flows can be inside the network at one time; accepted: at most 50000000, by less data, a lower rate, a shorter rtt or a smaller buffer
    a.toml:6: flow: 7188498402555910 packets of these flows can cross links in one trial; accepted: at most 1000000000000, by less data, a lower rate, a shorter rtt or a smaller buffer
    a.toml:9: flow.0.streams: 10001 is out of range; accepted: 1 to 10000
    a.toml:9: flow.0.streams: 1001 is out of range; accepted: 1 to 1000
    a.toml:108: flow.20.streams: 200001 streams, chunks and objects in the flows so far are too many; accepted: at most 200000
    a.toml:5: flow: 10001 flows are too many; accepted: at most 10000
    a.toml:2: link: 1001 links are too many; accepted: at most 1000
    a.toml: link.queue: 2621440 queues of fair queueing in total are too many; accepted: at most 1048576
    a.toml:4002: flow.0: flows and requests so far make 3000 connections; accepted: at most 2000 over 2000 links
    a.toml:2: path: 100001 changes are too many; accepted: at most 100000
    a.toml: has about 1000010 keys, tables and list entries; accepted: at most 1000000
    a.toml: has 81 MiB; accepted: at most 80 MiB
    "##);
}

#[test]
fn what_a_serious_user_needs_is_accepted() {
    let flow = |n: usize| {
        format!("[[flow]]\nname = \"f{n}\"\ncontroller = \"cubic\"\ndownload = \"9 MB\"\n")
    };
    let thousands: String = (0..5_000).map(flow).collect();
    read(&format!("{GOOD}{thousands}")).unwrap();
    for changes in [
        vec![("\"50 ms\"", "\"100 s\"")],
        vec![
            ("\"10 Mbps\"", "\"400 Gbps\""),
            ("\"9 MB\"", "\"900000 GB\""),
        ],
        vec![("title", "sample = \"100 us\"\ntitle")],
        vec![("title", "sample = \"1 s\"\ntime_limit = \"100 h\"\ntitle")],
        vec![(
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\nnoise = { rate_sd = \"1 Mbps\", every = \"10 us\" }",
        )],
        vec![("rtt = \"50 ms\"", "rtt = \"50 ms\"\nrepeat = \"1 ms\"")],
        vec![
            ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nbuffer = \"unlimited\""),
            ("\"9 MB\"", "\"900000 GB\""),
        ],
        vec![(
            "download = \"9 MB\"",
            "requests = { count = 100000, mean_gap = \"1 ms\", p5 = \"1 kB\", p95 = \"2 kB\" }",
        )],
    ] {
        read(&with(&changes)).unwrap();
    }
}

#[test]
fn a_buffer_or_a_burst_without_room_for_a_packet_is_refused_with_the_least() {
    let mut table = String::new();
    for (from, to) in [
        ("rtt = \"50 ms\"", "rtt = \"50 ms\"\nbuffer = \"1279 B\""),
        ("\"50 ms\"", "\"1 ms\""),
        ("\"50 ms\"", "\"0 ms\""),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\n[path.up]\nbuffer = \"9 B\"",
        ),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\n[path.up]\nrate = \"9 kbps\"",
        ),
        (
            "[[flow]]",
            "[[path.change]]\nat = \"1 s\"\nbuffer = \"0.001 bdp\"\n[[flow]]",
        ),
        (
            "rtt = \"50 ms\"",
            "rtt = \"50 ms\"\npolicer = { rate = \"1 Mbps\", burst = \"1 kB\" }",
        ),
    ] {
        writeln!(table, "{}", refusal(&[(from, to)])).unwrap();
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:5: path.buffer: "1.279 kB" holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:2: path.buffer: "1 bdp" of "10 Mbps" and "1 ms" is 1.25 kB, which holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:2: path.buffer: "1 bdp" of "10 Mbps" and "0 ns" is 0 B, which holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:6: path.up.buffer: "9 B" holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:2: path.buffer: "1 bdp" of "9 kbps" and "50 ms" is 56 B, which holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:7: path.change.0.buffer: "0.001 bdp" of "10 Mbps" and "50 ms" is 62 B, which holds no packet; accepted: buffer = "1.28 kB" or more, the first packet of a connection with its headers
    a.toml:5: path.policer.burst: a burst of "1 kB" lets no packet pass; accepted: at least "1.28 kB", the first packet of a connection with its headers
    "##);
    // The least is enough: 1252 bytes of QUIC and 28 of headers.
    let least = with(&[("rtt = \"50 ms\"", "rtt = \"50 ms\"\nbuffer = \"1280 B\"")]);
    let outcome = &run_trials(&read(&least).unwrap(), &[1], 1, &Progress::default())[0].outcome;
    assert!(outcome.flows[0].completion.is_some());
}

#[test]
fn an_unknown_choice_is_refused_with_the_known_ones() {
    let mut table = String::new();
    let rtt = "rtt = \"50 ms\"";
    for value in [
        "queue = \"blue\"",
        "queue = { model = \"green\" }",
        "queue = { target = \"5 ms\" }",
        "jitter = 7",
        "jitter = { model = \"weather\" }",
        "[path.jitter]",
        "loss = []",
        "loss = { model = \"rain\" }",
        "jitter = { model = \"wifi\", mean = \"7 ms\", formula = 3 }",
        "change = 3",
        "reorder = \"yes\"",
        "up = 1",
        "trace = 2",
    ] {
        writeln!(table, "{}", refusal(&[(rtt, &format!("{rtt}\n{value}"))])).unwrap();
    }
    let name = "name = \"main\"";
    for value in [
        "stack = \"tcp\"",
        "stack = 3",
        "route = 1",
        "streams = -1",
        "streams = \"many\"",
        "requests = 3",
    ] {
        writeln!(table, "{}", refusal(&[(name, &format!("{name}\n{value}"))])).unwrap();
    }
    for word in ["enum", "sequence", "struct", "u32", "variant"] {
        assert!(!table.contains(word), "{word}: {table}");
    }
    insta::assert_snapshot!(table, @r##"
    a.toml:5: `queue = "blue"`: unknown value "blue"; accepted: one of DISCIPLINES
    a.toml:5: `queue = { model = "green" }`: unknown value "green"; accepted: one of DISCIPLINES
    a.toml:5: `queue = { target = "5 ms" }`: the key "model" is missing here; accepted: DISCIPLINES, or a table with one of these as its model
    a.toml:5: `jitter = 7`: 7 has no unit; accepted: "80 ms", or a table with model = "none", "uniform", "normal", "truncated-normal", "wifi", "two-components", "trace", "bursts", "nr-bpdv", "reordering"
    a.toml:5: `jitter = { model = "weather" }`: unknown value "weather"; accepted: one of "none", "uniform", "normal", "truncated-normal", "wifi", "two-components", "trace", "bursts", "nr-bpdv", "reordering"
    a.toml:5: `[path.jitter]`: the key "model" is missing here; accepted: "80 ms", or a table with model = "none", "uniform", "normal", "truncated-normal", "wifi", "two-components", "trace", "bursts", "nr-bpdv", "reordering"
    a.toml:5: `loss = []`: this is a list; accepted: "1 %", or a table with model = "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:5: `loss = { model = "rain" }`: unknown value "rain"; accepted: one of "random", "gilbert-elliott", "periodic", "scripted"
    a.toml:5: `jitter = { model = "wifi", mean = "7 ms", formula = 3 }`: 3 is a number; accepted: a text in quotes
    a.toml:5: `change = 3`: 3 is a number; accepted: a list in square brackets
    a.toml:5: `reorder = "yes"`: "yes" is a text; accepted: true or false
    a.toml:5: `up = 1`: 1 is a number; accepted: a table of keys
    a.toml:5: `trace = 2`: 2 is a number; accepted: a text in quotes
    a.toml:7: `stack = "tcp"`: unknown value "tcp"; accepted: one of "model", "quic", "./libmine.so"
    a.toml:7: `stack = 3`: 3 is a number; accepted: "./libmine.so", or "model", "quic"
    a.toml:7: `route = 1`: 1 is a number; accepted: a list in square brackets
    a.toml:7: `streams = -1`: -1 is not in range; accepted: a whole number, 0 or more
    a.toml:7: `streams = "many"`: "many" is a text; accepted: a whole number, 0 or more
    a.toml:7: `requests = 3`: 3 is a number; accepted: a table of keys
    "##);
}

#[test]
fn a_message_about_a_long_value_is_short() {
    let long = "x".repeat(1_000_000);
    let long = long.as_str();
    let sets = |key: &str| [(key.to_owned(), long.to_owned())];
    for key in [
        "path.rate",
        "path.loss",
        "flow.main.stack",
        "flow.main.controller",
        "path.trace",
        long,
    ] {
        let error = Scenario::from_toml(GOOD.as_bytes(), "a.toml", &sets(key), &[]);
        let error = error.expect_err("a refusal").to_string();
        assert!(error.chars().count() < 1_500, "{} {error:.2000}", key.len());
    }
    for (from, to) in [
        ("\"10 Mbps\"", format!("\"{long}\"")),
        ("\"main\"", format!("\"{long}\"\nroute = [\"a\"]")),
        ("\"c4\"", format!("\"{long}\"")),
        ("rtt", format!("{long} = 3\nrtt")),
        ("download", format!("stack = \"{long}\"\ndownload")),
    ] {
        let error = refusal(&[(from, &to)]);
        assert!(error.chars().count() < 1_500, "{from} {error:.2000}");
    }
}

#[test]
fn a_trace_is_a_regular_file_of_bounded_size() {
    let refuse = |file: &str| refusal(&[("rate = \"10 Mbps\"", &format!("trace = \"{file}\""))]);
    for special in ["/dev/zero", "/dev/null", "/"] {
        let error = refuse(special);
        assert!(
            error.contains("it is not a regular file; accepted: "),
            "{error}"
        );
    }
    let folder = std::env::temp_dir().join(format!("thalweg-limits-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let fifo = folder.join("fifo");
    let made = std::process::Command::new("mkfifo")
        .arg(&fifo)
        .status()
        .unwrap();
    assert!(made.success());
    let error = refuse(fifo.to_str().unwrap());
    assert!(
        error.contains("it is not a regular file; accepted: "),
        "{error}"
    );
    // A sparse file takes no room.
    let large = folder.join("large");
    std::fs::File::create(&large)
        .unwrap()
        .set_len((32 << 20) + 1)
        .unwrap();
    let error = refuse(large.to_str().unwrap());
    assert!(error.contains("more than 32 MiB"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// How long a trial continues after it is stopped.
fn time_to_stop(text: &str) -> Duration {
    let scenario = read(text).unwrap();
    let progress = Progress::default();
    std::thread::scope(|scope| {
        let trial = scope.spawn(|| run_trials(&scenario, &[1], 1, &progress));
        std::thread::sleep(Duration::from_millis(300));
        progress.stop.store(true, Ordering::Relaxed);
        let begin = Instant::now();
        trial.join().expect("no panic");
        begin.elapsed()
    })
}

#[test]
#[ignore = "in real time: make soak PART=engine"]
fn every_trial_is_stopped_within_a_second() {
    let noise =
        "rtt = \"50 ms\"\nbuffer = \"100 kB\"\nnoise = { rate_sd = \"9 bps\", every = \"10 us\" }";
    let pie = "rtt = \"50 ms\"\nbuffer = \"100 kB\"\nqueue = { model = \"pie\", target = \"0 s\", update = \"60 us\", burst = \"100 h\" }";
    let call = "call = \"5 s\"";
    for changes in [
        // A packet takes 20 minutes, 10^8 intervals of noise.
        vec![
            ("\"10 Mbps\"", "\"9 bps\""),
            ("rtt = \"50 ms\"", noise),
            ("title", "time_limit = \"2 h\"\ntitle"),
        ],
        vec![("rtt = \"50 ms\"", pie)],
        // Ten million changes of the path, each of which asks how the call recovered.
        vec![
            (
                "rtt = \"50 ms\"",
                "rtt = \"50 ms\"\nrepeat = \"120 us\"\n[[path.change]]\nat = \"60 us\"\nrate = \"5 Mbps\"",
            ),
            ("download = \"9 MB\"", call),
        ],
        // The series are made when the trial is over.
        vec![
            (
                "rtt = \"50 ms\"",
                "rtt = \"50 ms\"\nnoise = { rate_sd = \"1 Mbps\", every = \"10 us\" }",
            ),
            ("title", "time_limit = \"1 h\"\nsample = \"1 h\"\ntitle"),
            ("9 MB", "9 kB"),
        ],
    ] {
        let text = with(&changes);
        let took = time_to_stop(&text);
        assert!(took < Duration::from_secs(1), "{took:?}: {text}");
    }
}
