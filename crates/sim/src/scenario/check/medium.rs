//! `medium`: the links of a hop share one.

use super::Checker;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema;
use thalweg_path::MediumConfig;
use thalweg_units::Duration;

/// More than this an access of no known link costs: a second.
const MOST_OVERHEAD: Duration = Duration::from_secs(1);
/// The most packets that an access carries: more than an aggregate of IEEE 802.11be has frames, 1024.
const MOST_PACKETS: u32 = 10_000;

impl Checker<'_> {
    /// The medium of the hop whose key in the file is `table`.
    pub(super) fn medium(
        &self,
        table: &str,
        path: &schema::Path,
    ) -> Result<Option<MediumConfig>, ScenarioError> {
        let Some(medium) = path.medium.as_deref() else {
            return Ok(None);
        };
        let key = format!("{table}.medium");
        let up = path.up.as_ref();
        let refused = if !matches!(self.clock, Clock::Virtual) {
            Some("real time, where each direction has a clock of its own")
        } else if path.noise.is_some() {
            Some("noise: what is sent is not known before its end")
        } else if path.trace.is_some() || up.is_some_and(|up| up.trace.is_some()) {
            Some("a trace, which has the opportunities of one direction; give a rate")
        } else {
            None
        };
        if let Some(other) = refused {
            return self.fail(&key, format!("cannot be combined with {other}"));
        }
        let schema::Medium::HalfDuplex { overhead, packets } = *medium;
        if overhead > MOST_OVERHEAD {
            let problem = format!(
                "overhead \"{overhead}\" is too long; accepted: at most \"{MOST_OVERHEAD}\""
            );
            return self.fail(&key, problem);
        }
        if !(1..=MOST_PACKETS).contains(&packets) {
            let problem = format!(
                "packets {packets} is out of range; accepted: 1 to {MOST_PACKETS} packets an access"
            );
            return self.fail(&key, problem);
        }
        Ok(Some(MediumConfig { overhead, packets }))
    }
}
