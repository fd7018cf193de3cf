//! What a call sends beyond its media to learn the capacity of its path.

use super::run_trial;
use thalweg_sim::{FlowOutcome, Scenario};
use thalweg_units::Bytes;

/// A call of 1 Mbps by datagrams over a path with these keys, for 20 s.
fn call(controller: &str, path: &str, keys: &str) -> Scenario {
    call_of(controller, path, keys, "")
}

/// The same, with these keys of its stream.
fn call_of(controller: &str, path: &str, keys: &str, stream: &str) -> Scenario {
    let text = format!(
        "title = \"probing\"\noverhead = \"0 B\"\ntime_limit = \"40 s\"\n[path]\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n{path}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\n{keys}\n\
         [[flow.media]]\nname = \"video\"\ncarriage = \"datagrams\"\nper_second = 30\nduration = \"20 s\"\n\
         rate = {{ least = \"1 Mbps\", most = \"1 Mbps\", variation = \"0 %\" }}\n{stream}\n"
    );
    Scenario::from_toml(text.as_bytes(), "probing.toml", &[], &[]).expect("a right scenario")
}

fn played(scenario: &Scenario) -> FlowOutcome {
    run_trial(scenario, 1, false).0.flows.remove(0)
}

#[test]
fn probes_are_all_of_the_budget_and_not_more_while_the_target_is_far() {
    // 600 frames of 4167 bytes.
    let media = 600.0 * 4_167.0;
    for by in ["padding", "redundancy"] {
        for budget in [1.0, 5.0, 20.0, 50.0, 80.0] {
            let probe = format!(
                "probe = {{ target = \"40 Mbps\", budget = \"{budget} %\", by = \"{by}\" }}"
            );
            let flow = played(&call("cubic", "rate = \"50 Mbps\"", &probe));
            let probed = flow.probe_bytes.expect("it probes").as_u64() as f64;
            let share = probed / (probed + media);
            assert!(share <= budget / 100.0, "{by}, {budget} %: {share}");
            // A packet of 1150 bytes may be missing at the end.
            let least = budget / 100.0 - 1_200.0 / media;
            assert!(share >= least, "{by}, {budget} %: {share}");
            assert_eq!(
                (flow.media[0].undelivered, flow.media[0].late),
                (0, 0),
                "{by}"
            );
        }
    }
}

#[test]
fn media_and_probes_together_are_as_fast_as_the_target() {
    for (kbps, expected) in [
        (500, 0.0),
        (1_500, 500.0),
        (2_000, 1_000.0),
        (4_000, 3_000.0),
    ] {
        let probe = format!("probe = {{ target = \"{kbps} kbps\", budget = \"90 %\" }}");
        let flow = played(&call("cubic", "rate = \"50 Mbps\"", &probe));
        let probed = flow.probe_bytes.expect("it probes").as_u64() as f64 * 8.0 / 20_000.0;
        // Over 20 s; what media does not fill of the last interval is not filled.
        assert!(
            (probed - expected).abs() <= 0.02 * expected + 10.0,
            "{kbps}: {probed} kbps"
        );
    }
}

#[test]
fn what_is_sent_again_is_a_part_of_the_target() {
    let path = "rate = \"50 Mbps\"\nloss = \"20 %\"";
    let probe = "probe = { target = \"2 Mbps\", budget = \"90 %\" }";
    let stream = "repair = { retransmit = true }";
    let flow = played(&call_of("cbr:rate=20Mbps", path, probe, stream));
    let kbps = |bytes: Bytes| bytes.as_u64() as f64 * 8.0 / 20_000.0;
    let repaired = kbps(flow.media[0].repair_bytes.expect("it repairs"));
    // A fifth of 1 Mbps, and a fifth of that, and so on, within the deadline of 250 ms.
    assert!((200.0..300.0).contains(&repaired), "{repaired} kbps");
    // 1 Mbps next to the media; the call waits a second for its last frame, and probes on at 2 Mbps: 100 kbps over 20 s.
    let all = repaired + kbps(flow.probe_bytes.expect("it probes"));
    assert!((950.0..1_120.0).contains(&all), "{all} kbps");
}

#[test]
fn probes_of_redundancy_can_be_asked_what_they_repaired() {
    let probe = "probe = { target = \"3 Mbps\", budget = \"60 %\", by = \"redundancy\" }";
    let pass =
        "[[pass]]\nflow = \"main\"\nstream = \"video\"\nmetric = \"repaired\"\nat_least = \"20\"";
    let path = "rate = \"50 Mbps\"\nloss = \"2 %\"";
    let flow = played(&call_of("cbr:rate=20Mbps", path, probe, pass));
    assert!(
        flow.media[0]
            .repaired
            .is_some_and(|repaired| repaired >= 20)
    );
}

#[test]
fn padding_is_no_data_of_the_call_and_changes_no_frame_on_a_wide_path() {
    let path = "rate = \"50 Mbps\"";
    let bare = played(&call("cbr:rate=20Mbps", path, ""));
    assert_eq!(bare.probe_bytes, None);
    for by in ["padding", "redundancy"] {
        let probe = format!("probe = {{ target = \"4 Mbps\", budget = \"80 %\", by = \"{by}\" }}");
        let flow = played(&call("cbr:rate=20Mbps", path, &probe));
        assert!(flow.probe_bytes.unwrap().as_u64() > 7_000_000, "{by}"); // 3 Mbps for 20 s are 7.5 MB
        assert_eq!(flow.bytes_delivered, bare.bytes_delivered, "{by}");
        let (with, without) = (&flow.media[0], &bare.media[0]);
        // A probe may be before a frame: 1184 bytes at 20 Mbps are 0.5 ms.
        let later = with.max_delay.unwrap() - without.max_delay.unwrap();
        assert!(later.as_micros() <= 500, "{by}: {later}");
    }
}

#[test]
fn with_a_target_above_the_capacity_congestion_control_still_holds_the_rate() {
    // NADA aims at a delay in proportion to its largest rate over the present one (RFC 8698 section 4.3, equation 6),
    // which is 20 Mbps with this target, and the buffer of 100 ms is less than that. GCC gives way to a loss above 10 %
    // (draft-ietf-rmcat-gcc-02 section 6).
    for (controller, most) in [
        ("cubic", 0.02),
        ("bbr", 0.02),
        ("c4", 0.02),
        ("nada", 0.12),
        ("gcc", 0.1),
        ("screamv2", 0.02),
    ] {
        let probe = "probe = { target = \"20 Mbps\", budget = \"70 %\" }";
        let flow = played(&call(controller, "rate = \"3 Mbps\"", probe));
        let loss = flow.packets_lost as f64 / flow.packets_sent as f64;
        assert!(loss < most, "{controller}: {loss}");
        // What is left of 3 Mbps, and of what is lost.
        let probed = flow.probe_bytes.unwrap().as_u64() * 8 / 20;
        assert!(
            (10_000..2_200_000).contains(&probed),
            "{controller}: {probed} bps"
        );
    }
}

#[test]
fn redundancy_repairs_what_padding_does_not() {
    let undelivered = |by: &str| {
        let probe = format!("probe = {{ target = \"3 Mbps\", budget = \"60 %\", by = \"{by}\" }}");
        let path = "rate = \"50 Mbps\"\nloss = \"2 %\"";
        let flow = played(&call("cbr:rate=20Mbps", path, &probe));
        (flow.media[0].undelivered, flow.media[0].repaired)
    };
    // Frames of four packets: 1 - 0.98^4 = 7.8 % of 600 are lost, 46; four standard deviations are 26.
    let (padded, of_padding) = undelivered("padding");
    assert!((20..73).contains(&padded), "{padded}");
    assert_eq!(of_padding, None);
    let (left, repaired) = undelivered("redundancy");
    assert!(left <= 3, "{left}");
    assert!((20..80).contains(&repaired.unwrap()), "{repaired:?}");
}
