//! A scenario that begins later is the same: all starts, changes, ends and measurements moved by one time.
//!
//! **Exact**, but for the times. A period that begins at the start of the trial, of repeated changes, traces, or the updates of
//! PIE and DualPI2, or releases of bursts, must fit: the shift is a multiple of all of them. There is no claim with a tape, on a path with noise or
//! with loss in time, whose draws belong to absolute time: another start sees other draws, in distribution the same. Nor where repeated changes set a discipline
//! that draws, which does so by the number of the change since the start of the trial.

use super::document::{
    self, add, directions, draws_in_time, duration, has_neighbours, has_tape, hops, hops_mut,
    is_timed, model, repeats_draws, tables, tables_mut, values,
};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "shift",
    how: How::Twin(twin),
};

/// Longest shift.
const LONGEST: u64 = 1_000_000_000_000;

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    // Metrics over time have bins of 100 ms from the start of the trial on (`sim/src/outcome/sharing.rs`).
    let criteria = &case.scenario.criteria;
    let over_time = criteria
        .iter()
        .any(|criterion| criterion.metric.is_over_time());
    let period = multiple(
        period(&case.table)?,
        if over_time { 100_000_000 } else { 1 },
    )?;
    let wanted = match random.below(4) {
        0 => 7_300_000_000,
        1 => 61_000_000_000,
        2 => 1,
        _ => random.magnitude(1, LONGEST / 2),
    };
    let by = wanted.div_ceil(period).checked_mul(period)?;
    (by <= LONGEST).then(|| shifted(case, Duration::from_nanos(by)))
}

/// The twin that begins so much later.
fn shifted(case: &Case, by: Duration) -> Twin {
    let mut table = case.table.clone();
    table.remove("sample");
    document::set_duration(&mut table, "time_limit", case.scenario.time_limit() + by);
    for hop in hops_mut(&mut table) {
        if !hop.contains_key("repeat") {
            let changes = tables_mut(hop, "change");
            changes.into_iter().for_each(|change| add(change, "at", by));
        }
    }
    for flow in tables_mut(&mut table, "flow") {
        let start = duration(flow, "start").unwrap_or(Duration::ZERO);
        document::set_duration(flow, "start", start + by);
        add(flow, "measure_from", by);
        for media in tables_mut(flow, "media") {
            add(media, "measure_from", by);
        }
    }
    for traffic in tables_mut(&mut table, "traffic") {
        let start = duration(traffic, "start").unwrap_or(Duration::ZERO);
        document::set_duration(traffic, "start", start + by);
    }
    for pass in tables_mut(&mut table, "pass") {
        if matches!(
            pass.get("metric").and_then(|m| m.as_str()),
            Some("completion" | "closed")
        ) {
            add(pass, "at_most", by);
        }
    }
    let repeats = hops(&table).iter().any(|hop| hop.contains_key("repeat"));
    Twin::same(table)
        .changed(move |portrait| portrait.shift(by))
        .but_for(move |portrait| {
            portrait.outcome.trace_hash = None; // it has the times in it
            portrait.without_utilisation();
            if repeats {
                portrait.without_recovery(); // earlier periods have changes too
            }
        })
}

/// The least common multiple of all periods that begin with the trial, in nanoseconds; `None` if nothing may be shifted.
fn period(scenario: &Table) -> Option<u64> {
    if has_tape(scenario) {
        return None;
    }
    let mut period = 1;
    for hop in hops(scenario) {
        if hop.contains_key("noise") || has_neighbours(hop) || repeats_draws(hop, "queue") {
            return None;
        }
        let mut all = Vec::new();
        all.extend(duration(hop, "repeat"));
        for table in directions(hop) {
            if let Some(text) = table.get("trace").and_then(|trace| trace.as_str()) {
                all.push(Duration::from_millis(last_number(text)?));
            }
        }
        for table in directions(hop).into_iter().chain(tables(hop, "change")) {
            if values(table, "loss").any(is_timed) || draws_in_time(table) {
                return None;
            }
            all.extend(values(table, "queue").filter_map(updates));
            if model(table, "jitter") == Some("trace") {
                let text = table["jitter"].get("file")?.as_str()?;
                all.push(Duration::from_micros(last_time(text)?));
            }
            if model(table, "jitter") == Some("bursts") {
                all.push(duration(table["jitter"].as_table()?, "every")?);
            }
        }
        for length in all {
            period = multiple(period, length.as_nanos().max(1))?;
        }
    }
    Some(period)
}

/// Time between two updates of a discipline, if it has a clock (`thalweg_path::queue`).
fn updates(queue: &Value) -> Option<Duration> {
    let queue = queue.as_table()?;
    let target = duration(queue, "target").unwrap_or(Duration::from_millis(15));
    match queue.get("model")?.as_str()? {
        "pie" => Some(duration(queue, "update").unwrap_or(Duration::from_millis(15))),
        // RFC 9332 A.1: Tupdate = min(target, RTT_max / 3).
        "dualpi2" => {
            let max_rtt = duration(queue, "max_rtt").unwrap_or(Duration::from_millis(100));
            Some(target.min(max_rtt / 3))
        }
        _ => None,
    }
}

/// The period of a delivery trace.
fn last_number(text: &str) -> Option<u64> {
    text.split_whitespace().last()?.parse().ok()
}

/// The period of a trace of jitter: its last time, which stands before its last delay.
fn last_time(text: &str) -> Option<u64> {
    text.split_whitespace().rev().nth(1)?.parse().ok()
}

fn multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::super::broken::{self, download};
    use super::super::{holds, is_found};
    use super::*;
    use crate::values::responsive;

    #[test]
    fn it_finds_a_controller_that_looks_at_the_time_of_the_trial() {
        let path = "buffer = \"1 bdp\"";
        let punctual = Case::with_registry(&download("punctual", path, ""), broken::registry());
        assert!(is_found(
            &shifted(&punctual, Duration::from_millis(7_300)),
            &punctual
        ));
        for controller in responsive() {
            let case = Case::new(&download(controller, path, ""));
            for by in [7_300, 61_000].map(Duration::from_millis) {
                holds(&shifted(&case, by), &case);
            }
        }
    }

    #[test]
    fn it_finds_a_change_that_stays_where_it_was() {
        let path = "[[path.change]]\nat = \"100 ms\"\nrate = \"3 Mbps\"";
        let case = Case::new(&download("cubic", path, ""));
        let mut twin = shifted(&case, Duration::from_millis(50));
        holds(&twin, &case);
        for change in tables_mut(hops_mut(&mut twin.table)[0], "change") {
            document::set_duration(change, "at", Duration::from_millis(100));
        }
        assert!(is_found(&twin, &case));
    }

    #[test]
    fn a_shift_is_a_multiple_of_all_periods() {
        let period = |path: &str| period(&toml::from_str(&download("reno", path, "")).unwrap());
        assert_eq!(period(""), Some(1));
        assert_eq!(
            period("repeat = \"20 ms\"\nqueue = { model = \"pie\" }"),
            Some(60_000_000)
        );
        assert_eq!(
            period("queue = { model = \"dualpi2\", target = \"40 ms\", max_rtt = \"30 ms\" }"),
            Some(10_000_000)
        );
        assert_eq!(
            period("jitter = { model = \"trace\", file = \"us: 0 5 700 5\" }"),
            Some(700_000)
        );
        assert_eq!(period("noise = { delay_sd = \"1 ms\" }"), None);
        let timed = "loss = { model = \"gilbert-elliott\", good = \"1 s\", bad = \"9 ms\" }";
        assert_eq!(period(timed), None);
    }
}
