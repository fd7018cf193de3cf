//! A change that follows a controller into a state is one at the time of that entry, to the nanosecond.
//!
//! **Exact**, and the entry is the same with the change and without: what the change touches reaches nobody at that instant.

use super::document::{duration, hops, hops_mut, set, set_duration, tables};
use super::{Applied, Case, Checked, How, Relation, portrait};
use crate::failure::Failure;
use crate::random::Random;
use crate::watch::Watch;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "tied_change",
    how: How::Runs(check),
};

/// An entry, and the change that follows it.
struct Following {
    hop: usize,
    /// Index and name of the flow.
    index: usize,
    flow: String,
    state: String,
    later: Duration,
    change: Table,
}

fn check(case: &Case, random: &mut Random, watch: &Watch) -> Checked {
    let Some(following) = choose(case, random) else {
        return Ok(Applied::Not);
    };
    let watched = following.watched(&case.table);
    let Some(plain) = case.play_other(&watched, watch) else {
        return Ok(Applied::Not);
    };
    let flow = plain.outcome.flows.get(following.index);
    let Some(entered) = flow.and_then(|flow| flow.watched.last()?.1) else {
        return Ok(Applied::Not);
    };
    let at = Duration::from_nanos((entered * 1e9).round() as u64) + following.later;
    let tied = case.play_other(&following.tied(&watched), watch);
    let fixed = case.play_other(&following.fixed(&watched, at), watch);
    let (Some(tied), Some(fixed)) = (tied, fixed) else {
        return Ok(Applied::Not);
    };
    match portrait::difference(&fixed, &tied) {
        None => Ok(Applied::Held),
        Some(difference) => Err(Failure::new("relation", difference)),
    }
}

/// An entry of the trial of a case.
fn choose(case: &Case, random: &mut Random) -> Option<Following> {
    let index = random.below(hops(&case.table).len() as u64) as usize;
    let hop = *hops(&case.table).get(index)?;
    let is_traced = |table: &&Table| table.contains_key("trace");
    if hop.contains_key("repeat") || super::document::directions(hop).iter().any(is_traced) {
        return None;
    }
    let samples = &case.portrait.trace.senders.samples;
    let row = samples.get(random.below(samples.len() as u64) as usize)?;
    let flow = &case.scenario.flows.get(row.flow)?.name;
    let later = *random.choose(&[0, 1, 1_000_000, 10_000_000]);
    let mut change = Table::new();
    set(&mut change, "rate", "7 Mbps");
    set(&mut change, "rtt", "31 ms");
    if random.flag() {
        set(&mut change, "buffer", "20 kB");
        change.insert("flush".to_owned(), Value::Boolean(true));
    }
    Some(Following {
        hop: index,
        index: row.flow,
        flow: flow.clone(),
        state: row.state.to_string(),
        later: Duration::from_nanos(later),
        change,
    })
}

impl Following {
    /// The scenario with a criterion on the time of the entry.
    fn watched(&self, scenario: &Table) -> Table {
        let mut table = scenario.clone();
        let mut pass = Table::new();
        set(&mut pass, "flow", &self.flow);
        set(&mut pass, "metric", "entered");
        set(&mut pass, "state", &self.state);
        set(&mut pass, "at_most", "1 ms");
        let passes = table
            .entry("pass")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(passes) = passes.as_array_mut() {
            passes.push(Value::Table(pass));
        }
        table
    }

    fn tied(&self, scenario: &Table) -> Table {
        let mut change = self.change.clone();
        let mut when = Table::new();
        set(&mut when, "flow", &self.flow);
        set(&mut when, "enters", &self.state);
        change.insert("when".to_owned(), Value::Table(when));
        set_duration(&mut change, "at", self.later);
        self.with(scenario, change, usize::MAX)
    }

    fn fixed(&self, scenario: &Table, at: Duration) -> Table {
        let mut change = self.change.clone();
        set_duration(&mut change, "at", at);
        let known = tables(hops(scenario)[self.hop], "change");
        let is_before = |other: &&Table| duration(other, "at").is_some_and(|other| other <= at);
        self.with(scenario, change, known.partition_point(is_before))
    }

    fn with(&self, scenario: &Table, change: Table, place: usize) -> Table {
        let mut table = scenario.clone();
        let hop = &mut hops_mut(&mut table)[self.hop];
        let changes = hop
            .entry("change")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Some(changes) = changes.as_array_mut() {
            changes.insert(place.min(changes.len()), Value::Table(change));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::*;

    #[test]
    fn it_holds_for_each_state_and_finds_a_nanosecond() {
        let case = Case::new(&download("bbr", "buffer = \"40 packets\"", ""));
        let watch = Watch::default();
        for seed in 0..10 {
            assert_eq!(
                check(&case, &mut Random::new(seed), &watch).unwrap(),
                Applied::Held
            );
        }
        let following = choose(&case, &mut Random::new(3)).unwrap();
        let tied = case
            .play_other(&following.tied(&case.table), &watch)
            .unwrap();
        let at = |nanos| {
            let fixed = following.fixed(&case.table, Duration::from_nanos(nanos));
            case.play_other(&fixed, &watch).unwrap()
        };
        let differs = |nanos| portrait::difference(&at(nanos), &tied).is_some();
        // The first sample of the state says when it was entered.
        let samples = &case.portrait.trace.senders.samples;
        let first = samples
            .iter()
            .find(|row| row.state == following.state)
            .unwrap();
        let nanos = first.time.as_nanos() + following.later.as_nanos();
        assert!(!differs(nanos));
        assert!(differs(nanos + 1) || differs(nanos + 1000));
    }
}
