//! Paths that do not keep ECN.

use crate::flows;

const STEP: &str = "queue = { model = \"step\", threshold = \"20 packets\" }";

#[test]
fn a_flow_sees_no_mark_behind_a_link_that_bleaches_and_fills_the_buffer() {
    let kept = flows(STEP, &["dctcp"]);
    assert!(kept.links[0].marked_packets > 100 && kept.links[0].dropped_packets == 0);
    let bleached = flows(&format!("{STEP}\necn = \"bleach\""), &["dctcp"]);
    // The queue marks, and nobody reads it: DCTCP fills the buffer until packets are dropped.
    assert!(bleached.links[0].dropped_packets > 0);
    let delay = |outcome: &thalweg_sim::Outcome| outcome.links[0].mean_queue_delay;
    assert!(
        delay(&bleached) > delay(&kept) * 3,
        "{} {}",
        delay(&kept),
        delay(&bleached)
    );
}

#[test]
fn a_link_that_drops_what_is_marked_costs_packets_and_keeps_the_queue_short() {
    let lost = flows(&format!("{STEP}\necn = \"drop-ce\""), &["reno"]);
    let link = &lost.links[0];
    assert!(
        link.marked_packets > 0 && link.lost_packets >= link.marked_packets,
        "{link:?}"
    );
    assert_eq!(link.dropped_packets, 0);
}

#[test]
fn the_direction_of_acknowledgements_has_a_treatment_of_its_own() {
    // The packets of a download carry their codepoints down.
    let up = flows(&format!("{STEP}\nup = {{ ecn = \"bleach\" }}"), &["dctcp"]);
    assert_eq!(up.links[0].dropped_packets, 0);
    assert!(up.links[0].mean_queue_delay < flows("", &["dctcp"]).links[0].mean_queue_delay);
}
