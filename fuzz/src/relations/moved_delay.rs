//! Propagation that moves from one hop to another, of all flows, changes nothing that the ends of a connection see.
//!
//! **Exact** for the ends, where all flows cross both hops, in one order, and no hop between or next to them depends on the time
//! at which packets come, nor a tape: queues then see the same arrivals earlier or later. There is no claim where two things happen in the
//! same nanosecond: which of them comes first may depend on how long each was on the last hop, and a trial may go on from
//! there in another way. Links are seen at other times, so their series and counts at the end are left out. Each direction moves
//! a part of its own.

use super::document::{
    delays, depends_on_rtt, has_tape, hops, hops_mut, is_timeless, set_delays, tables,
};
use super::order::has_ties;
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;
use toml::{Table, Value};

pub(super) const RELATION: Relation = Relation {
    name: "moved_delay",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let all = hops(&case.table);
    let flows = tables(&case.table, "flow");
    let route = flows.first()?.get("route")?.as_array()?;
    let alike = [flows.clone(), tables(&case.table, "traffic")]
        .concat()
        .iter()
        .all(|flow| flow.get("route").and_then(Value::as_array) == Some(route));
    let fixed = |hop: &&Table| is_timeless(hop) && !depends_on_rtt(hop);
    if has_tape(&case.table)
        || route.len() < 2
        || !alike
        || !all.iter().all(fixed)
        || has_ties(case)
    {
        return None;
    }
    let number = |name: &Value| all.iter().position(|hop| hop.get("name") == Some(name));
    let a = number(random.choose(route))?;
    let b = number(random.choose(route))?;
    let own = delays(all[a])?;
    let parts = own.map(|delay| Duration::from_nanos(random.below(delay.as_nanos() + 1)));
    (a != b && parts != [Duration::ZERO; 2]).then(|| moved(case, [a, b], parts))
}

/// The twin with these parts of its delays, down and up, moved from one hop to another.
fn moved(case: &Case, [from, to]: [usize; 2], parts: [Duration; 2]) -> Twin {
    let mut table = case.table.clone();
    for (number, hop) in hops_mut(&mut table).into_iter().enumerate() {
        let [down, up] = delays(hop).unwrap_or_default();
        if number == from {
            set_delays(hop, [down - parts[0], up - parts[1]]);
        } else if number == to {
            set_delays(hop, [down + parts[0], up + parts[1]]);
        }
    }
    Twin::same(table).but_for(super::Portrait::without_links)
}

#[cfg(test)]
mod tests {
    use super::super::broken::two_hops;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_delay_that_is_lost_and_a_hop_that_knows_the_time() {
        let case = Case::new(&two_hops("", ""));
        let ms = Duration::from_millis;
        let mut other = moved(&case, [0, 1], [ms(4), ms(10)]);
        holds(&other, &case);
        // 15 + 4 ms down and 15 + 10 ms up: the other way round is another path.
        assert_eq!(
            delays(hops_mut(&mut other.table)[1]),
            Some([ms(19), ms(25)])
        );
        set_delays(hops_mut(&mut other.table)[1], [ms(25), ms(19)]);
        assert!(is_found(&other, &case));
        let timed = Case::new(&two_hops(
            "",
            "[[link.change]]\nat = \"150 ms\"\nrate = \"3 Mbps\"",
        ));
        assert!(is_found(&moved(&timed, [0, 1], [ms(4); 2]), &timed));
    }
}
