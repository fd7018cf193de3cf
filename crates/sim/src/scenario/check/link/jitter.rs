//! What is wrong with the parameters of jitter.

use crate::scenario::schema::Jitter;
use thalweg_units::Duration;

/// Shortest interval between releases.
const SHORTEST: Duration = Duration::from_micros(10);

/// The problem, and what is accepted. `reorder` says whether packets of the link may overtake others.
pub(super) fn problem(jitter: &Jitter, reorder: bool) -> Option<String> {
    match *jitter {
        Jitter::Uniform { min, max } | Jitter::TruncatedNormal { min, max, .. } if min > max => {
            Some(format!(
                "min \"{min}\" is above max \"{max}\"; accepted: min <= max"
            ))
        }
        Jitter::Bursts { every }
        | Jitter::Wifi {
            every: Some(every), ..
        } if every < SHORTEST => Some(format!(
            "every \"{every}\" is too short; accepted: \"{SHORTEST}\" or more"
        )),
        Jitter::NrBpdv { .. } if reorder => Some(
            "\"nr-bpdv\" keeps the order of packets; it cannot be combined with reorder = true"
                .to_owned(),
        ),
        Jitter::NrBpdv {
            clip: Some(clip), ..
        } if !(0.001..=100.0).contains(&clip) => Some(format!(
            "clip {clip} is out of range; accepted: 0.001 to 100 standard deviations"
        )),
        Jitter::Reordering { .. } if !reorder => Some(
            "\"reordering\" has packets overtake others, which requires reorder = true".to_owned(),
        ),
        Jitter::Reordering { extent, .. } if !(1..=10_000).contains(&extent) => Some(format!(
            "extent {extent} is out of range; accepted: 1 to 10000 packets"
        )),
        _ => None,
    }
}
