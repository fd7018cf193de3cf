//! A buffer whose limit no packet met may be any larger.
//!
//! **Exact**, where no packet was dropped for want of room or for a limit that shrank.

use super::document::{hops_mut, set, tables_mut};
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_path::DropCause;

pub(super) const RELATION: Relation = Relation {
    name: "larger_buffer",
    how: How::Twin(twin),
};

fn twin(case: &Case, _: &mut Random) -> Option<Twin> {
    let is_full = |cause| matches!(cause, DropCause::Full | DropCause::Shrunk);
    let never_full = !case
        .portrait
        .trace
        .drops
        .iter()
        .any(|row| is_full(row.cause));
    // The trace of a trial has the drops that were seen until its last event.
    let logged = case.portrait.trace.drops.len() as u64;
    let counted: u64 = case
        .portrait
        .outcome
        .links
        .iter()
        .map(|link| link.dropped_packets + link.lost_packets)
        .sum();
    (never_full && logged == counted).then(|| unlimited(case))
}

/// The twin without limits.
fn unlimited(case: &Case) -> Twin {
    let mut table = case.table.clone();
    for hop in hops_mut(&mut table) {
        set(hop, "buffer", "unlimited");
        for other in tables_mut(hop, "up") {
            other.remove("buffer");
        }
        for change in tables_mut(hop, "change") {
            change.remove("buffer");
        }
    }
    Twin::same(table)
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_buffer_that_was_full() {
        let roomy = Case::new(&download("cubic", "buffer = \"300 packets\"", ""));
        holds(&twin(&roomy, &mut Random::new(1)).unwrap(), &roomy);
        let full = Case::new(&download("cubic", "buffer = \"5 packets\"", ""));
        assert!(twin(&full, &mut Random::new(1)).is_none());
        assert!(is_found(&unlimited(&full), &full));
    }
}
