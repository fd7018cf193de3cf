//! Test cases of RFC 8867 for the real-time controllers. The RFC has no numbers that they must reach; no published
//! ones were found that could be compared, so that these hold what its "expected behavior" says. Every rate is that
//! of a controller: the UDP payload of video and audio.

use super::{Case, REAL_TIME, mean_kbps, video};

/// Most of the rate of a link that is UDP payload: packets of 1200 bytes carry 28 bytes of headers, packets of audio
/// more.
const PAYLOAD: f64 = 0.98;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// Holds a mean rate between a share of a capacity and all that it has for payload, in kbps.
#[track_caller]
fn assert_uses(what: &str, kbps: f64, least_share: f64, capacity_kbps: f64) {
    let range = least_share * capacity_kbps..PAYLOAD * capacity_kbps;
    assert!(
        range.contains(&kbps),
        "{what}: {kbps} of {capacity_kbps} kbps"
    );
}

/// How even rates are: 1 if all are the same (Jain's index).
fn jain(rates: &[f64]) -> f64 {
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * squares)
}

#[test]
fn one_call_follows_a_capacity_that_changes() {
    // RFC 8867 section 5.1. The rate comes to the capacity within 30 s of the start and 10 s of each change. A least
    // share of 0.75 leaves room for the decrease of GCC to 0.85 of what arrives; at 600 kbps after overflow of the
    // queue, and within 10 to 20 s of 1 Mbps after it, less has been found again: each rises by some 25 kbps a
    // second. GCC, which grows by 8 % a second, comes to its largest rate some ten seconds after there is room for
    // it.
    for (controller, rate) in REAL_TIME {
        for seed in SEEDS {
            let case = Case::on_path(1_000, 100)
                .change(40, 2_500)
                .change(60, 600)
                .change(80, 1_000)
                .call(controller, 0, 99, "");
            let (outcome, trace) = case.run(seed);
            let mean = |span| mean_kbps(&trace, 0, rate, span);
            let what = format!("{controller}, seed {seed}");
            assert_uses(&what, mean((30, 40)), 0.75, 1_000.0);
            let most = mean((50, 60));
            assert!(
                (1_350.0..=1_500.0).contains(&most),
                "{what}: {most}, of 1500"
            );
            assert_uses(&what, mean((70, 80)), 0.65, 600.0);
            assert_uses(&what, mean((90, 99)), 0.65, 1_000.0);
            // The queue that the call makes for itself: on average below the 60 ms that SCReAMv2 aims at.
            let queue = outcome.links[0].mean_queue_delay.as_secs_f64();
            assert!((0.005..0.06).contains(&queue), "{what}: {queue} s");
            // A drop to a quarter of the capacity overflows the queue of 300 ms: the video may stop once or twice, and
            // for no longer than a second and a half.
            let video = video(&outcome, 0);
            assert!(video.freezes <= 2, "{what}: {}", video.freezes);
            assert!(video.frozen.as_secs_f64() < 1.5, "{what}: {}", video.frozen);
        }
    }
}

#[test]
fn three_calls_of_the_same_controller_saturate_the_link_and_share_it() {
    // RFC 8867 section 5.4: "the link is saturated" by the third. GCC leaves more to the first two: it grows by 8 % a
    // second, and stops where it first finds the path full.
    for (controller, rate, least_even, least_used) in [
        ("nada", "r_ref", 0.9, 0.85),
        ("gcc", "target_bitrate", 0.75, 0.8),
        ("screamv2", "target_bitrate", 0.9, 0.8),
    ] {
        for seed in SEEDS {
            let case = Case::on_path(3_500, 120)
                .call(controller, 0, 119, "")
                .call(controller, 20, 99, "")
                .call(controller, 40, 79, "");
            let (outcome, trace) = case.run(seed);
            let rates = [0, 1, 2].map(|flow| mean_kbps(&trace, flow, rate, (90, 119)));
            let what = format!("{controller}, seed {seed}: {rates:?}");
            assert_uses(&what, rates.iter().sum(), least_used, 3_500.0);
            assert!((least_even..=1.0).contains(&jain(&rates)), "{what}");
            assert!(rates.iter().all(|rate| *rate > 250.0), "{what}: starved");
            let queue = outcome.links[0].mean_queue_delay.as_secs_f64();
            assert!((0.002..0.03).contains(&queue), "{what}: {queue} s");
        }
    }
}

#[test]
fn two_calls_of_the_same_controller_share_a_slow_link() {
    for (controller, rate, least_even) in [
        ("nada", "r_ref", 0.98),
        ("gcc", "target_bitrate", 0.75),
        ("screamv2", "target_bitrate", 0.9),
    ] {
        for seed in SEEDS {
            let case = Case::on_path(1_000, 120)
                .call(controller, 0, 119, "")
                .call(controller, 10, 109, "");
            let (_, trace) = case.run(seed);
            let rates = [0, 1].map(|flow| mean_kbps(&trace, flow, rate, (60, 119)));
            let what = format!("{controller}, seed {seed}: {rates:?}");
            assert_uses(&what, rates.iter().sum(), 0.75, 1_000.0);
            assert!((least_even..=1.0).contains(&jain(&rates)), "{what}");
        }
    }
}

#[test]
fn an_outage_takes_the_rate_to_its_least_and_the_call_recovers() {
    // Five seconds: probe timeouts after 0.3, 0.9, 2.1 and 4.5 s or sooner halve 900 kbps to the least rate.
    for (controller, rate) in REAL_TIME {
        let case = Case::on_path(1_000, 80)
            .outage(30, 35)
            .call(controller, 0, 79, "");
        let (outcome, trace) = case.run(1);
        let mean = |span| mean_kbps(&trace, 0, rate, span);
        assert_uses(controller, mean((20, 30)), 0.75, 1_000.0);
        let least = mean((34, 35));
        assert!((149.0..160.0).contains(&least), "{controller}: {least}");
        assert_uses(controller, mean((60, 79)), 0.6, 1_000.0);
        // It is frozen for the outage, and until what waited has come.
        let frozen = video(&outcome, 0).frozen.as_secs_f64();
        assert!((5.0..10.0).contains(&frozen), "{controller}: {frozen}");
    }
}

#[test]
fn a_path_with_room_for_the_largest_rate_is_used_fully_without_a_queue() {
    for (controller, rate) in REAL_TIME {
        let case = Case::on_path(10_000, 70).call(controller, 0, 69, "");
        let (outcome, trace) = case.run(1);
        let mean = mean_kbps(&trace, 0, rate, (50, 69));
        assert!((1_499.0..=1_500.0).contains(&mean), "{controller}: {mean}");
        let queue = outcome.links[0].mean_queue_delay.as_secs_f64();
        assert!(queue < 0.005, "{controller}: {queue}"); // five packets of a millisecond each
        let video = video(&outcome, 0);
        assert_eq!(video.freezes, 0, "{controller}");
        // 50 ms for the request and 50 ms for the frame; its last packet leaves within two thirds of 33 ms.
        let delay = video.p95_delay.unwrap().as_secs_f64();
        assert!((0.1..0.14).contains(&delay), "{controller}: {delay}");
    }
}

#[test]
fn the_rate_of_a_controller_never_leaves_its_range() {
    for (controller, name) in REAL_TIME {
        let mut case = Case::on_path(600, 40)
            .change(10, 2_000)
            .change(20, 100)
            .outage(30, 33)
            .call(controller, 0, 39, "");
        let range = "least = \"200 kbps\", most = \"800 kbps\"";
        let usual = "least = \"150 kbps\", most = \"1.5 Mbps\"";
        case.text = case.text.replace(usual, range);
        let (_, trace) = case.run(1);
        let rows = trace
            .senders
            .variables
            .iter()
            .filter(|row| row.name == name);
        let values: Vec<f64> = rows.map(|row| row.value).collect();
        assert!(values.iter().all(|rate| (200e3..=800e3).contains(rate)));
        assert!(
            values.contains(&200e3) && values.contains(&800e3),
            "{controller}"
        );
    }
}

#[test]
fn where_no_arrivals_are_reported_acknowledgements_stand_for_them() {
    // The QUIC stack reports none. What its ACKs wait, up to 25 ms, counts as a queue, which NADA and SCReAMv2 bear;
    // GCC takes each change of it for one of the queue, and stays at a fifth of the link.
    for ((controller, rate), least) in REAL_TIME.into_iter().zip([0.4, 0.15, 0.4]) {
        let mut case = Case::on_path(1_000, 40).call(controller, 0, 39, "");
        case.text = case.text.replace(
            "background = true\n",
            "background = true\nstack = \"quic\"\n",
        );
        let (outcome, trace) = case.run(1);
        let mean = mean_kbps(&trace, 0, rate, (30, 39));
        assert_uses(controller, mean, least, 1_000.0);
        let queue = outcome.links[0].mean_queue_delay.as_secs_f64();
        assert!(queue < 0.06, "{controller}: {queue}");
    }
}
