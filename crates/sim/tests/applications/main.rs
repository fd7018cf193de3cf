//! Flows that something else than the network limits: applications that write at a rate, in chunks or not at all for a
//! while, and receivers with a small window.

#[path = "../audited/mod.rs"]
mod audited;
mod refusals;
mod rounds;

use thalweg_sim::{FlowOutcome, Outcome, Scenario};

const STACKS: [&str; 2] = ["model", "quic"];

/// A download on 20 Mbps and 40 ms with these keys, under the auditor.
fn download(keys: &str) -> Outcome {
    let text = format!(
        "title = \"applications\"\nsample = \"100 ms\"\ntime_limit = \"60 s\"\nnoise = {{ start = \"0 s\" }}\n\
         [path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 ms\"\n[[flow]]\nname = \"main\"\n{keys}\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "applications.toml", &[], &[]);
    audited::run_trial(&scenario.expect("a right scenario"), 1, false).0
}

fn completion(flow: &FlowOutcome) -> f64 {
    flow.completion.expect("complete").as_secs_f64()
}

/// What the flow sends in the bins of 100 ms of these seconds.
fn sent(outcome: &Outcome, from: f64, until: f64) -> u64 {
    let series = outcome.series.as_ref().expect("series");
    let bins = (from * 10.0) as usize..(until * 10.0) as usize;
    let all = series.flows[0].sent.iter().enumerate();
    all.filter(|(bin, _)| bins.contains(bin))
        .map(|(_, bytes)| *bytes)
        .sum()
}

#[test]
fn a_server_that_writes_at_a_rate_takes_as_long_as_that_takes() {
    for stack in STACKS {
        for controller in ["cubic", "bbr", "c4"] {
            let keys = format!(
                "controller = \"{controller}\"\nstack = \"{stack}\"\ndownload = \"5 MB\"\napp_rate = \"2 Mbps\""
            );
            let outcome = download(&keys);
            // The request arrives after a round trip and a half, 5 MB take 20 s, and the last packet half a round trip.
            let end = completion(&outcome.flows[0]);
            assert!((20.08..20.12).contains(&end), "{stack} {controller}: {end}");
            // Full packets of 1406 B: 5 000 000 / 1406 = 3557. The real stack carries a little less in each.
            let packets = outcome.flows[0].packets_sent;
            assert!((3557..3680).contains(&packets), "{stack}: {packets}");
            // 250 kB of data in a second, and headers of up to 96 of 1500 B.
            let second = sent(&outcome, 10.0, 11.0);
            assert!((255_000..275_000).contains(&second), "{second}");
        }
    }
}

#[test]
fn in_a_pause_nothing_is_sent_and_after_it_the_rest() {
    let keys = |more: &str| format!("controller = \"cubic\"\ndownload = \"20 MB\"\n{more}");
    let through = download(&keys(""));
    let paused = download(&keys(
        "pauses = [[\"2 s\", \"8 s\"], [\"9 s\", \"9.04 s\"]]",
    ));
    // But for the ends of the bins, and what was lost before.
    assert_eq!(sent(&paused, 2.2, 7.9), 0);
    assert!(sent(&paused, 8.0, 9.0) > 1_500_000);
    let later = completion(&paused.flows[0]) - completion(&through.flows[0]);
    // 6.04 s, less the 0.1 s in which the queue is sent meanwhile, and the start after a pause.
    assert!((5.8..6.4).contains(&later), "{later}");
    assert_eq!(
        paused.flows[0].bytes_delivered,
        through.flows[0].bytes_delivered
    );
}

#[test]
fn a_rate_stands_still_in_a_pause() {
    for stack in STACKS {
        let keys = format!(
            "controller = \"bbr\"\nstack = \"{stack}\"\ndownload = \"1 MB\"\napp_rate = \"2 Mbps\"\npauses = [[\"1 s\", \"3 s\"], [\"3.5 s\", \"3.6 s\"]]"
        );
        let outcome = download(&keys);
        // 4 s of writing, 2.1 s of pauses, and two round trips.
        let end = completion(&outcome.flows[0]);
        assert!((6.18..6.22).contains(&end), "{stack}: {end}");
        assert_eq!(sent(&outcome, 1.1, 3.0), 0);
    }
}

#[test]
fn a_client_requests_a_chunk_when_it_has_the_one_before_and_has_thought() {
    for stack in STACKS {
        let keys = |more: &str| {
            format!("controller = \"cubic\"\nstack = \"{stack}\"\ndownload = \"5 MB\"\n{more}")
        };
        let at_once = completion(&download(&keys("")).flows[0]);
        let chunks = completion(&download(&keys("chunk = \"1 MB\"")).flows[0]);
        let thinking = download(&keys("chunk = \"1 MB\"\nthink_time = \"2 s\""));
        let end = completion(&thinking.flows[0]);
        // Four more requests, a round trip each, and what a controller loses when it has to start again.
        let more = chunks - at_once;
        assert!((0.1..0.6).contains(&more), "{stack}: {more}");
        // Four times of 2 s, in which queues empty, so that less is lost than without.
        let thought = end - chunks;
        assert!((7.5..8.5).contains(&thought), "{stack}: {thought}");
        // A chunk of 1 MB takes less than 0.7 s at 20 Mbps, so the second of 3 s is silent.
        assert!(sent(&thinking, 1.0, 2.4) < 1000, "{stack}");
    }
}

#[test]
fn a_receiver_with_a_fixed_window_gets_that_window_in_each_round_trip() {
    for stack in STACKS {
        for (window, rtt_ms) in [(64_000, 40.0), (32_000, 40.0)] {
            let keys = format!(
                "controller = \"cubic\"\nstack = \"{stack}\"\ndownload = \"10 MB\"\nreceive_window = \"{window} B\""
            );
            let flow = &download(&keys).flows[0];
            let rate = flow.mean_rate.as_bits_per_sec() as f64;
            let expected = f64::from(window) * 8.0 / (rtt_ms / 1e3);
            // The last part of the window is not announced yet when the sender waits for it.
            let ratio = rate / expected;
            assert!((0.85..=1.0).contains(&ratio), "{stack} {window}: {ratio}");
            assert_eq!(flow.packets_lost, 0);
        }
    }
}

#[test]
fn a_window_that_holds_more_than_the_path_limits_nothing() {
    for stack in STACKS {
        let keys = format!("controller = \"cubic\"\nstack = \"{stack}\"\ndownload = \"5 MB\"\n");
        let wide = keys.clone() + "receive_window = \"4 MB\"";
        let (free, wide) = (download(&keys), download(&wide));
        let difference = completion(&free.flows[0]) - completion(&wide.flows[0]);
        assert!(difference.abs() < 0.02, "{stack}: {difference}");
    }
}
