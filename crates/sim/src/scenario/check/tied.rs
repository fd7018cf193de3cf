//! Changes of a path that follow a state of a controller.

use super::Checker;
use super::link::Propagation;
use crate::scenario::criterion::watch::Entry;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Direction, PerDirection, Tied};
use crate::scenario::schema::{self, ScenarioFile, When};
use thalweg_units::{Bytes, Rate};

impl Checker<'_> {
    /// The tied changes of one hop, whose key in the file is `table`.
    pub(super) fn tied(
        &self,
        table: &str,
        path: &schema::Path,
        file: &ScenarioFile,
        packet: Bytes,
    ) -> Result<Vec<Tied>, ScenarioError> {
        let mut tied = Vec::new();
        for (index, change) in path.change.iter().enumerate() {
            let Some(when) = &change.when else { continue };
            let key = format!("{table}.change.{index}");
            if path.repeat.is_some() {
                let problem = format!("cannot be combined with {table}.repeat");
                return self.fail(&format!("{key}.when"), problem);
            }
            if path.trace.is_some() || path.up.as_ref().is_some_and(|up| up.trace.is_some()) {
                let problem = "cannot be combined with a trace, which gives the whole capacity";
                return self.fail(&format!("{key}.when"), problem);
            }
            if file.allow_unseeded {
                let problem = "cannot be combined with allow_unseeded: the time of the change is found by running the trial before";
                return self.fail(&format!("{key}.when"), problem);
            }
            let entry = self.entry(&format!("{key}.when"), when, file)?;
            let of = |direction: Direction| {
                let rate = change.up_rate.filter(|_| direction == Direction::Up);
                let at_start = (path.up.as_ref())
                    .and_then(|up| up.rate)
                    .filter(|_| direction == Direction::Up)
                    .or(path.rate);
                let rate = rate.or(change.rate).or(at_start).unwrap_or(Rate::ZERO);
                let rtt = Propagation::of(path).after(change).round_trip();
                self.change(&key, change, (rate, rtt), (direction, packet, path.reorder))
            };
            tied.push(Tied {
                entry,
                changes: PerDirection {
                    down: of(Direction::Down)?,
                    up: of(Direction::Up)?,
                },
            });
        }
        Ok(tied)
    }

    /// The entry that a change follows.
    fn entry(&self, key: &str, when: &When, file: &ScenarioFile) -> Result<Entry, ScenarioError> {
        let flow = self.flow_named(&format!("{key}.flow"), &when.flow, file)?;
        self.check_watched(key, flow, file)?;
        self.check_state(&format!("{key}.enters"), &when.enters, flow, file)?;
        if when.entry == 0 {
            let problem = "0 is not an entry; the first one is 1";
            return self.fail(&format!("{key}.entry"), problem);
        }
        Ok(Entry {
            flow,
            state: when.enters.clone(),
            number: when.entry,
        })
    }

    /// A controller is watched in virtual time, and where its flow is one connection.
    pub(super) fn check_watched(
        &self,
        key: &str,
        flow: usize,
        file: &ScenarioFile,
    ) -> Result<(), ScenarioError> {
        let name = &file.flow[flow].name;
        if matches!(self.clock, crate::Clock::Real(_)) {
            return self.fail(key, "a state of a controller requires virtual time");
        }
        if file.flow[flow].requests.is_some() {
            let problem = format!(
                "a state of a controller requires a flow of one connection; flow \"{name}\" has requests"
            );
            return self.fail(key, problem);
        }
        Ok(())
    }
}
