//! A flow that would start after the end changes nothing.
//!
//! **Exact**, but for what is defined over all flows: their overlap, their shares and Jain's index. A trial of one connection
//! has short cuts that a trial of several has not, so this compares both ways of the event loop too. There is no claim with
//! cross traffic, whose sources are numbered after the flows.

use super::document::{set, set_duration, tables};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use crate::values;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "idle_flow",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let start = case.scenario.time_limit() + Duration::from_nanos(random.magnitude(1, 1_000_000));
    beside(case, start, random)
}

/// The twin with one more flow that starts at `start`.
fn beside(case: &Case, start: Duration, random: &mut Random) -> Option<Twin> {
    if case.table.contains_key("traffic") {
        return None;
    }
    let mut idle = Table::new();
    set(&mut idle, "name", "idle");
    let real = random.percent(30);
    set(&mut idle, "controller", values::controller(random, real));
    if real {
        set(&mut idle, "stack", "quic");
    }
    set_duration(&mut idle, "start", start);
    set(&mut idle, "download", "1 MB");
    idle.insert("background".to_owned(), Value::Boolean(true));
    if let Some(route) = tables(&case.table, "flow").first()?.get("route") {
        idle.insert("route".to_owned(), route.clone());
    }
    let mut table = case.table.clone();
    let flows = table.get_mut("flow")?.as_array_mut()?;
    let count = flows.len();
    flows.push(Value::Table(idle));
    Some(Twin::same(table).but_for(move |portrait| {
        portrait.without_sharing();
        portrait.outcome.flows.truncate(count);
        portrait.without_name("idle");
    }))
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_flow_that_starts_before_the_end() {
        let case = Case::new(&download("cubic", "", ""));
        let after = beside(&case, case.scenario.time_limit() * 2, &mut Random::new(1)).unwrap();
        holds(&after, &case);
        let before = beside(&case, case.portrait.outcome.end / 2, &mut Random::new(1)).unwrap();
        assert!(is_found(&before, &case));
    }
}
