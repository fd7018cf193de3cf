//! The floor: no flow can be faster than its path.

use crate::lists::controllers;
use audited::run_trial;
use proptest::prelude::*;
use thalweg_control::Purpose;
use thalweg_sim::Scenario;

mod any_variant;
mod audited;

fn scenario(path: &str, flow: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\noverhead = \"0 B\"\n[path]\n{path}\n[[flow]]\nname = \"main\"\n{flow}\n"
    );
    any_variant::from_toml(text.as_bytes(), "floor.toml", &[], &[])
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn floor_ms(path: &str, flow: &str) -> f64 {
    scenario(path, flow).floor().unwrap().as_secs_f64() * 1e3
}

fn near(ours: f64, by_hand: f64) {
    assert!((ours - by_hand).abs() < 0.001, "{ours} against {by_hand}");
}

#[test]
fn the_floor_of_a_constant_path_is_handshake_request_transmission_and_delay() {
    // 10 MB in packets of 1406 bytes of data: 10^7 / 1406 = 7113 (rounded up), each with 34 bytes of
    // headers: 10 241 842 bytes at 2.5 MB/s are 4096.737 ms. Handshake 80, request 40, last delay 40.
    let floor = floor_ms(
        "rate = \"20 Mbps\"\nrtt = \"80 ms\"",
        "controller = \"c4\"\ndownload = \"10 MB\"",
    );
    near(floor, 80.0 + 40.0 + 10_241_842.0 / 2500.0 + 40.0);
}

#[test]
fn an_upload_needs_no_request_and_zero_rtt_no_handshake() {
    let path = "rate = \"8 Mbps\"\nrtt = \"100 ms\"";
    // 1406 bytes are one packet of 1440: 1.44 ms at 1 MB/s. Handshake 100, last delay 50.
    near(
        floor_ms(path, "controller = \"reno\"\nupload = \"1406 B\""),
        151.44,
    );
    // 0-RTT: request 50, last delay 50.
    near(
        floor_ms(
            path,
            "controller = \"reno\"\ndownload = \"1406 B\"\nzero_rtt = true",
        ),
        101.44,
    );
}

#[test]
fn the_floor_follows_the_capacity_through_a_suspension() {
    // 1 MB/s until 1 s, nothing until 3 s, then 2 MB/s; 100 ms round trip, start at 0.5 s. The first byte
    // can leave at 0.5 + 0.1 + 0.05 = 0.65 s. 1 406 000 bytes are 1000 packets, 1.44 MB: 0.35 MB leave
    // until 1 s, 1.09 MB take 0.545 s from 3 s on, and the last delay is 50 ms: 3.595 s.
    let floor = floor_ms(
        "rate = \"8 Mbps\"\nrtt = \"100 ms\"\n[[path.change]]\nat = \"1 s\"\nrate = \"0 bps\"\n[[path.change]]\nat = \"3 s\"\nrate = \"16 Mbps\"",
        "controller = \"c4\"\ndownload = \"1406 kB\"\nstart = \"500 ms\"",
    );
    near(floor, 3595.0);
}

#[test]
fn noise_is_taken_at_its_best() {
    // 1406 bytes are one packet of 1440. At 8 Mbps and three deviations of 1 Mbps 8 * 1440 / 11 us; each way
    // takes 50 ms less three deviations of 2 ms: handshake 88, last delay 44.
    let noise = "noise = { rate_sd = \"1 Mbps\", delay_sd = \"2 ms\", every = \"1 ms\" }";
    let floor = floor_ms(
        &format!("rate = \"8 Mbps\"\nrtt = \"100 ms\"\n{noise}"),
        "controller = \"reno\"\nupload = \"1406 B\"",
    );
    near(floor, 88.0 + 8.0 * 1.440 / 11.0 + 44.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_trial_beats_its_floor(
        rate in 200..50_000u64,
        rtt in 1..300u64,
        kilobytes in 1..400u64,
        steps in proptest::collection::vec((50..3000u64, prop_oneof![Just(0u64), 200..50_000u64], 1..300u64), 0..4),
        last in 500..20_000u64,
        controller in proptest::sample::select([&controllers(&[Purpose::Internet, Purpose::Test])[..], &["c4:variant=v1"]].concat()),
        upload in any::<bool>(),
        zero_rtt in any::<bool>(),
        streams in 1..5u32,
        seed in any::<u64>(),
    ) {
        let mut path = format!("rate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\nbuffer = \"100 ms\"\n");
        let mut at = 0;
        for (after, rate, rtt) in steps.into_iter().chain([(500, last, 20)]) {
            at += after;
            path += &format!("[[path.change]]\nat = \"{at} ms\"\nrate = \"{rate} kbps\"\nrtt = \"{rtt} ms\"\n");
        }
        let load = if upload { "upload" } else { "download" };
        let flow = format!("controller = \"{controller}\"\n{load} = \"{kilobytes} kB\"\nzero_rtt = {zero_rtt}\nstreams = {streams}");
        let scenario = scenario(&path, &flow);
        let (outcome, _) = run_trial(&scenario, seed, false);
        let took = outcome.flows[0].completion;
        prop_assert!(took.is_some(), "not finished after {}", outcome.end);
        let floor = scenario.floor().unwrap();
        prop_assert!(took.unwrap() >= floor, "{} beats {floor}", took.unwrap());
    }
}

#[test]
fn noise_on_a_trace_leaves_delays_to_the_floor() {
    // Three opportunities in 300 ms are 120 kbps; noise of 5 Mbps carries 100 kB long before they would.
    let text = r#"
        title = "Noise on a trace"
        [path]
        trace = "ms: 100 200 300"
        rtt = "40 ms"
        buffer = "100 kB"
        noise = { rate_sd = "5 Mbps", every = "10 ms" }
        [[flow]]
        name = "main"
        controller = "cubic"
        download = "100 kB"
    "#;
    let scenario = Scenario::from_toml(text.as_bytes(), "noise.toml", &[], &[]).unwrap();
    let seconds = run_trial(&scenario, 1, false).0.flows[0]
        .completion
        .unwrap()
        .as_secs_f64();
    // The trace alone needs 100 kB / 15 kB/s = 6.7 s; two round trips are the least.
    assert!((0.08..6.7).contains(&seconds), "{seconds} s");
}
