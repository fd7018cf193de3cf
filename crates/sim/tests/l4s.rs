//! L4S end to end: senders of ECT(1) over the dual queue of RFC 9332.

use thalweg_sim::{Outcome, Scenario, run_trial};

/// Long flows on 40 Mbps and 20 ms for 30 s behind DualPI2.
fn dualpi2(controllers: &[&str]) -> Outcome {
    let mut text = String::from(
        "title = \"L4S\"\ntime_limit = \"30 s\"\n[path]\nrate = \"40 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"200 ms\"\nqueue = { model = \"dualpi2\" }\n",
    );
    for (index, controller) in controllers.iter().enumerate() {
        text += &format!(
            "[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "l4s.toml", &[], &[]);
    run_trial(&scenario.expect("a right scenario"), 1, false).0
}

fn delay_ms(outcome: &Outcome, flow: usize) -> f64 {
    let delay = outcome.flows[flow].mean_queue_delay;
    delay.expect("packets went through").as_secs_f64() * 1e3
}

#[test]
fn prague_fills_the_link_and_waits_for_about_a_millisecond() {
    let outcome = dualpi2(&["prague"]);
    let link = &outcome.links[0];
    assert!(
        (0.9..=1.0).contains(&link.utilisation),
        "{}",
        link.utilisation
    );
    assert!(
        (0.05..2.5).contains(&delay_ms(&outcome, 0)),
        "{}",
        delay_ms(&outcome, 0)
    );
    // RFC 9331: marks come often, some each round trip of 20 ms: 30 s have 1500.
    assert!(link.marked_packets > 1_000, "{}", link.marked_packets);
}

#[test]
fn prague_and_cubic_share_while_only_cubic_waits() {
    let outcome = dualpi2(&["prague", "cubic"]);
    let share = outcome.flows[0].share.expect("both were active");
    // RFC 9332 section 2.1: the coupling makes rates about alike.
    assert!((0.3..0.7).contains(&share), "{share}");
    let (low, classic) = (delay_ms(&outcome, 0), delay_ms(&outcome, 1));
    assert!(low < 3.0, "{low}");
    assert!((5.0..25.0).contains(&classic), "{classic}");
}

#[test]
fn c4_answers_the_marks_of_the_low_latency_queue() {
    let outcome = dualpi2(&["c4"]);
    let link = &outcome.links[0];
    assert!(link.marked_packets > 100, "{}", link.marked_packets);
    assert!(
        (0.6..=1.0).contains(&link.utilisation),
        "{}",
        link.utilisation
    );
    // Far more than Prague's millisecond: C4 backs off once a round trip, and its pushes fill the queue again.
    assert!(
        (1.0..40.0).contains(&delay_ms(&outcome, 0)),
        "{}",
        delay_ms(&outcome, 0)
    );
}

#[test]
fn a_classic_flow_is_marked_less_often_and_keeps_the_link_busy() {
    let outcome = dualpi2(&["cubic"]);
    let link = &outcome.links[0];
    assert!(
        (5..1_000).contains(&link.marked_packets),
        "{}",
        link.marked_packets
    );
    assert!(link.utilisation > 0.85, "{}", link.utilisation);
    assert!(
        (5.0..25.0).contains(&delay_ms(&outcome, 0)),
        "{}",
        delay_ms(&outcome, 0)
    );
}
