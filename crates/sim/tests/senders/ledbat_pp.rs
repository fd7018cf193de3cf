//! LEDBAT++ alone, and against others over a deep buffer: what the LEDBAT++ draft is for.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario};

/// Long flows on 20 Mbps and 40 ms with a buffer of 400 ms, for 60 s; those after the first start 5 s later.
fn flows(controllers: &[&str]) -> Outcome {
    let mut text = "title = \"LEDBAT++\"\ntime_limit = \"60 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"40 ms\"\nbuffer = \"400 ms\"\n".to_owned();
    for (index, controller) in controllers.iter().enumerate() {
        let start = if index > 0 { "start = \"5 s\"\n" } else { "" };
        text += &format!(
            "[[flow]]\nname = \"f{index}\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n{start}"
        );
    }
    let scenario = Scenario::from_toml(text.as_bytes(), "ledbat_pp.toml", &[], &[]);
    run_trial(&scenario.expect("a right scenario"), 1, false).0
}

/// The share of the first flow.
fn share(controllers: &[&str]) -> f64 {
    flows(controllers).flows[0].share.expect("all were active")
}

#[test]
fn alone_it_takes_the_link_and_keeps_the_queue_at_its_target() {
    let link = &flows(&["ledbat-pp"]).links[0];
    // Slowdowns take a tenth of the time, most of which the queue of 60 ms bridges.
    assert!(
        (0.88..0.98).contains(&link.utilisation),
        "{}",
        link.utilisation
    );
    let link = &flows(&["ledbat-pp:slowdowns=off"]).links[0];
    assert!(link.utilisation > 0.98, "{}", link.utilisation);
    let queue = link.mean_queue_delay.as_secs_f64();
    assert!((0.05..0.065).contains(&queue), "{queue}");
}

#[test]
fn it_yields_to_cubic_and_reno_whoever_came_first() {
    for other in ["cubic", "reno"] {
        let (first, last) = (
            share(&["ledbat-pp", other]),
            1.0 - share(&[other, "ledbat-pp"]),
        );
        // A tenth of a fair share. Against Reno it is 0.051 to 0.052 over twelve seeds for the one that comes last: until the
        // queue stands, Reno, which left slow start at 5 s, takes that long to fill it.
        assert!(first < 0.05 && last < 0.055, "{other}: {first} {last}");
    }
}

#[test]
fn slowdowns_take_the_advantage_from_the_latecomer() {
    // LEDBAT++ draft section 4.4: one that comes later takes the queue of the first for the path, unless that stops.
    let without = share(&["ledbat-pp:slowdowns=off"; 2]);
    let with = share(&["ledbat-pp"; 2]);
    assert!(without < 0.1 && with > 0.25, "{without} {with}");
}
