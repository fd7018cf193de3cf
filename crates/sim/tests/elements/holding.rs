//! Links that release in bursts, delay acknowledgements, keep packets apart, or reorder them.

use super::flows;
use thalweg_sim::Outcome;

fn utilisation(outcome: &Outcome) -> f64 {
    outcome.links[0].utilisation
}

#[test]
fn acknowledgements_that_come_in_bursts_cost_a_window_limited_sender_no_more_than_their_delay() {
    let smooth = flows("", &["reno"]);
    let bursty = flows(
        "up = { jitter = { model = \"bursts\", every = \"20 ms\" } }",
        &["reno"],
    );
    // Releases every 20 ms hold each for 10 ms on average.
    let held = bursty.links[1].experienced_jitter.as_secs_f64();
    assert!((0.008..0.012).contains(&held), "{held}");
    assert!(utilisation(&bursty) > 0.9 * utilisation(&smooth));
    // All of it is on the way of acknowledgements.
    assert_eq!(bursty.links[0].experienced_jitter.as_nanos(), 0);
}

#[test]
fn bbr_fills_a_link_that_aggregates() {
    let outcome = flows(
        "jitter = { model = \"bursts\", every = \"10 ms\" }",
        &["bbr"],
    );
    assert!(utilisation(&outcome) > 0.85, "{}", utilisation(&outcome));
}

#[test]
fn nr_bpdv_never_reorders_and_reordering_causes_losses_that_are_none() {
    let apart = flows("jitter = \"nr-bpdv\"", &["cubic"]);
    assert!(apart.links[0].requested_jitter.as_secs_f64() > 0.0039);
    assert_eq!(apart.flows[0].spurious_losses, 0);
    let reordering = |extent: u32| {
        let line = format!(
            "reorder = true\njitter = {{ model = \"reordering\", share = \"1 %\", extent = {extent} }}"
        );
        flows(&line, &["cubic"]).flows[0].spurious_losses
    };
    // RFC 9002 section 6.1.1: a packet is lost once one sent three later is acknowledged.
    assert_eq!(reordering(1), 0);
    assert!(reordering(10) > 10, "{}", reordering(10));
}
