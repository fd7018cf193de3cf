//! What senders are told of the rate of their paths, against what the links carry.

use super::audited::run_trial;
use thalweg_sim::Scenario;

/// A path of 8 Mbps and 40 ms that falls to 3 Mbps at 10 s and rises again at 20 s, for 30 s.
fn scenario(flow: &str, pass: &str) -> Result<Scenario, String> {
    let changes = r#"[[path.change]]
at = "10 s"
rate = "3 Mbps"
[[path.change]]
at = "20 s"
rate = "8 Mbps""#;
    on(changes, flow, pass)
}

/// The same path with other changes.
fn on(changes: &str, flow: &str, pass: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"title = "told"
time_limit = "30 s"
[path]
rate = "8 Mbps"
rtt = "40 ms"
buffer = "1 bdp"
{changes}
[[flow]]
name = "main"
background = true
{flow}
[[pass]]
flow = "main"
{pass}
"#
    );
    Scenario::from_toml(text.as_bytes(), "told.toml", &[], &[]).map_err(|error| error.to_string())
}

/// The value of its criterion.
fn value(flow: &str, pass: &str) -> Option<f64> {
    value_of(&scenario(flow, pass).expect("right"))
}

fn value_of(scenario: &Scenario) -> Option<f64> {
    let (outcome, _) = run_trial(scenario, 1, false);
    let column = scenario.criteria[0].column();
    let watched = &outcome.flows[0].watched;
    let found = watched.iter().find(|(name, _)| *name == column);
    found.expect("watched").1
}

fn download(controller: &str) -> String {
    format!("controller = \"{controller}\"\ndownload = \"100 MB\"")
}

fn error(estimate: &str, times: &str) -> String {
    format!("metric = \"told-rate-error\"\nestimate = \"{estimate}\"\nat_most = \"100 %\"\n{times}")
}

fn notice(estimate: &str, times: &str) -> String {
    format!("metric = \"time-to-notice\"\nestimate = \"{estimate}\"\nat_most = \"1 s\"\n{times}")
}

#[test]
fn a_constant_rate_is_off_exactly_while_the_capacity_is_another() {
    // Off from 10 to 20 s of 30, less the handshake of 40 ms in which nothing is told.
    let off = value(&download("cbr:rate=8Mbps"), &error("pacing", "")).expect("told");
    assert!((off - 10.0 / 29.96).abs() < 0.002, "{off}");
    let before = value(
        &download("cbr:rate=8Mbps"),
        &error("pacing", "until = \"10 s\""),
    );
    assert_eq!(before, Some(0.0));
    let between = error("pacing", "from = \"10 s\"\nuntil = \"20 s\"");
    assert_eq!(value(&download("cbr:rate=8Mbps"), &between), Some(1.0));
    assert_eq!(value(&download("cbr:rate=3Mbps"), &between), Some(0.0));
}

#[test]
fn the_capacity_is_what_a_flood_carries() {
    // 12 Mbps are sent into 8 Mbps: what arrives is the truth. A fifth more is the bound, within 2 %.
    let flood = scenario(&download("cbr:rate=12Mbps"), &error("pacing", "")).expect("right");
    let trial = run_trial(&flood, 1, false).0;
    let packets = trial.links[0].delivered_bytes.as_u64() as f64 * 8.0;
    // 8, 3 and 8 Mbps for 10 s each.
    assert!((packets / 190e6 - 1.0).abs() < 0.02, "{packets}");
    for (rate, off) in [
        (1.17 * 8.0, 0.0),
        (1.23 * 8.0, 1.0),
        (0.83 * 8.0, 0.0),
        (0.77 * 8.0, 1.0),
    ] {
        let controller = format!("cbr:rate={rate:.2}Mbps");
        let told = value(&download(&controller), &error("pacing", "until = \"10 s\""));
        assert_eq!(told, Some(off), "{controller}");
    }
}

#[test]
fn a_window_follows_a_fall_and_a_rise_and_a_constant_rate_does_not() {
    let fall = "until = \"20 s\"";
    let rise = "from = \"15 s\"";
    // The full queue of a loss-based sender makes its window over the RTT what the link carries, as soon as the queue has
    // grown: at most some round trips of 40 to 150 ms.
    let noticed = value(&download("reno"), &notice("window", fall)).expect("noticed");
    assert!((0.01..2.0).contains(&noticed), "{noticed}");
    let risen = value(&download("reno"), &notice("window", rise)).expect("noticed");
    assert!((0.0..5.0).contains(&risen), "{risen}");
    assert_eq!(
        value(&download("cbr:rate=8Mbps"), &notice("pacing", fall)),
        None
    );
    assert_eq!(
        value(&download("cbr:rate=3Mbps"), &notice("pacing", fall)),
        Some(0.0)
    );
    assert_eq!(
        value(&download("cbr:rate=8Mbps"), &notice("pacing", "")),
        None
    );
}

#[test]
fn a_sender_without_data_keeps_an_old_belief() {
    // 300 kbps of data on 8 Mbps: its window over the RTT does not follow the fall.
    let flow = format!("{}\napp_rate = \"300 kbps\"", download("cubic"));
    let off = value(&flow, &error("window", "from = \"1 s\"")).expect("told");
    assert!(off > 0.5, "{off}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_can() {
    let refused = |pass: &str| scenario(&download("cubic"), pass).expect_err("refused");
    let missing = "metric = \"told-rate-error\"\nat_most = \"20 %\"";
    assert!(
        refused(missing)
            .contains("is missing for \"told-rate-error\"; accepted: window, pacing, media")
    );
    let other = "metric = \"told-rate-error\"\nestimate = \"windows\"\nat_most = \"20 %\"";
    assert!(
        refused(other).contains("did you mean \"window\"?"),
        "{}",
        refused(other)
    );
    let still = notice("window", "from = \"1 s\"\nuntil = \"9 s\"");
    assert!(
        refused(&still)
            .contains("requires a change of the rate of the path between from and until")
    );
    let alone = "metric = \"completion\"\nestimate = \"window\"\nat_most = \"20 s\"";
    assert!(refused(alone).contains("cannot be combined with metric \"completion\""));
}

#[test]
fn nobody_notices_what_changes_before_the_first_estimate() {
    let late = format!("{}\nstart = \"15 s\"", download("cbr:rate=8Mbps"));
    // The fall at 10 s is before the flow, and the rise at 20 s is to what it sends at.
    assert_eq!(value(&late, &notice("pacing", "")), Some(0.0));
}

#[test]
fn a_suspended_link_has_changed_if_it_has_another_rate_afterwards() {
    let suspended = |rate: &str| {
        let changes = format!(
            "[[path.change]]\nat = \"10 s\"\nrate = \"0 bps\"\n[[path.change]]\nat = \"11 s\"\nrate = \"{rate}\""
        );
        on(
            &changes,
            &download("cbr:rate=3Mbps"),
            &notice("pacing", "from = \"1 s\""),
        )
    };
    assert!(
        suspended("8 Mbps")
            .expect_err("the same rate")
            .contains("requires a change")
    );
    assert_eq!(
        value_of(&suspended("3 Mbps").expect("another rate")),
        Some(0.0)
    );
}

#[test]
fn a_change_at_the_begin_of_what_counts_counts() {
    let times = "from = \"10 s\"\nuntil = \"11 s\"";
    assert_eq!(
        value(&download("cbr:rate=3Mbps"), &notice("pacing", times)),
        Some(0.0)
    );
}
