//! Queue disciplines, policers, traces and noise under real flows.

use crate::lists::shortened;
use audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

mod audited;

fn scenario(text: &str) -> Scenario {
    let text = format!("title = \"queues\"\noverhead = \"0 B\"\n{text}");
    Scenario::from_toml(text.as_bytes(), "queues.toml", &[], &[]).expect("a right scenario")
}

/// Two long Reno flows on 20 Mbps and 40 ms for 60 s behind a queue; a buffer of 500 ms.
fn two_flows(queue: &str) -> Outcome {
    let text = format!(
        "time_limit = \"60 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"500 ms\"\nqueue = {queue}\n"
    ) + &["a", "b"]
        .map(|name| {
            format!(
                "[[flow]]\nname = \"{name}\"\ncontroller = \"reno\"\ndownload = \"1 GB\"\nbackground = true\n"
            )
        })
        .concat();
    run_trial(&scenario(&text), 1, false).0
}

/// Mean queueing delay of the data in milliseconds.
fn delay_ms(outcome: &Outcome) -> f64 {
    outcome.links[0].mean_queue_delay.as_secs_f64() * 1e3
}

#[test]
fn active_queues_hold_the_delay_near_their_target_and_the_link_busy() {
    let drop_tail = delay_ms(&two_flows("{ model = \"drop-tail\" }"));
    assert!((150.0..500.0).contains(&drop_tail), "{drop_tail}");
    // Targets 5, 5, 15, 15 ms, and an average of 5 to 15 packets of 1500 bytes: 3 to 9 ms. PIE lets the first
    // burst of 150 ms pass (RFC 8033 section 4.2), which the mean keeps.
    for (queue, least, most) in [
        ("{ model = \"codel\" }", 1.5, 12.0),
        ("{ model = \"fq-codel\" }", 1.5, 12.0),
        ("{ model = \"cake\" }", 1.0, 12.0),
        ("{ model = \"pie\", ecn = true }", 5.0, 25.0),
        ("{ model = \"dualpi2\" }", 5.0, 22.0),
        ("{ model = \"red\", ecn = true }", 1.0, 15.0),
    ] {
        let outcome = two_flows(queue);
        let delay = delay_ms(&outcome);
        assert!((least..most).contains(&delay), "{queue}: {delay} ms");
        let used = outcome.links[0].utilisation;
        // The average of RED stays below a fifth of the bandwidth-delay product: halving empties it.
        assert!((0.7..=1.0).contains(&used), "{queue}: {used}");
        // Reno is ECN-capable: it is marked, and hardly anything is dropped.
        assert!(outcome.links[0].marked_packets > 5, "{queue}");
    }
}

#[test]
fn without_ecn_the_same_queues_drop_and_nothing_is_marked() {
    for model in ["codel", "fq-codel", "pie", "red"] {
        let outcome = two_flows(&format!("{{ model = \"{model}\", ecn = false }}"));
        let link = &outcome.links[0];
        assert_eq!(link.marked_packets, 0, "{model}");
        assert!(link.dropped_packets > 5, "{model}");
    }
}

#[test]
fn fair_queueing_protects_a_flow_from_a_greedy_one() {
    let pair = |queue: &str| {
        let text = format!(
            "time_limit = \"20 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\nqueue = {queue}\n"
        ) + "[[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"1 GB\"\nbackground = true\n[[flow]]\nname = \"greedy\"\ncontroller = \"bbr1\"\ndownload = \"1 GB\"\nbackground = true\n";
        let outcome = run_trial(&scenario(&text), 1, false).0;
        outcome.flows[0].share.expect("both were active")
    };
    let (mixed, fair) = (
        pair("{ model = \"codel\", ecn = false }"),
        pair("{ model = \"fq-codel\", ecn = false }"),
    );
    assert!(fair > mixed, "{mixed} {fair}");
    assert!((0.35..0.55).contains(&fair), "{fair}");
}

#[test]
fn a_policer_bounds_the_rate_in_the_long_run() {
    let text = "[path]\nrate = \"100 Mbps\"\nrtt = \"40 ms\"\npolicer = { rate = \"10 Mbps\", burst = \"100 kB\" }\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"10 MB\"\n";
    let outcome = run_trial(&scenario(text), 1, false).0;
    let time = outcome.flows[0].completion.expect("done").as_secs_f64();
    // 10 MB less the burst at 10 Mbps are 7.9 s.
    assert!((7.9..16.0).contains(&time), "{time}");
    assert!(outcome.flows[0].packets_dropped > 0);
}

#[test]
fn a_delivery_trace_is_the_capacity_of_both_directions_and_travels_in_the_text() {
    // An opportunity each millisecond: 12 Mbps.
    let text = "[path]\ntrace = \"ms: 1\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"3 MB\"\n";
    let plain = text.replace("trace = \"ms: 1\"", "rate = \"12 Mbps\"");
    let [traced, plain] = [text, &plain].map(|text| {
        let outcome = run_trial(&scenario(text), 1, false).0;
        outcome.flows[0].completion.expect("done").as_secs_f64()
    });
    assert!((0.9..1.1).contains(&(traced / plain)), "{traced} {plain}");
    let folder = std::env::temp_dir();
    let file = folder.join(format!("thalweg-{}.trace", std::process::id()));
    std::fs::write(&file, "1\n2\n2\n4\n").expect("a file");
    let text = format!(
        "title = \"t\"\n{}",
        text.replace(
            "ms: 1",
            &file.file_name().expect("a name").to_string_lossy()
        )
    );
    let origin = folder.join("scenario.toml");
    let origin = origin.to_string_lossy();
    let read = Scenario::from_toml(text.as_bytes(), &origin, &[], &[]).expect("a scenario");
    std::fs::remove_file(&file).expect("it was there");
    let again = Scenario::from_toml(read.toml().as_bytes(), &origin, &[], &[]).expect("its text");
    let hash = |scenario: &Scenario| run_trial(scenario, 1, false).0.trace_hash;
    assert_eq!(hash(&read), hash(&again));
    let gone = Scenario::from_toml(text.as_bytes(), &origin, &[], &[]).expect_err("no file");
    assert!(
        gone.to_string().contains("path.trace: cannot read"),
        "{gone}"
    );
}

#[test]
fn noise_differs_from_trial_to_trial_and_keeps_the_mean() {
    let text = "sample = \"1 s\"\n[path]\nrate = \"12 Mbps\"\nrtt = \"50 ms\"\nnoise = { rate_sd = \"2 Mbps\", delay_sd = \"1 ms\" }\n[[flow]]\nname = \"main\"\ncontroller = \"cubic\"\ndownload = \"15 MB\"\n";
    let scenario = scenario(text);
    let capacity = |seed| {
        let series = run_trial(&scenario, seed, false).0.series;
        series.expect("recorded").capacity[0].clone()
    };
    let (first, second) = (capacity(1), capacity(2));
    assert_ne!(first[..5], second[..5]);
    // 1000 draws of 2 Mbps: the mean of a second is off by 0.063 Mbps, 0.5 %.
    for bytes in &first {
        assert!(
            (0.98..1.02).contains(&(*bytes as f64 / 1_500_000.0)),
            "{bytes}"
        );
    }
}

#[test]
fn queues_traces_and_noise_that_make_no_sense_are_refused() {
    let refusals = [
        "rate = \"1 Mbps\"\nqueue = { model = \"fifo\" }",
        "rate = \"1 Mbps\"\nqueue = { model = \"codel\", target = \"5\" }",
        "rate = \"1 Mbps\"\nqueue = { model = \"codel\", flows = 2 }",
        "rate = \"1 Mbps\"\nqueue = { model = \"fq-codel\", flows = 0 }",
        "rate = \"1 Mbps\"\nqueue = { model = \"red\", min = \"9 kB\", max = \"9 kB\" }",
        "rate = \"1 Mbps\"\nqueue = \"step\"",
        "rate = \"1 Mbps\"\nqueue = { model = \"step\", threshold = \"20\" }",
        "rate = \"1 Mbps\"\nqueue = { model = \"step\", threshold = \"0.5 bdp\" }",
        "rate = \"1 Mbps\"\nqueue = { model = \"step\", threshold = \"unlimited\" }",
        "rate = \"1 Mbps\"\nqueue = { model = \"step\", threshold = \"1 ms\", ecn = true }",
        "rate = \"1 Mbps\"\nnoise = { every = \"1 us\" }",
        "rate = \"1 Mbps\"\ntrace = \"a.trace\"",
        "trace = \"nowhere.trace\"",
        "trace = \"ms: 3 2\"",
        "reorder = false",
    ]
    .map(|lines| {
        let text = format!("title = \"t\"\n[path]\nrtt = \"40 ms\"\n{lines}\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n");
        let read = Scenario::from_toml(text.as_bytes(), "a.toml", &[], &[]);
        read.expect_err("refused").to_string()
    });
    insta::assert_snapshot!(shortened(&refusals.join("\n")), @r##"
    a.toml:5: `queue = { model = "fifo" }`: unknown value "fifo"; accepted: one of DISCIPLINES
    a.toml:5: `queue = { model = "codel", target = "5" }`: "5" has no unit; accepted: "80 ms", "2.5 s", "250 us", "1 min"
    a.toml:5: `queue = { model = "codel", flows = 2 }`: unknown key "flows"; accepted: one of "target", "interval", "ecn", "ce_threshold"
    a.toml:5: path.queue: flows 0 is out of range; accepted: 1 to 65536
    a.toml:5: path.queue: min "9 kB" is not below max "9 kB"; accepted: min < max
    a.toml:5: `queue = "step"`: "step" requires "threshold": queue = { model = "step", threshold = "65 packets" }
    a.toml:5: `queue = { model = "step", threshold = "20" }`: "20" has no unit; accepted: "80 ms", "250 kB", "100 packets", "1 bdp", "unlimited"
    a.toml:5: path.queue: threshold "0.5 bdp" is not the length of a queue; accepted: "65 packets", "100 kB", "1 ms"
    a.toml:5: path.queue: threshold "unlimited" is not the length of a queue; accepted: "65 packets", "100 kB", "1 ms"
    a.toml:5: `queue = { model = "step", threshold = "1 ms", ecn = true }`: unknown key "ecn"; accepted: "threshold" or "drop"
    a.toml:5: path.noise: the interval is too short; accepted: every = "1 ms", and "10 us" at least
    a.toml:5: path.trace: cannot read "a.trace": No such file or directory (os error 2); accepted: the name of a file with a time in milliseconds on each line
    a.toml:4: path.trace: cannot read "nowhere.trace": No such file or directory (os error 2); accepted: the name of a file with a time in milliseconds on each line
    a.toml:4: path.trace: 2 comes after 3; accepted: one whole number of milliseconds a line, from 0 to 1000000000000, none less than the one before, the last one above 0
    a.toml:2: path.rate: is missing; accepted: rate = "20 Mbps", or trace = "FILE"
    "##);
}
