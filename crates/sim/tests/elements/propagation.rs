//! Propagation that differs by direction, as seen by flows, floors, buffers and bounds.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario};
use thalweg_units::Duration;

fn scenario(path: &str, flow: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\ntime_limit = \"20 s\"\n[noise]\nstart = \"0 s\"\nwakeup = \"0 s\"\n[path]\nrate = \"200 Mbps\"\n{path}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"cubic\"\n{flow}\n[[pass]]\nflow = \"main\"\nmetric = \"rtt\"\nat_most = \"3 rtt\"\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]);
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn outcome(path: &str, flow: &str) -> Outcome {
    run_trial(&scenario(path, flow), 1, false).0
}

const DOWN: &str = "download = \"1 MB\"";
const UP: &str = "upload = \"1 MB\"";

#[test]
fn a_delay_of_one_direction_is_in_the_rtt_the_floor_and_the_bounds() {
    // 0.5 ms down and 250 ms up.
    let path = "rtt = \"1 ms\"\nup = { delay = \"250 ms\" }";
    let there_and_back = Duration::from_micros(250_500);
    let read = scenario(path, DOWN);
    assert_eq!(read.criteria[0].bound.amount().as_f64(), 0.7515);
    // Handshake, request and the last byte: 250.5 + 250 + 0.5 ms, and 8 Mbit and more at 200 Mbps in 40 to 42 ms.
    let floor = read.floor().unwrap().as_secs_f64();
    assert!((0.541..0.543).contains(&floor), "{floor}");
    // An upload has one RTT before its first byte, and 250 ms behind its last.
    let floor = scenario(path, UP).floor().unwrap().as_secs_f64();
    assert!((0.5405..0.5425).contains(&floor), "{floor}");
    for flow in [DOWN, UP] {
        let mean = outcome(path, flow).flows[0].mean_rtt.unwrap();
        assert!(mean >= there_and_back, "{mean}");
        assert!(mean < there_and_back + Duration::from_millis(40), "{mean}");
    }
}

#[test]
fn half_of_the_rtt_said_twice_is_the_same_trial() {
    for flow in [DOWN, UP] {
        let once = outcome("rtt = \"40 ms\"", flow);
        assert_eq!(
            outcome("rtt = \"40 ms\"\nup = { delay = \"20 ms\" }", flow),
            once
        );
        assert_ne!(
            outcome("rtt = \"40 ms\"\nup = { delay = \"20001 us\" }", flow),
            once
        );
    }
}

#[test]
fn a_bdp_is_of_both_directions() {
    // 10 + 30 ms at 200 Mbps are 1 MB.
    let by = |buffer: &str| {
        let path = format!("rtt = \"20 ms\"\nbuffer = \"{buffer}\"\nup = {{ delay = \"30 ms\" }}");
        scenario(&path, DOWN).resolved()
    };
    assert_eq!(by("1 bdp"), by("1 MB"));
    let changed = |buffer: &str| {
        let path = format!(
            "rtt = \"2 ms\"\n[[path.change]]\nat = \"1 s\"\nrtt = \"20 ms\"\nup_delay = \"30 ms\"\nbuffer = \"{buffer}\""
        );
        scenario(&path, DOWN).resolved()
    };
    assert_eq!(changed("1 bdp"), changed("1 MB"));
}

#[test]
fn a_change_of_the_rtt_is_of_both_directions_and_a_delay_up_of_one() {
    let of = |start: &str, change: &str| {
        let path = format!("{start}\n[[path.change]]\nat = \"30 ms\"\n{change}");
        outcome(&path, DOWN)
    };
    let [apart, even] = [
        "rtt = \"20 ms\"\nup = { delay = \"30 ms\" }",
        "rtt = \"20 ms\"",
    ];
    // The delay of a direction of its own ends with the next RTT, and stays without one.
    assert_eq!(
        of(apart, "rtt = \"40 ms\""),
        of(apart, "rtt = \"40 ms\"\nup_delay = \"20 ms\"")
    );
    assert_eq!(of(apart, "rate = \"200 Mbps\""), outcome(apart, DOWN));
    // From half of 20 ms to 30 ms, at once and later.
    assert_eq!(
        of(even, "up_delay = \"30 ms\""),
        of(even, "rtt = \"20 ms\"\nup_delay = \"30 ms\"")
    );
    assert_ne!(of(even, "up_delay = \"30 ms\""), outcome(even, DOWN));
}

#[test]
fn delay_of_one_direction_is_as_good_as_jitter_of_one_length() {
    let jitter = "rtt = \"20 ms\"\nbuffer = \"1 MB\"\nup = { jitter = { model = \"uniform\", min = \"30 ms\", max = \"30 ms\" } }";
    let delay = "rtt = \"20 ms\"\nbuffer = \"1 MB\"\nup = { delay = \"40 ms\" }";
    for flow in [DOWN, UP] {
        let (a, b) = (outcome(jitter, flow), outcome(delay, flow));
        assert_eq!(a.trace_hash, b.trace_hash);
        assert_eq!(a.flows[0].completion, b.flows[0].completion);
    }
}
