//! The text of a scenario is only a text: keys in another order, tables in another form, durations in another unit, defaults
//! written out, and what the scenario says ran, are the same scenario.
//!
//! **Exact**, and what a store of trials knows the scenario by (`Scenario::resolved`) stays the same too.

use super::document::{duration, hops_mut, set, tables_mut};
use super::{Applied, Case, Checked, How, Relation, Twin};
use crate::failure::require;
use crate::random::Random;
use crate::watch::Watch;
use thalweg_units::Duration;
use toml::Table;

pub(super) const RELATION: Relation = Relation {
    name: "rewritten",
    how: How::Runs(check),
};

fn check(case: &Case, random: &mut Random, watch: &Watch) -> Checked {
    let rewritten = rewritten(case, random);
    let ran: Option<Table> = toml::from_str(case.scenario.toml()).ok();
    require(ran.is_some(), "rewritten", || {
        "what ran is not a table".to_owned()
    })?;
    for table in [Some(rewritten), ran].into_iter().flatten() {
        let Some(scenario) = case.read_other(&table) else {
            let text = toml::to_string(&table).unwrap_or_default();
            return Err(crate::failure::Failure::new(
                "rewritten",
                format!("refused: {text}"),
            ));
        };
        require(
            scenario.resolved() == case.scenario.resolved(),
            "rewritten",
            || {
                format!(
                    "resolved {}, before {}",
                    scenario.resolved(),
                    case.scenario.resolved()
                )
            },
        )?;
        if Twin::same(table).check(case, watch)? == Applied::Not {
            return Ok(Applied::Not);
        }
    }
    Ok(Applied::Held)
}

/// The same scenario in other words.
fn rewritten(case: &Case, random: &mut Random) -> Table {
    let mut table = case.table.clone();
    let mut default = |table: &mut Table, key: &str, text: &str| {
        if !table.contains_key(key) && random.flag() {
            set(table, key, text);
        }
    };
    default(&mut table, "overhead", "0.028 kB");
    default(&mut table, "time_limit", "10 min");
    for hop in hops_mut(&mut table) {
        if hop.contains_key("rate") {
            default(hop, "buffer", "1 bdp");
        }
    }
    for flow in tables_mut(&mut table, "flow") {
        default(flow, "start", "0 ms");
        default(flow, "request", "397 B");
        default(flow, "stack", "model");
    }
    other_units(&mut table);
    for hop in hops_mut(&mut table) {
        other_units(hop);
        tables_mut(hop, "change").into_iter().for_each(other_units);
    }
    for key in ["flow", "traffic"] {
        let senders = tables_mut(&mut table, key);
        senders.into_iter().for_each(other_units);
    }
    table
}

/// Whole microseconds and milliseconds in these units.
fn other_units(table: &mut Table) {
    for key in [
        "time_limit",
        "sample",
        "rtt",
        "at",
        "repeat",
        "start",
        "measure_from",
        "call",
    ] {
        let Some(value) = duration(table, key) else {
            continue;
        };
        let nanos = value.as_nanos();
        let text = match () {
            () if nanos.is_multiple_of(1_000_000) => format!("{} ms", nanos / 1_000_000),
            () if nanos.is_multiple_of(1000) => format!("{} us", nanos / 1000),
            () => format!("{nanos} ns"),
        };
        debug_assert_eq!(text.parse::<Duration>().ok(), Some(value));
        set(table, key, text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_unit_that_rounds() {
        let text = download("cubic", "", "start = \"1500 us\"");
        let case = Case::new(&text);
        let watch = Watch::default();
        assert_eq!(
            check(&case, &mut Random::new(1), &watch).unwrap(),
            Applied::Held
        );
        let mut rounded = Twin::same(rewritten(&case, &mut Random::new(1)));
        holds(&rounded, &case);
        let flows = rounded.table["flow"].as_array_mut().unwrap();
        set(flows[0].as_table_mut().unwrap(), "start", "1 ms");
        assert!(is_found(&rounded, &case));
    }
}
