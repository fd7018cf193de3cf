//! Paths that do not keep ECN.

use super::audited::run_trial;
use super::flows;
use thalweg_sim::{LinkOutcome, Scenario};
use thalweg_units::Duration;

const STEP: &str = "queue = { model = \"step\", threshold = \"20 packets\" }";

/// Four seconds of a long flow on 10 Mbps and 40 ms, from the client or to it, behind CoDel in both directions.
fn behind_codel(stack: &str, controller: &str, direction: &str, ecn: &str) -> LinkOutcome {
    let text = format!(
        "title = \"codel\"\ntime_limit = \"4 s\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"200 ms\"\n\
         queue = \"codel\"\nup = {{ queue = \"codel\", ecn = \"{ecn}\" }}\necn = \"{ecn}\"\n\
         [[flow]]\nname = \"main\"\nstack = \"{stack}\"\ncontroller = \"{controller}\"\n{direction} = \"1 GB\"\nbackground = true\n"
    );
    let scenario = Scenario::from_toml(text.as_bytes(), "codel.toml", &[], &[]);
    let outcome = run_trial(&scenario.expect("a right scenario"), 1, false).0;
    let link = usize::from(direction == "upload");
    outcome.links[link].clone()
}

#[test]
fn both_stacks_give_up_ecn_on_a_path_that_bleaches_and_are_dropped_instead_of_marked() {
    // RFC 9000 section 13.4.2.2: once validation fails, packets carry no ECT. What the queue marks until then belongs to
    // packets of the first round trips.
    let both: [(&str, &[&str]); 2] = [
        ("model", &["reno", "cubic", "prague", "c4", "dctcp"]),
        ("quic", &["cubic", "prague"]),
    ];
    for (stack, controllers) in both {
        for controller in controllers {
            for direction in ["download", "upload"] {
                let link = |ecn| behind_codel(stack, controller, direction, ecn);
                let (kept, bleached) = (link("keep"), link("bleach"));
                let what = format!("{stack}, {controller}, {direction}: {bleached:?}");
                assert!(kept.marked_packets > 0, "{what}");
                assert!(
                    bleached.marked_packets == 0 && bleached.dropped_packets > 0,
                    "{what}"
                );
                let (delay, usual) = (bleached.mean_queue_delay, kept.mean_queue_delay);
                assert!(
                    delay < usual * 3 + Duration::from_millis(5),
                    "{usual}; {what}"
                );
            }
        }
    }
}

#[test]
fn a_flow_whose_marks_are_bleached_fills_a_queue_that_only_marks() {
    let kept = flows(STEP, &["dctcp"]);
    assert!(kept.links[0].marked_packets > 100 && kept.links[0].dropped_packets == 0);
    let bleached = flows(&format!("{STEP}\necn = \"bleach\""), &["dctcp"]);
    // What has no codepoint waits above the threshold, until the buffer is full.
    assert!(bleached.links[0].dropped_packets > 0);
    assert_eq!(bleached.links[0].marked_packets, 0);
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
