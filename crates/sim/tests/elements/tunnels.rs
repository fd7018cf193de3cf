//! Flows of a tunnel under queues that tell flows apart.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

const FAIR: &str = "queue = \"fq-codel\"";

fn read(text: &str) -> Result<Scenario, String> {
    let read = Scenario::from_toml(text.as_bytes(), "tunnels.toml", &[], &[]);
    read.map_err(|error| error.to_string())
}

/// Long CUBIC flows, a tunnel or none of each, on 20 Mbps and 40 ms for 30 s, under the auditor.
fn outcome(path: &str, tunnels: &[&str]) -> Outcome {
    let flows = tunnels.iter().enumerate().map(|(index, tunnel)| {
        let tunnel = match *tunnel {
            "" => String::new(),
            tunnel => format!("tunnel = \"{tunnel}\"\n"),
        };
        format!(
            "[[flow]]\nname = \"flow-{index}\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n{tunnel}"
        )
    });
    let text = format!(
        "title = \"t\"\ntime_limit = \"30 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n{path}\n{}",
        flows.collect::<String>()
    );
    run_trial(&read(&text).expect("a right scenario"), 1, false).0
}

/// The part of each flow in all bytes that the client has.
fn shares(path: &str, tunnels: &[&str]) -> Vec<f64> {
    let outcome = outcome(path, tunnels);
    let bytes: Vec<f64> = (outcome.flows.iter())
        .map(|flow| flow.bytes_delivered.as_u64() as f64)
        .collect();
    let sum: f64 = bytes.iter().sum();
    bytes.iter().map(|bytes| bytes / sum).collect()
}

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 0.03
}

/// RFC 8290 section 6.2: encapsulated flows appear as one.
#[test]
fn a_tunnel_has_one_share_of_fair_queueing_whatever_is_in_it() {
    // Three queues of one flow each: a third. A tunnel of two next to one: a half for the one.
    let apart = shares(FAIR, &["", "", ""]);
    assert!(
        apart.iter().all(|share| is_near(*share, 1.0 / 3.0)),
        "{apart:?}"
    );
    let bundled = shares(FAIR, &["vpn", "vpn", ""]);
    assert!(is_near(bundled[2], 0.5), "{bundled:?}");
    assert!(is_near(bundled[0] + bundled[1], 0.5), "{bundled:?}");
    // Two tunnels of three flows and of one: a half each.
    let two = shares(FAIR, &["a", "b", "a", "a"]);
    assert!(is_near(two[1], 0.5), "{two:?}");
}

#[test]
fn a_discipline_that_a_change_brings_sees_tunnels_too() {
    let changed = "[[path.change]]\nat = \"1 s\"\nqueue = \"fq-codel\"";
    let bundled = shares(changed, &["vpn", "vpn", ""]);
    assert!((bundled[2] - 0.5).abs() < 0.05, "{bundled:?}");
    let apart = shares(changed, &["", "", ""]);
    assert!((apart[2] - 1.0 / 3.0).abs() < 0.05, "{apart:?}");
}

#[test]
fn requests_in_a_tunnel_are_one_flow_with_all_their_connections() {
    let text = |tunnel: &str| {
        format!(
            "title = \"t\"\ntime_limit = \"20 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n{FAIR}\n\
             [[flow]]\nname = \"bulk\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n\
             [[flow]]\nname = \"pages\"\ncontroller = \"cubic\"\nbackground = true\n{tunnel}\
             requests = {{ count = 1, mean_gap = \"1 s\", parallel = 6, least = \"20 MB\", most = \"20 MB\" }}\n"
        )
    };
    let bulk = |tunnel: &str| {
        let scenario = read(&text(tunnel)).expect("a right scenario");
        let outcome = run_trial(&scenario, 1, false).0;
        outcome.flows[0].bytes_delivered.as_u64() as f64 * 8.0 / 20.0 / 20e6
    };
    // One queue of seven, and one of two.
    let (apart, bundled) = (bulk(""), bulk("tunnel = \"vpn\"\n"));
    assert!((0.10..0.20).contains(&apart), "{apart}");
    assert!((0.40..0.55).contains(&bundled), "{bundled}");
}

#[test]
fn cross_traffic_in_a_tunnel_takes_the_share_of_its_flows() {
    let rate = |tunnel: &str| {
        let text = format!(
            "title = \"t\"\ntime_limit = \"30 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"2 bdp\"\n{FAIR}\n\
             [[flow]]\nname = \"outside\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n\
             [[flow]]\nname = \"inside\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\ntunnel = \"vpn\"\n\
             [[traffic]]\nname = \"cross\"\nrate = \"5 Mbps\"\n{tunnel}"
        );
        let outcome = run_trial(&read(&text).expect("a right scenario"), 1, false).0;
        [0, 1].map(|flow| outcome.flows[flow].bytes_delivered.as_u64() as f64 * 8.0 / 30.0 / 20e6)
    };
    // A quarter of the link for the traffic, and the rest for both flows; or half of the link for the flow outside and half
    // for the tunnel, a quarter of which goes to the traffic. Headers and starts take some percent.
    let ([outside, inside], [beyond, within]) = (rate(""), rate("tunnel = \"vpn\"\n"));
    assert!(
        (0.33..0.38).contains(&outside) && (0.33..0.38).contains(&inside),
        "{outside} {inside}"
    );
    assert!(
        (0.44..0.51).contains(&beyond) && (0.15..0.27).contains(&within),
        "{beyond} {within}"
    );
}

#[test]
fn a_tunnel_of_one_flow_and_one_before_a_queue_without_flows_change_nothing() {
    let hash = |path: &str, tunnels: &[&str]| outcome(path, tunnels).trace_hash;
    assert_eq!(hash(FAIR, &["", ""]), hash(FAIR, &["a", "b"]));
    assert_ne!(hash(FAIR, &["", ""]), hash(FAIR, &["a", "a"]));
    for path in [
        "",
        "queue = \"codel\"",
        "queue = \"dualpi2\"",
        "queue = { model = \"fq-codel\", flows = 1 }",
    ] {
        assert_eq!(hash(path, &["", ""]), hash(path, &["a", "a"]), "{path}");
    }
    // Names mean nothing.
    assert_eq!(hash(FAIR, &["a", "b", "a"]), hash(FAIR, &["x", "", "x"]));
}

#[test]
fn a_tunnel_without_a_name_is_refused() {
    let traffic = "[[traffic]]\nname = \"cross\"\nrate = \"1 Mbps\"\ntunnel = \"\"";
    let refusals = ["tunnel = \"\"", "tunnel = 7", "tunel = \"vpn\"", traffic].map(|keys| {
        read(&format!(
            "title = \"t\"\n[path]\nrate = \"1 Mbps\"\nrtt = \"100 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ndownload = \"1 MB\"\n{keys}\n"
        ))
        .expect_err("refused")
    });
    insta::assert_snapshot!(refusals.join("\n"), @r##"
    tunnels.toml:9: `tunnel = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    tunnels.toml:9: `tunnel = 7`: 7 is a number; accepted: a text in quotes
    tunnels.toml:9: `tunel = "vpn"`: unknown key "tunel" (did you mean "tunnel"?); accepted: one of "name", "controller", "stack", "host", "start", "route", "tunnel", "background", "download", "upload", "requests", "call", "media", "measure_from", "probe", "streams", "request", "app_rate", "chunk", "think_time", "pauses", "receive_window", "receiver", "sender", "circuit_breaker", "zero_rtt", "seed", "command"
    tunnels.toml:12: `tunnel = ""`: "" is not a name; accepted: a letter of ASCII, then up to 63 letters, digits, "-" and "_", such as "main"
    "##);
}
