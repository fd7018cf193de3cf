//! A change of the path to what it is already changes nothing, nor do two at one time of which the second takes back the first.
//!
//! **Exact**, but for the time that a call takes to recover from a change, which begins anew at each of them. A transmission may
//! last over the change: capacity is counted in whole bits per second times nanoseconds, so that its parts add up. With
//! noise, a link may be sampled at the change.

use super::document::{duration, has_noise, hops_mut, model, set_duration, tables};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "same_change",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let mut table = case.table.clone();
    let end = case.portrait.outcome.end;
    let mut hops = hops_mut(&mut table);
    let index = random.below(hops.len() as u64) as usize;
    let hop = hops.get_mut(index)?;
    if hop.contains_key("trace") || tables(hop, "up").iter().any(|up| up.contains_key("trace")) {
        return None;
    }
    let mut changes: Vec<Table> = tables(hop, "change").into_iter().cloned().collect();
    let period = duration(hop, "repeat").unwrap_or(end.max(Duration::from_nanos(1)));
    for _ in 0..random.between(1, 3) {
        let at = Duration::from_nanos(random.below(period.as_nanos()));
        // Behind the changes of the same time.
        let position = changes
            .partition_point(|change| duration(change, "at").is_some_and(|other| other <= at));
        // A change sets what it names, and leaves the rest.
        let mut same = match position.checked_sub(1) {
            Some(before) => changes[before].clone(),
            None => as_it_begins(hop, random),
        };
        for flush in ["flush", "up_flush"] {
            same.remove(flush); // an event, and no state
        }
        set_duration(&mut same, "at", at);
        let undone = random.flag().then(|| other(&same));
        changes.insert(position, same);
        if let Some(undone) = undone {
            changes.insert(position, undone);
        }
    }
    let changes = changes.into_iter().map(Value::Table).collect();
    hop.insert("change".to_owned(), Value::Array(changes));
    let is_noisy = has_noise(&case.table);
    Some(Twin::same(table).but_for(move |portrait| {
        portrait.without_recovery();
        if is_noisy {
            portrait.without_link_samples();
        }
    }))
}

/// A change to what a hop begins with: each key that a change can set for both directions as they are.
fn as_it_begins(hop: &Table, random: &mut Random) -> Table {
    let up = tables(hop, "up")
        .first()
        .map(|up| (*up).clone())
        .unwrap_or_default();
    let mut change = Table::new();
    for key in ["rate", "rtt", "buffer", "loss", "queue"] {
        let has_own = matches!(key, "rate" | "loss" | "queue");
        if let Some(value) = hop.get(key)
            && (has_own || !up.contains_key(key))
            && (key == "rtt" || random.flag())
        {
            change.insert(key.to_owned(), value.clone());
            if let Some(other) = up.get(key) {
                change.insert(format!("up_{key}"), other.clone());
            }
            if let Some(delay) = up.get("delay").filter(|_| key == "rtt") {
                change.insert("up_delay".to_owned(), delay.clone());
            }
        }
    }
    if !up.contains_key("jitter") && random.flag() {
        let none = Table::from_iter([("model".to_owned(), Value::String("none".to_owned()))]);
        let jitter = match model(hop, "jitter") {
            Some(_) => hop["jitter"].clone(),
            None => Value::Table(none),
        };
        change.insert("jitter".to_owned(), jitter);
    }
    change
}

/// A change to another loss, discipline and rate, where a change at the same time says what they are.
fn other(change: &Table) -> Table {
    let drop_tail = Table::from_iter([("model".to_owned(), "drop-tail".into())]);
    let others = [
        ("at", change["at"].clone()),
        ("loss", "100 %".into()),
        ("queue", Value::Table(drop_tail)),
        ("rate", "7 Mbps".into()),
    ];
    let others = others.map(|(key, value)| (key.to_owned(), value));
    (others.into_iter())
        .filter(|(key, _)| change.contains_key(key))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn a_change_that_is_taken_back_at_once_is_none() {
        let path = "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"20 %\" }\nqueue = { model = \"pie\" }";
        let case = Case::new(&download("cubic", path, ""));
        let undone = (0..20).filter(|seed| {
            let twin = twin(&case, &mut Random::new(*seed)).unwrap();
            holds(&twin, &case);
            twin.table.to_string().contains("100 %")
        });
        assert!(undone.count() > 0);
    }

    #[test]
    fn it_finds_a_change_of_one_bit_per_second() {
        let case = Case::new(&download("cubic", "", ""));
        let mut same = twin(&case, &mut Random::new(1)).unwrap();
        holds(&same, &case);
        let changes = same.table["path"]["change"].as_array_mut().unwrap();
        changes[0]
            .as_table_mut()
            .unwrap()
            .insert("rate".to_owned(), "9999999 bps".into());
        changes[0]
            .as_table_mut()
            .unwrap()
            .insert("at".to_owned(), "1 ms".into());
        assert!(is_found(&same, &case));
    }
}
