//! Who looks at a trial does not change it: the trace, the series, the auditor and the log of packets.
//!
//! **Exact.** Without an observer the event loop takes short cuts; with one it does not.

use super::document::set_duration;
use super::{Applied, Case, Checked, How, Relation};
use crate::failure::{Failure, require};
use crate::random::Random;
use crate::watch::Watch;
use thalweg_sim::{Outcome, Progress, Watch as Passing, run_trials, run_watched};
use thalweg_units::{Duration, Instant};

pub(super) const RELATION: Relation = Relation {
    name: "observers",
    how: How::Runs(check),
};

fn check(case: &Case, random: &mut Random, watch: &Watch) -> Checked {
    let end = case.portrait.outcome.end.as_nanos();
    let mut seen = vec![("traced", Some(case.portrait.outcome.clone()))];
    let only = |progress: &Progress, scenario| {
        run_trials(scenario, &[case.seed], 1, progress)
            .pop()
            .map(|trial| trial.outcome)
    };
    let plain = only(&watch.stage("trial"), &case.scenario);
    let progress = watch.stage_with("audited trial", Progress::audited());
    let audited = only(&progress, &case.scenario);
    if let Some(finding) = progress.finding.get() {
        return Err(Failure::new("audit", finding.to_string()));
    }
    seen.push(("audited", audited));
    let mut table = case.table.clone();
    let least = (case.scenario.time_limit().as_nanos() / 1000).max(1_000_000);
    set_duration(
        &mut table,
        "sample",
        Duration::from_nanos(random.magnitude(least, 10 * least)),
    );
    if let Some(scenario) = case.read_other(&table) {
        seen.push((
            "with series",
            only(&watch.stage("trial with series"), &scenario),
        ));
    }
    let from = Instant::from_nanos(random.below(end + 1));
    let most = random.magnitude(1, 100_000) as usize;
    let progress = watch.stage("trial with passages");
    let watched = run_watched(&case.scenario, case.seed, Passing { from, most }, &progress);
    seen.push((
        "with passages",
        watched.map(|(finished, _)| finished.outcome),
    ));
    let Some(plain) = plain else {
        return Ok(Applied::Not);
    };
    let bare = |outcome: Outcome| {
        let outcome = Outcome {
            events: 0,
            series: None,
            ..outcome
        };
        format!("{outcome:?}")
    };
    let plain = bare(plain);
    for (how, outcome) in seen {
        let Some(outcome) = outcome else {
            return Ok(Applied::Not);
        };
        let outcome = bare(outcome);
        require(outcome == plain, "observers", || {
            format!("{how} {outcome}, plainly {plain}")
        })?;
    }
    Ok(Applied::Held)
}

#[cfg(test)]
mod tests {
    use super::super::broken::{self, download};
    use super::*;

    #[test]
    fn it_finds_a_controller_that_changes_when_it_is_observed() {
        let run = |case: &Case| check(case, &mut Random::new(1), &Watch::default());
        let shy = Case::with_registry(&download("shy", "", ""), broken::registry());
        assert!(run(&shy).is_err());
        assert_eq!(
            run(&Case::new(&download("cubic", "", ""))).unwrap(),
            Applied::Held
        );
    }
}
