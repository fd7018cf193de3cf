//! Propagation that moves from one hop to another, of all flows, changes nothing that the ends of a connection see.
//!
//! **Exact** for the ends, where all flows cross both hops, in one order, and no hop between or beside them depends on the time
//! at which packets come: queues then see the same arrivals earlier or later. There is no claim where two things happen in the
//! same nanosecond: which of them comes first may depend on how long each was on the last hop, and a trial may go on from
//! there in another way. Links are seen at other times, so their series and counts at the end are left out. (The two directions
//! of a hop share its RTT evenly; a scenario cannot move delay between them.)

use super::document::{
    depends_on_rtt, duration, hops, hops_mut, is_timeless, set_duration, tables,
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
    if route.len() < 2 || !alike || !all.iter().all(fixed) || has_ties(case) {
        return None;
    }
    let number = |name: &Value| all.iter().position(|hop| hop.get("name") == Some(name));
    let a = number(random.choose(route))?;
    let b = number(random.choose(route))?;
    // Half of it is the delay of each direction.
    let part = 2 * random.below(duration(all[a], "rtt")?.as_nanos() / 2 + 1);
    let even =
        |hop: &Table| duration(hop, "rtt").is_some_and(|rtt| rtt.as_nanos().is_multiple_of(2));
    (a != b && part > 0 && even(all[a]) && even(all[b])).then(|| moved(case, [a, b], part))
}

/// The twin with so many nanoseconds moved from one hop to another.
fn moved(case: &Case, [from, to]: [usize; 2], part: u64) -> Twin {
    let mut table = case.table.clone();
    let part = Duration::from_nanos(part);
    for (number, hop) in hops_mut(&mut table).into_iter().enumerate() {
        let rtt = duration(hop, "rtt").unwrap_or(Duration::ZERO);
        if number == from {
            set_duration(hop, "rtt", rtt - part);
        } else if number == to {
            set_duration(hop, "rtt", rtt + part);
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
        let mut other = moved(&case, [0, 1], 8_000_000);
        holds(&other, &case);
        set_duration(
            hops_mut(&mut other.table)[1],
            "rtt",
            Duration::from_millis(30),
        );
        assert!(is_found(&other, &case));
        let timed = Case::new(&two_hops(
            "",
            "[[link.change]]\nat = \"150 ms\"\nrate = \"3 Mbps\"",
        ));
        assert!(is_found(&moved(&timed, [0, 1], 8_000_000), &timed));
    }
}
