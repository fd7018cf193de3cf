//! `[[traffic]]`: sources of cross traffic.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::Direction;
use crate::scenario::schema::{self, From, ScenarioFile};
use crate::scenario::traffic::{Course, TrafficSpec};
use crate::scenario::{Clock, trace_files};
use std::sync::Arc;
use thalweg_units::{Bytes, Duration, Rate};

/// Largest rate of a source.
const MOST_RATE: Rate = Rate::from_bits_per_sec(1_000_000_000_000);
/// Sizes of packets, headers included: the size of IPv4 with an empty UDP datagram, and the largest.
const PACKETS: std::ops::RangeInclusive<u64> = 28..=65_535;
/// Least mean time of being on or off.
const LEAST_MEAN: Duration = Duration::from_micros(100);
/// Least length of a bin.
const LEAST_BIN: Duration = Duration::from_micros(10);

impl Checker<'_> {
    /// The sources of a scenario.
    pub(super) fn sources(&self, file: &ScenarioFile) -> Result<Vec<TrafficSpec>, ScenarioError> {
        if let (Clock::Real(_), false) = (self.clock, file.traffic.is_empty()) {
            let problem = "[[traffic]] cannot be combined with real time; use a flow with controller = \"cbr:rate=3Mbps\"";
            return self.fail("traffic", problem);
        }
        let sources = file.traffic.iter().enumerate();
        sources
            .map(|(index, traffic)| self.source(index, traffic, file))
            .collect()
    }

    fn source(
        &self,
        index: usize,
        given: &schema::Traffic,
        file: &ScenarioFile,
    ) -> Result<TrafficSpec, ScenarioError> {
        let table = format!("traffic.{index}");
        let key = |name: &str| format!("{table}.{name}");
        if !PACKETS.contains(&given.packet.as_u64()) {
            let problem = format!(
                "\"{}\" is not a size of a packet; accepted: \"{} B\" to \"{} B\", with headers",
                given.packet,
                PACKETS.start(),
                PACKETS.end()
            );
            return self.fail(&key("packet"), problem);
        }
        if let Some(rate) = given
            .rate
            .filter(|rate| rate.is_zero() || *rate > MOST_RATE)
        {
            let problem =
                format!("\"{rate}\" is out of range; accepted: above \"0 bps\", up to \"1 Tbps\"");
            return self.fail(&key("rate"), problem);
        }
        Ok(TrafficSpec {
            name: given.name.to_string(),
            tunnel: given.tunnel.as_deref().map(str::to_owned),
            breaker: match given.circuit_breaker.as_deref() {
                Some(breaker) => Some(self.breaker_of(&key("circuit_breaker"), breaker, None)?),
                None => None,
            },
            start: given.start,
            packet: given.packet,
            route: self.route_of(&table, &given.name, given.route.as_deref(), file)?,
            direction: match given.from {
                From::Server => Direction::Down,
                From::Client => Direction::Up,
            },
            course: match (&given.profile, given.rate) {
                (Some(profile), _) => self.profile(&table, given, profile)?,
                (None, Some(rate)) => self.constant(&table, given, rate)?,
                (None, None) => {
                    let accepted = "rate = \"3 Mbps\", or profile = \"FILE\"";
                    let problem = format!("is missing; accepted: {accepted}");
                    return self.fail(&key("rate"), problem);
                }
            },
        })
    }

    /// A constant rate, at given or random times.
    fn constant(
        &self,
        table: &str,
        given: &schema::Traffic,
        rate: Rate,
    ) -> Result<Course, ScenarioError> {
        let key = |name: &str| format!("{table}.{name}");
        for (name, is_given) in [("bin", given.bin.is_some()), ("repeat", given.repeat)] {
            if is_given {
                let problem = format!("{name} requires a profile; a constant rate has no bins");
                return self.fail(&key(name), problem);
            }
        }
        let (mean_on, mean_off) = match (given.mean_on, given.mean_off) {
            (Some(on), Some(off)) => (on, off),
            (None, None) => return self.windows(table, given, rate),
            (Some(_), None) => {
                let problem = "mean_on requires mean_off: how long it is off, on average";
                return self.fail(&key("mean_on"), problem);
            }
            (None, Some(_)) => {
                let problem = "mean_off requires mean_on: how long it is on, on average";
                return self.fail(&key("mean_off"), problem);
            }
        };
        if given.on.is_some() {
            let problem = "on cannot be combined with mean_on; times are given, or drawn";
            return self.fail(&key("on"), problem);
        }
        for (name, mean) in [("mean_on", mean_on), ("mean_off", mean_off)] {
            if mean < LEAST_MEAN {
                let problem =
                    format!("\"{mean}\" is too short; accepted: \"{LEAST_MEAN}\" or more");
                return self.fail(&key(name), problem);
            }
        }
        Ok(Course::Random {
            rate,
            mean_on,
            mean_off,
        })
    }

    fn windows(
        &self,
        table: &str,
        given: &schema::Traffic,
        rate: Rate,
    ) -> Result<Course, ScenarioError> {
        let on = match &given.on {
            Some(windows) => self.times(&format!("{table}.on"), windows)?,
            None => vec![(Duration::ZERO, Duration::MAX)],
        };
        Ok(Course::Windows { rate, on })
    }

    /// Beginnings and ends of spans of time, each of which ends after it begins, and begins no earlier than the one before
    /// ends.
    pub(super) fn times(
        &self,
        key: &str,
        spans: &[Vec<Duration>],
    ) -> Result<Vec<(Duration, Duration)>, ScenarioError> {
        let accepted = "accepted: beginnings and ends in the order of time, such as [[\"0 s\", \"40 s\"], [\"60 s\", \"80 s\"]]";
        let mut times = Vec::new();
        let mut last = Duration::ZERO;
        for span in spans {
            let [from, until] = span[..] else {
                let count = span.len();
                let problem = format!("there is a list of {count} times; {accepted}");
                return self.fail(key, problem);
            };
            if from >= until || from < last {
                let problem = format!("[\"{from}\", \"{until}\"] is out of order; {accepted}");
                return self.fail(key, problem);
            }
            last = until;
            times.push((from, until));
        }
        if times.is_empty() {
            return self.fail(key, format!("the list is empty; {accepted}"));
        }
        Ok(times)
    }

    fn profile(
        &self,
        table: &str,
        given: &schema::Traffic,
        text: &str,
    ) -> Result<Course, ScenarioError> {
        let key = |name: &str| format!("{table}.{name}");
        for (name, is_given) in [
            ("on", given.on.is_some()),
            ("mean_on", given.mean_on.is_some()),
            ("mean_off", given.mean_off.is_some()),
        ] {
            if is_given {
                let problem = format!(
                    "{name} cannot be combined with profile; bins without bytes are times at which it is off"
                );
                return self.fail(&key(name), problem);
            }
        }
        let read = trace_files::parse_profile(text, given.bin);
        let profile = match read {
            Ok(profile) => profile,
            Err(problem) => return self.fail(&key("profile"), problem),
        };
        if given.bin.is_some_and(|bin| bin < LEAST_BIN) {
            let problem = format!(
                "\"{}\" is too short; accepted: \"{LEAST_BIN}\" or more",
                given.bin.unwrap_or_default()
            );
            return self.fail(&key("bin"), problem);
        }
        if profile.bytes() == 0 {
            let problem = "all bins are empty; accepted: a profile with bytes in it";
            return self.fail(&key("profile"), problem);
        }
        let profile = match given.rate {
            Some(rate) => profile.scaled_to(rate),
            None => profile,
        };
        let most = u128::from(MOST_RATE.as_bits_per_sec());
        if profile.peak() > most {
            let problem = format!(
                "a bin has a rate of {} Gbps; accepted: at most \"{MOST_RATE}\"",
                profile.peak() / 1_000_000_000
            );
            return self.fail(&key("profile"), problem);
        }
        Ok(Course::Profile {
            profile: Arc::new(profile),
            repeat: given.repeat,
        })
    }

    /// Bytes of all sources on a hop in one direction until the end.
    pub(super) fn traffic_on(
        sources: &[TrafficSpec],
        hop: usize,
        direction: Direction,
        end: Duration,
    ) -> u128 {
        (sources.iter())
            .filter(|source| source.direction == direction && source.route.contains(&hop))
            .map(|source| source.most(end))
            .sum()
    }
}

/// The smallest packet of all sources, if there are any.
pub(super) fn smallest_packet(sources: &[TrafficSpec]) -> Option<Bytes> {
    sources.iter().map(|source| source.packet).min()
}
