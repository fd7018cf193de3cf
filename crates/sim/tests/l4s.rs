//! L4S end to end: senders of ECT(1) over the dual queue of RFC 9332.

use audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

mod audited;

/// Long flows on 40 Mbps and 20 ms for 30 s.
fn behind(queue: &str, controllers: &[&str]) -> Outcome {
    by_rules("rfc", queue, controllers)
}

fn by_rules(rules: &str, queue: &str, controllers: &[&str]) -> Outcome {
    let mut text = format!(
        "title = \"L4S\"\ntime_limit = \"30 s\"\n[transport]\nrules = \"{rules}\"\n[path]\nrate = \"40 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"200 ms\"\nqueue = {{ model = \"{queue}\" }}\n",
    );
    for (index, controller) in controllers.iter().enumerate() {
        text += &format!(
            "[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "l4s.toml", &[], &[]);
    run_trial(&scenario.expect("a right scenario"), 1, false).0
}

fn dualpi2(controllers: &[&str]) -> Outcome {
    behind("dualpi2", controllers)
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
fn c4_takes_the_share_of_one_acknowledgement_for_that_of_the_path() {
    // Its filter takes over at once what one acknowledgement reports if at least half of it is marked. Marks are
    // acknowledged at once by RFC 9000 section 13.2.1, so that each is at least half of what is reported. Its send
    // quantum of about 4 ms meets a threshold of 1 ms in each burst.
    let outcome = dualpi2(&["c4"]);
    let utilisation = outcome.links[0].utilisation;
    assert!((0.02..0.6).contains(&utilisation), "{utilisation}");
    assert!(outcome.links[0].marked_packets > 100);
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
    let outcome = by_rules("picoquic", "dualpi2", &["c4"]);
    let link = &outcome.links[0];
    assert!(link.marked_packets > 100, "{}", link.marked_packets);
    assert!(
        (0.6..=1.0).contains(&link.utilisation),
        "{}",
        link.utilisation
    );
    // Far more than Prague's millisecond: marks lower the rate, three pushes succeed, and Initial, which
    // answers no marks, fills the queue again.
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

#[test]
fn the_fallback_shares_a_queue_that_marks_like_classic_ecn_and_changes_nothing_over_dualpi2() {
    let share = |queue, prague| {
        behind(queue, &[prague, "cubic"]).flows[0]
            .share
            .expect("both were active")
    };
    // RFC 9331 section 4.3: without, Prague answers CoDel's rare marks with a small part of its window.
    let (without, with) = (
        share("codel", "prague"),
        share("codel", "prague:classic_fallback=on"),
    );
    assert!(without > 0.75, "{without}");
    assert!((0.25..0.6).contains(&with), "{with}");
    let over_dualpi2 = share("dualpi2", "prague:classic_fallback=on");
    assert!((0.3..0.7).contains(&over_dualpi2), "{over_dualpi2}");
}

#[test]
fn a_flow_without_ecn_is_dropped_where_another_is_marked() {
    for (controller, marks) in [("cubic", true), ("cubic:ecn=off", false)] {
        let outcome = behind("codel", &[controller]);
        let link = &outcome.links[0];
        assert_eq!(link.marked_packets > 0, marks, "{controller}");
        // Acknowledgements alone carry no codepoint, so that one of them may be dropped.
        let dropped = link.dropped_packets;
        assert_eq!(dropped > 1, !marks, "{controller}: {dropped}");
    }
}
