//! A schedule that repeats, written out: the changes of each period one after the other, and a delivery trace twice in place of
//! once.
//!
//! **Exact**, but for the time that a call takes to recover from a change: the start of a period is a change when it is written.
//! There is no claim where a period begins with what no change can say, a buffer or jitter of only one direction, or where it
//! changes a loss or a discipline that draws: each part of a schedule has draws of its own, which a period shares with the next.

use super::document::{
    duration, has_noise, hops, hops_mut, no_loss, repeats_draws, set, set_duration, tables,
};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "written_out",
    how: How::Twin(twin),
};

/// Most changes that are written.
const MOST: u64 = 3000;

fn twin(case: &Case, _: &mut Random) -> Option<Twin> {
    let mut table = case.table.clone();
    let mut any = false;
    for (hop, original) in hops_mut(&mut table).into_iter().zip(hops(&case.table)) {
        if hop.contains_key("repeat") {
            write_out(hop, case.portrait.outcome.end)?;
            any = true;
        }
        any |= double(hop);
        if let Some(up) = hop.get_mut("up").and_then(Value::as_table_mut) {
            any |= double(up);
        }
        debug_assert_eq!(hop.get("rtt"), original.get("rtt"));
    }
    let is_noisy = has_noise(&case.table);
    any.then(|| {
        Twin::same(table).but_for(move |portrait| {
            portrait.without_recovery();
            if is_noisy {
                portrait.without_link_samples();
            }
            portrait.without_last_transmission(); // it may end where nothing is written out
        })
    })
}

/// All changes until `end`.
fn write_out(hop: &mut Table, end: Duration) -> Option<()> {
    let period = duration(hop, "repeat")?;
    if repeats_draws(hop, "loss") || repeats_draws(hop, "queue") {
        return None;
    }
    let first: Vec<Table> = tables(hop, "change").into_iter().cloned().collect();
    let periods = end.as_nanos() / period.as_nanos() + 1;
    if periods * (first.len() as u64 + 1) > MOST {
        return None;
    }
    let start = start_of_period(hop, &first)?;
    let mut all = Vec::new();
    for number in 0..periods {
        let begin = period * number;
        if number > 0 {
            let mut start = start.clone();
            set_duration(&mut start, "at", begin);
            all.push(start);
        }
        for change in &first {
            let mut change = change.clone();
            let at = duration(&change, "at")?;
            set_duration(&mut change, "at", begin + at);
            all.push(change);
        }
    }
    hop.remove("repeat");
    let all = all.into_iter().map(Value::Table).collect();
    hop.insert("change".to_owned(), Value::Array(all));
    Some(())
}

/// The change to what a period begins with.
fn start_of_period(hop: &Table, changes: &[Table]) -> Option<Table> {
    let up = tables(hop, "up")
        .first()
        .map(|up| (*up).clone())
        .unwrap_or_default();
    let mut start = Table::new();
    for key in ["rate", "rtt"] {
        start.insert(key.to_owned(), hop.get(key)?.clone());
    }
    for (key, own) in [("rate", "up_rate"), ("delay", "up_delay")] {
        if let Some(value) = up.get(key) {
            start.insert(own.to_owned(), value.clone());
        }
    }
    for key in ["buffer", "jitter"] {
        if !changes.iter().any(|change| change.contains_key(key)) {
            continue;
        }
        if up.contains_key(key) {
            return None;
        }
        let default = match key {
            "buffer" => Value::String("1 bdp".to_owned()),
            _ => Value::Table(Table::from_iter([("model".to_owned(), "none".into())])),
        };
        start.insert(key.to_owned(), hop.get(key).cloned().unwrap_or(default));
    }
    // A loss of 0 % would draw.
    let drop_tail = Value::Table(Table::from_iter([("model".to_owned(), "drop-tail".into())]));
    for (key, default) in [("loss", no_loss()), ("queue", drop_tail)] {
        let up_key = format!("up_{key}");
        if !(changes.iter()).any(|change| change.contains_key(key) || change.contains_key(&up_key))
        {
            continue;
        }
        let down = hop.get(key).cloned().unwrap_or(default);
        let up = up.get(key).cloned().unwrap_or_else(|| down.clone());
        start.insert(key.to_owned(), down);
        start.insert(up_key, up);
    }
    Some(start)
}

/// A delivery trace twice.
fn double(table: &mut Table) -> bool {
    let text = table
        .get("trace")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let Some(numbers) = text.as_deref().and_then(|text| text.strip_prefix("ms:")) else {
        return false;
    };
    let times: Vec<u64> = numbers
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let period = times.last().copied().unwrap_or(0);
    let twice = times
        .iter()
        .copied()
        .chain(times.iter().map(|time| time + period));
    let words: Vec<String> = twice.map(|time| time.to_string()).collect();
    set(table, "trace", format!("ms: {}", words.join(" ")));
    true
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_period_that_does_not_begin_anew() {
        let path = "repeat = \"100 ms\"\n[[path.change]]\nat = \"50 ms\"\nrate = \"3 Mbps\"";
        let case = Case::new(&download("cubic", path, ""));
        let mut written = twin(&case, &mut Random::new(1)).unwrap();
        holds(&written, &case);
        let changes = written.table["path"]["change"].as_array_mut().unwrap();
        assert_eq!(changes[1]["at"].as_str(), Some("100000000 ns"));
        changes.remove(1);
        assert!(is_found(&written, &case));
    }

    #[test]
    fn it_finds_a_delivery_trace_whose_second_half_begins_too_early() {
        let text = download("cubic", "", "").replace(
            "rate = \"10 Mbps\"",
            "trace = \"ms: 1 1 4\"\nbuffer = \"unlimited\"",
        );
        let case = Case::new(&text);
        let mut written = twin(&case, &mut Random::new(1)).unwrap();
        assert_eq!(
            written.table["path"]["trace"].as_str(),
            Some("ms: 1 1 4 5 5 8")
        );
        holds(&written, &case);
        let path = written.table["path"].as_table_mut().unwrap();
        set(path, "trace", "ms: 1 1 4 4 5 8");
        assert!(is_found(&written, &case));
    }
}
