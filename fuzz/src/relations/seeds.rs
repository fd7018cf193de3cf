//! Trials belong to their seeds, whichever trials run with them: blocks of seeds, on any number of threads, add up to the
//! whole.
//!
//! **Exact.** Outcomes, without traces: this is also the path of trials that nobody watches.

use super::{Applied, Case, Checked, How, Relation};
use crate::failure::require;
use crate::random::Random;
use crate::watch::Watch;
use thalweg_sim::{Outcome, run_trials};

pub(super) const RELATION: Relation = Relation {
    name: "seeds",
    how: How::Runs(check),
};

fn check(case: &Case, random: &mut Random, watch: &Watch) -> Checked {
    let seeds = [case.seed, random.any(), random.any(), case.seed];
    let cut = random.between(1, 3) as usize;
    if case.table.contains_key("sample") {
        return Ok(Applied::Not); // four series at once may be larger than a case may be
    }
    let play = |seeds: &[u64], jobs: usize| -> Option<Vec<Outcome>> {
        let progress = watch.stage("trials of several seeds");
        let trials = run_trials(&case.scenario, seeds, jobs, &progress);
        let whole = trials.len() == seeds.len();
        whole.then(|| trials.into_iter().map(|trial| trial.outcome).collect())
    };
    let Some(whole) = play(&seeds, 2) else {
        return Ok(Applied::Not);
    };
    let (Some(first), Some(rest)) = (play(&seeds[..cut], 1), play(&seeds[cut..], 1)) else {
        return Ok(Applied::Not);
    };
    let blocks = [first, rest].concat();
    for (index, (a, b)) in whole.iter().zip(&blocks).enumerate() {
        require(format!("{a:?}") == format!("{b:?}"), "seeds", || {
            format!(
                "seed {} of {seeds:?}: {a:?}, cut at {cut} {b:?}",
                seeds[index]
            )
        })?;
    }
    require(
        format!("{:?}", whole[0]) == format!("{:?}", whole[3]),
        "seeds",
        || format!("seed {} has two trials in one run", case.seed),
    )?;
    Ok(Applied::Held)
}

#[cfg(test)]
mod tests {
    use super::super::broken::{self, download};
    use super::*;

    #[test]
    fn it_finds_a_controller_that_remembers_earlier_trials() {
        let run = |case: &Case| check(case, &mut Random::new(1), &Watch::default());
        let leaky = Case::with_registry(&download("leaky", "", ""), broken::registry());
        assert!(run(&leaky).is_err());
        assert_eq!(
            run(&Case::new(&download("cubic", "", ""))).unwrap(),
            Applied::Held
        );
    }
}
