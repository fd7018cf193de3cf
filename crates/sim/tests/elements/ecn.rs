//! Paths that do not keep ECN.

use super::audited::run_trial;
use super::flows;
use thalweg_sim::Scenario;

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

#[test]
fn a_receiver_that_hides_marks_gets_more_than_its_share_until_packets_are_dropped() {
    // RFC 3168 section 7: one flow's marks do not reach its sender, where both share a queue that marks by a step.
    let text = |ecn: &str| {
        format!(
            "title = \"hidden\"\ntime_limit = \"20 s\"\n\
             [[link]]\nname = \"queue\"\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"200 ms\"\n{STEP}\n\
             [[link]]\nname = \"home\"\nrate = \"1 Gbps\"\nrtt = \"1 ms\"\nbuffer = \"100 ms\"\necn = \"{ecn}\"\n\
             [[flow]]\nname = \"greedy\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\nroute = [\"queue\", \"home\"]\n\
             [[flow]]\nname = \"other\"\ncontroller = \"cubic\"\ndownload = \"1 GB\"\nbackground = true\nroute = [\"queue\"]\n"
        )
    };
    let share = |ecn: &str| {
        let scenario = Scenario::from_toml(text(ecn).as_bytes(), "hidden.toml", &[], &[]);
        let outcome = run_trial(&scenario.expect("a right scenario"), 1, false).0;
        outcome.flows[0].share.expect("both were active")
    };
    let (fair, greedy) = (share("keep"), share("hide-ce"));
    assert!((0.35..0.65).contains(&fair), "{fair}");
    assert!(greedy > 0.8, "{greedy}");
}
