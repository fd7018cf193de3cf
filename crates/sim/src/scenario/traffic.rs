//! Cross traffic of a scenario: what a source sends, and into which links.

use super::breaker::BreakerSpec;
use super::hop::Direction;
use super::profile::Profile;
use std::sync::Arc;
use thalweg_units::{Bytes, Duration, Rate};

/// A source of cross traffic.
#[derive(Clone, Debug)]
pub(crate) struct TrafficSpec {
    /// Name, unique among traffic and flows.
    pub(crate) name: String,
    /// Name of the tunnel that carries it.
    pub(crate) tunnel: Option<String>,
    pub(crate) breaker: Option<BreakerSpec>,
    pub(crate) start: Duration,
    /// Size of its packets, with all headers.
    pub(crate) packet: Bytes,
    /// Indices of the hops that it crosses from server to client.
    pub(crate) route: Vec<usize>,
    pub(crate) direction: Direction,
    pub(crate) course: Course,
}

/// How the rate of a source goes on over time.
#[derive(Clone, Debug)]
pub(crate) enum Course {
    /// Constant from beginnings to ends, in order.
    Windows {
        rate: Rate,
        on: Vec<(Duration, Duration)>,
    },
    /// Constant while it is on, for exponential times with these means.
    Random {
        rate: Rate,
        mean_on: Duration,
        mean_off: Duration,
    },
    /// The rate of a profile, once or again and again.
    Profile { profile: Arc<Profile>, repeat: bool },
}

impl TrafficSpec {
    /// The most bytes that it sends in so long a time; of random times, if it is always on.
    pub(crate) fn most(&self, span: Duration) -> u128 {
        match &self.course {
            Course::Windows { rate, on } => (on.iter())
                .map(|(from, until)| rate.bytes_in((*until).min(span) - (*from).min(span)))
                .map(|bytes| u128::from(bytes.as_u64()))
                .sum(),
            Course::Random { rate, .. } => u128::from(rate.bytes_in(span).as_u64()),
            Course::Profile { profile, repeat } => {
                let periods = match repeat {
                    true => span.as_nanos() / profile.period().as_nanos().max(1) + 1,
                    false => 1,
                };
                profile.bytes() * u128::from(periods)
            }
        }
    }
}
