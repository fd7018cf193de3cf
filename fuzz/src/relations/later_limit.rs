//! A time limit that the trial does not reach may be any later time.
//!
//! **Exact**, where the trial ended before its limit.

use super::document::set_duration;
use super::{Case, How, Relation, Twin};
use crate::random::Random;
use thalweg_units::Duration;

pub(super) const RELATION: Relation = Relation {
    name: "later_limit",
    how: How::Twin(twin),
};

fn twin(case: &Case, random: &mut Random) -> Option<Twin> {
    let limit = case.scenario.time_limit();
    (case.portrait.outcome.end < limit).then(|| {
        let mut table = case.table.clone();
        let more = Duration::from_nanos(random.magnitude(1, 100_000_000_000));
        set_duration(&mut table, "time_limit", limit + more);
        Twin::same(table)
    })
}

#[cfg(test)]
mod tests {
    use super::super::broken::download;
    use super::super::{holds, is_found};
    use super::*;

    #[test]
    fn it_finds_a_limit_that_ends_the_trial() {
        let case = Case::new(&download("cubic", "", ""));
        let mut later = twin(&case, &mut Random::new(1)).unwrap();
        holds(&later, &case);
        set_duration(
            &mut later.table,
            "time_limit",
            case.portrait.outcome.end - Duration::from_nanos(1),
        );
        assert!(is_found(&later, &case));
    }
}
