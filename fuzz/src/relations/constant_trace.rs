//! A measured series of one delay is that much more propagation: jitter from a constant trace of `d` in both directions, or only
//! from client to server, or `d` more delay there.
//!
//! **Exact** for the ends of connections; links count the delay as jitter in the one case and as propagation in the other.
//! Nothing is claimed where the path has jitter or noise, whose sum with the delay is cut at zero, or changes at a time, or
//! where two links deliver in the same nanosecond: which of them is first depends on when they knew of it. (A delivery trace in
//! place of a rate is not the same: it delivers in the last microsecond of each millisecond. How far it is from the rate is
//! in [`super::in_distribution`].)

use super::document::{delays, depends_on_rtt, directions, hops_mut, set, set_delays};
use super::order::has_ties;
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "constant_trace",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let mut table = case.table.clone();
    let mut hops = hops_mut(&mut table);
    let index = random.below(hops.len() as u64) as usize;
    let hop = hops.get_mut(index)?;
    let varies = |table: &&Table| table.contains_key("jitter") || table.contains_key("noise");
    if directions(hop).iter().any(varies)
        || hop.contains_key("change")
        || depends_on_rtt(hop)
        || has_ties(case)
    {
        return None;
    }
    let ([down, up], only_up) = (delays(hop)?, random.flag());
    let whole = if only_up { up } else { up.min(down) };
    let delay = random.below(whole.as_micros() + 1);
    if delay == 0 {
        return None;
    }
    let part = Duration::from_micros(delay);
    let left = if only_up { down } else { down - part };
    set_delays(hop, [left, up - part]);
    let mut jitter = Table::new();
    set(&mut jitter, "model", "trace");
    set(
        &mut jitter,
        "file",
        format!("us: 0 {delay} {} {delay}", random.magnitude(1, 1_000_000)),
    );
    let held = if only_up {
        hop.get_mut("up")?.as_table_mut()?
    } else {
        hop
    };
    held.insert("jitter".to_owned(), Value::Table(jitter));
    Some(Twin::same(table).but_for(super::Portrait::without_links))
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_microsecond() {
        let case = Case::new(&download("cubic", "buffer = \"50 packets\"", ""));
        let mut constant = twin(&case, &mut Random::new(1)).unwrap();
        holds(&constant, &case);
        let path = constant.table["path"].as_table_mut().unwrap();
        let [down, up] = delays(path).unwrap();
        set_delays(path, [down, up + Duration::from_micros(1)]);
        assert!(is_found(&constant, &case));
    }
}
