//! Losses that are counted in time or in packets, on paths with flows and cross traffic.

use super::audited::run_trial;
use thalweg_sim::{Outcome, Scenario, Trace};
use thalweg_units::{Duration, Instant};

/// Cross traffic of 1250 B every 10 ms, and a short download that ends early, for 20 s.
fn traced(loss: &str, seed: u64) -> (Outcome, Trace) {
    let text = format!(
        "title = \"t\"\noverhead = \"0 B\"\ntime_limit = \"20 s\"\n[path]\nrate = \"100 Mbps\"\nrtt = \"20 ms\"\n{loss}\n\
         [[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"1 GB\"\nstart = \"19 s\"\nbackground = true\n\
         [[traffic]]\nname = \"steady\"\nrate = \"1 Mbps\"\npacket = \"1250 B\"\n"
    );
    let read = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (outcome, trace) = run_trial(&read, seed, true);
    (outcome, trace.expect("a trace"))
}

/// Which packets of the traffic are lost on the link down before 19 s, from 1 on.
fn lost(loss: &str) -> Vec<u64> {
    let trace = traced(loss, 1).1;
    let before = Instant::START + Duration::from_secs(19);
    let drops = trace
        .drops
        .iter()
        .filter(|row| row.link == 0 && row.time < before);
    drops
        .map(|row| (row.time - Instant::START).as_millis() / 10)
        .collect()
}

#[test]
fn the_packets_of_a_script_are_lost_and_those_of_a_change_count_from_it() {
    let script = "loss = { model = \"scripted\", packets = [1, \"10-12\", 40] }";
    assert_eq!(lost(script), [1, 10, 11, 12, 40]);
    assert_eq!(
        lost("loss = { model = \"periodic\", every = 600 }"),
        [600, 1200, 1800]
    );
    let later =
        "[[path.change]]\nat = \"4995 ms\"\nloss = { model = \"scripted\", packets = [\"2-3\"] }";
    // Packet 500 is the first after 4995 ms.
    assert_eq!(lost(later), [501, 502]);
    let up = format!("{script}\nup = {{ loss = \"0 %\" }}");
    assert_eq!(lost(&up), [1, 10, 11, 12, 40]);
}

#[test]
fn a_script_in_one_direction_counts_its_own_packets() {
    let losses = |path: &str| {
        let text = format!(
            "title = \"t\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\n{path}\n[[flow]]\nname = \"main\"\ncontroller = \"reno\"\ndownload = \"1 MB\"\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
        let links = run_trial(&scenario, 1, false).0.links;
        [links[0].lost_packets, links[1].lost_packets]
    };
    let script = "loss = { model = \"scripted\", packets = [3, \"10-12\"] }";
    assert_eq!(losses(script), [4, 4]);
    assert_eq!(
        losses(&format!("{script}\nup = {{ loss = \"0 %\" }}")),
        [4, 0]
    );
    assert_eq!(losses(&format!("up = {{ {script} }}")), [0, 4]);
}

#[test]
fn losses_that_lose_nothing_are_none() {
    let hash = |loss: &str| traced(loss, 3).0.trace_hash;
    let plain = hash("");
    for nothing in [
        "{ model = \"scripted\", packets = [] }",
        "{ model = \"periodic\", every = 1000000000 }",
        "{ model = \"gilbert-elliott\", good = \"1 s\", bad = \"0 s\" }",
        "{ model = \"gilbert-elliott\", good = \"1 s\", bad = \"1 s\", bad_loss = \"0 %\" }",
    ] {
        assert_eq!(hash(&format!("loss = {nothing}")), plain, "{nothing}");
    }
    assert_ne!(
        hash("loss = { model = \"scripted\", packets = [1] }"),
        plain
    );
}

#[test]
fn loss_in_time_takes_the_same_times_from_every_flow() {
    let fading = "loss = { model = \"gilbert-elliott\", good = \"900 ms\", bad = \"100 ms\" }";
    let (outcome, trace) = traced(fading, 1);
    // 10 % of 20 s in about 20 bursts: the deviation of the share is about sqrt(2 / 20) of it.
    let realised = outcome.links[0].realised_loss;
    assert!((0.03..0.25).contains(&realised), "{realised}");
    assert_eq!(outcome.links[0].requested_loss, 0.1);
    // A packet every 10 ms: bursts have about ten in a row, in time and not in packets.
    let lost: Vec<u64> = (trace.drops.iter())
        .filter(|row| row.link == 0)
        .map(|row| (row.time - Instant::START).as_millis())
        .collect();
    let bursts = 1 + lost
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > 11)
        .count();
    assert!(
        (4..40).contains(&bursts) && lost.len() > 3 * bursts,
        "{bursts} {}",
        lost.len()
    );
    // Another controller meets the same bad times.
    let main = |controller: &str| {
        let text = format!(
            "title = \"t\"\ntime_limit = \"10 s\"\n[path]\nrate = \"20 Mbps\"\nrtt = \"20 ms\"\n{fading}\n\
             [[flow]]\nname = \"main\"\ncontroller = \"{controller}\"\ndownload = \"1 GB\"\nbackground = true\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "t.toml", &[], &[]).unwrap();
        let trace = run_trial(&scenario, 5, true).1.expect("a trace");
        let drops = trace.drops.iter().filter(|row| row.link == 0);
        drops.map(|row| row.time).collect::<Vec<Instant>>()
    };
    let (reno, steady) = (main("reno"), main("cbr:rate=5Mbps"));
    let near = |time: &&Instant| {
        let gap = |other: &Instant| time.as_nanos().abs_diff(other.as_nanos());
        steady
            .iter()
            .map(gap)
            .min()
            .is_some_and(|gap| gap < 4_000_000)
    };
    // Independent bad times would be near 10 to 20 % of the losses; a short one may fall between packets of the other flow.
    let (common, all) = (reno.iter().filter(near).count(), reno.len());
    assert!(all > 20 && common * 100 >= all * 85, "{common} of {all}");
}
