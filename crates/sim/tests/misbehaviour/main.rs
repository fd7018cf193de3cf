//! Ends that are not honest: what they get, and what an endpoint and a controller withstand.

#[path = "../audited/mod.rs"]
mod audited;
mod refusals;

use crate::lists::controllers;
use thalweg_control::Purpose;
use thalweg_sim::{Outcome, Scenario};

const CONTROLLERS: [&str; 5] = ["reno", "cubic", "bbr", "c4", "prague"];
const OPTIMISTIC: &str = "receiver = \"optimistic-acks\"";

/// A flow with these keys and an honest CUBIC for 20 s on 20 Mbps and 40 ms, under the auditor.
fn against_cubic(controller: &str, keys: &str, head: &str) -> Outcome {
    let text = format!(
        "title = \"misbehaviour\"\ntime_limit = \"20 s\"\n{head}[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n\
         [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n{keys}\n\
         [[flow]]\nname = \"honest\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "misbehaviour.toml", &[], &[]);
    audited::run_trial(&scenario.expect("a right scenario"), 1, false).0
}

fn share(outcome: &Outcome) -> f64 {
    outcome.flows[0].share.expect("both have sent")
}

const SKIPS: &str = "[transport]\nskip_packet_numbers = true\n";

/// One flow alone, under the auditor.
fn alone(keys: &str, path: &str, head: &str) -> Outcome {
    let text = format!(
        "title = \"misbehaviour\"\n{head}[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\n{path}\n[[flow]]\nname = \"main\"\n{keys}\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "misbehaviour.toml", &[], &[]);
    audited::run_trial(&scenario.expect("a right scenario"), 1, false).0
}

#[test]
fn optimistic_acks_hide_all_losses_and_take_the_path_of_a_sender_that_believes_them() {
    let outcome = against_cubic("cubic", OPTIMISTIC, "");
    let flow = &outcome.flows[0];
    assert!(flow.packets_dropped > 100_000 && flow.packets_lost == 0);
    assert!(share(&outcome) > 0.95, "{}", share(&outcome));
    // What has been acknowledged is not repeated: the stream never gets past the first gap.
    assert_eq!(flow.completion, None);
}

#[test]
fn a_sender_that_leaves_out_numbers_finds_optimistic_acks_within_64_packets_and_closes() {
    for controller in CONTROLLERS {
        let outcome = against_cubic(controller, OPTIMISTIC, SKIPS);
        let flow = &outcome.flows[0];
        let closed = flow.closed.expect("closed").as_secs_f64();
        // Three round trips, and one for the close.
        assert!((0.1..0.3).contains(&closed), "{controller}: {closed}");
        assert!(
            flow.packets_sent < 64 + 50,
            "{controller}: {}",
            flow.packets_sent
        );
        assert_eq!(flow.completion, None);
        assert!(share(&outcome) < 0.01, "{controller}");
    }
}

#[test]
fn an_ack_of_what_has_not_been_sent_closes_without_that_too() {
    // RFC 9000 section 13.1. The server pauses, the claims go on: half of what came in half a round trip is beyond the last packet.
    let keys = format!(
        "controller = \"cubic\"\ndownload = \"1 GB\"\npauses = [[\"200 ms\", \"2 s\"]]\n{OPTIMISTIC}"
    );
    let outcome = alone(&keys, "buffer = \"1 MB\"", "time_limit = \"5 s\"\n");
    let closed = outcome.flows[0].closed.expect("closed").as_secs_f64();
    assert!((0.2..0.7).contains(&closed), "{closed}");
}

#[test]
fn numbers_that_are_left_out_cost_an_honest_flow_nothing_that_is_seen() {
    for controller in CONTROLLERS {
        let keys = format!("controller = \"{controller}\"\ndownload = \"20 MB\"");
        let [plain, skipping] = ["", SKIPS].map(|head| alone(&keys, "buffer = \"1 bdp\"", head));
        let time = |outcome: &Outcome| outcome.flows[0].completion.expect("complete").as_secs_f64();
        let ratio = time(&skipping) / time(&plain);
        assert!((0.97..1.03).contains(&ratio), "{controller}: {ratio}");
        assert_eq!(skipping.flows[0].spurious_losses, 0, "{controller}");
    }
}

#[test]
fn ack_division_gives_what_an_ack_of_each_packet_gives() {
    for controller in CONTROLLERS {
        let keys =
            |more: &str| format!("controller = \"{controller}\"\ndownload = \"20 MB\"\n{more}");
        let each = alone(
            &keys(""),
            "buffer = \"1 bdp\"",
            "[transport]\nack_every = 1\n",
        );
        let divided = alone(
            &keys("receiver = \"ack-division\""),
            "buffer = \"1 bdp\"",
            "",
        );
        let time = |outcome: &Outcome| outcome.flows[0].completion.expect("complete").as_secs_f64();
        let ratio = time(&divided) / time(&each);
        assert!((0.99..1.01).contains(&ratio), "{controller}: {ratio}");
        let acks = |outcome: &Outcome| outcome.links[1].delivered_packets as f64;
        let more = acks(&divided) / acks(&each);
        assert!((7.0..9.0).contains(&more), "{controller}: {more}");
    }
}

#[test]
fn a_receiver_that_hides_marks_leaves_a_scalable_sender_with_losses_alone() {
    let queue =
        "buffer = \"400 packets\"\nqueue = { model = \"step\", threshold = \"20 packets\" }";
    for controller in ["dctcp", "prague"] {
        let keys =
            |more: &str| format!("controller = \"{controller}\"\ndownload = \"40 MB\"\n{more}");
        let honest = alone(&keys(""), queue, "");
        let hidden = alone(&keys("receiver = \"hides-ce\""), queue, "");
        let delay = |outcome: &Outcome| {
            outcome.flows[0]
                .mean_queue_delay
                .expect("sent")
                .as_secs_f64()
        };
        assert!(honest.flows[0].packets_marked > 100);
        assert_eq!(honest.flows[0].packets_dropped, 0);
        assert!(hidden.flows[0].packets_dropped > 0, "{controller}");
        assert!(delay(&hidden) > 4.0 * delay(&honest), "{controller}");
    }
}

#[test]
fn a_greedy_receiver_only_lifts_a_limit_of_its_own() {
    // 64 KB that grow by RFC 9000 section 4 limit the start; without, the window of the sender does.
    let head = "[transport]\ninitial_max_data = \"8 kB\"\n";
    let keys = |more: &str| format!("controller = \"cubic\"\ndownload = \"5 MB\"\n{more}");
    let path = "buffer = \"1 bdp\"";
    let [limited, greedy] =
        ["", "receiver = \"greedy\""].map(|more| alone(&keys(more), path, head));
    let free = alone(&keys(""), path, "");
    let time = |outcome: &Outcome| outcome.flows[0].completion.expect("complete").as_secs_f64();
    assert!(
        time(&limited) > time(&greedy) + 0.02,
        "{} {}",
        time(&limited),
        time(&greedy)
    );
    assert!((time(&free) - time(&greedy)).abs() < 0.02);
}

#[test]
fn a_sender_that_ignores_losses_starves_an_honest_one() {
    for controller in ["reno", "cubic"] {
        let outcome = against_cubic(controller, "sender = \"ignores-loss\"", "");
        assert!(share(&outcome) > 0.9, "{controller}: {}", share(&outcome));
        assert!(outcome.flows[0].packets_lost > 10_000, "{controller}");
    }
    // C4 and BBR bound what is in flight by rate and RTT too.
    for controller in ["bbr", "c4"] {
        let outcome = against_cubic(controller, "sender = \"ignores-loss\"", "");
        let flow = &outcome.flows[0];
        let lost = flow.packets_lost as f64 / flow.packets_sent as f64;
        assert!(lost < 0.05, "{controller}: {lost}");
    }
}

#[test]
fn without_losses_a_sender_that_ignores_them_is_an_honest_one() {
    let responsive = [
        Purpose::Internet,
        Purpose::DataCenter,
        Purpose::Background,
        Purpose::Media,
    ];
    for controller in controllers(&responsive) {
        let hash = |sender: &str| {
            let text = format!(
                "title = \"t\"\ntime_limit = \"20 s\"\n[path]\nrate = \"2 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"100 MB\"\n\
                 [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\nbackground = true\n{sender}\n\
                 [[flow.media]]\nname = \"video\"\ncarriage = \"datagrams\"\nper_second = 30\nduration = \"15 s\"\n\
                 rate = {{ least = \"150 kbps\", most = \"1.5 Mbps\" }}\n"
            );
            let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
            audited::run_trial(&scenario, 2, false).0.trace_hash
        };
        assert_eq!(hash(""), hash("sender = \"ignores-loss\""), "{controller}");
    }
}
