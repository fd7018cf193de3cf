//! A case: a scenario and its trial.

pub(crate) mod document;
pub(super) mod portrait;

use crate::trial::ORIGIN;
use crate::watch::Watch;
pub(super) use portrait::Portrait;
use thalweg_control::Registry;
use thalweg_sim::{Clock, Passages, Progress, Scenario, Watch as Window, run_traced, run_watched};
use thalweg_units::Instant;

/// A scenario, its seed, and the trial of both.
pub(crate) struct Case {
    pub(crate) table: toml::Table,
    pub(crate) seed: u64,
    pub(crate) scenario: Scenario,
    pub(crate) portrait: Portrait,
    registry: &'static Registry,
}

/// What came of a text.
pub(crate) enum Played {
    Whole(Box<Case>),
    Refused,
    Stopped,
}

impl Case {
    /// Reads a scenario and plays it with its trace.
    pub(crate) fn play(
        text: &[u8],
        seed: u64,
        registry: &'static Registry,
        watch: &Watch,
    ) -> Played {
        watch.stage("reading");
        let table = std::str::from_utf8(text).ok();
        let Some(table) = table.and_then(|text| toml::from_str(text).ok()) else {
            return Played::Refused;
        };
        let Some(scenario) = read(text, registry) else {
            return Played::Refused;
        };
        let Some(portrait) = portrait(&scenario, seed, watch) else {
            return Played::Stopped;
        };
        Played::Whole(Box::new(Case {
            table,
            seed,
            scenario,
            portrait,
            registry,
        }))
    }

    /// The trial of another scenario with the same seed; `None` if it was stopped, or if the scenario is refused, as one may
    /// be that is larger than this one.
    pub(crate) fn play_other(&self, table: &toml::Table, watch: &Watch) -> Option<Portrait> {
        let scenario = self.read_other(table)?;
        portrait(&scenario, self.seed, watch)
    }

    /// Every packet that passed a link in the trial of this case.
    pub(crate) fn passages(&self) -> Option<Passages> {
        let everything = Window {
            from: Instant::START,
            most: usize::MAX,
        };
        let found = run_watched(&self.scenario, self.seed, everything, &Progress::default());
        found.map(|(_, passages)| passages)
    }

    /// Another scenario with the controllers of this one.
    pub(crate) fn read_other(&self, table: &toml::Table) -> Option<Scenario> {
        read(toml::to_string(table).ok()?.as_bytes(), self.registry)
    }
}

fn read(text: &[u8], registry: &Registry) -> Option<Scenario> {
    Scenario::read(text, ORIGIN, &[], &[], Clock::Virtual, registry).ok()
}

fn portrait(scenario: &Scenario, seed: u64, watch: &Watch) -> Option<Portrait> {
    let progress = watch.stage("trial of a relation");
    let (finished, trace) = run_traced(scenario, seed, &progress)?;
    Some(Portrait::of(finished.outcome, trace))
}

#[cfg(test)]
impl Case {
    /// A case of a test, which must be valid.
    pub(crate) fn new(text: &str) -> Case {
        Case::with_registry(text, crate::registry::registry())
    }
    /// The same with controllers of one's own.
    pub(crate) fn with_registry(text: &str, registry: &'static Registry) -> Case {
        let sets = (&[], &[]);
        let read = Scenario::read(
            text.as_bytes(),
            ORIGIN,
            sets.0,
            sets.1,
            Clock::Virtual,
            registry,
        );
        if let Err(error) = read {
            panic!("{error}\n{text}");
        }
        match Case::play(text.as_bytes(), 1, registry, &Watch::default()) {
            Played::Whole(case) => *case,
            _ => panic!("the trial takes too long\n{text}"),
        }
    }
}
