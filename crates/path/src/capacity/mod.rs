//! Capacity over time: a piecewise constant schedule of rate, delay, jitter and limit, or a delivery trace
//! in place of the rates; and noise.
//!
//! The schedule is known in advance, so the end of a transmission is computed at its start, exactly,
//! across any number of changes and suspensions. Work is counted in nanobits (bit/s times ns).
//!
//! # Limits
//! A segment holds from its start to just before the next one. Rates are whole bits per second, times
//! whole nanoseconds; a transmission ends at the first whole nanosecond at which all bits are sent.

mod course;
mod noise;
mod period;
mod schedule;
mod trace;

use crate::transmission_time::NANOBITS_PER_BYTE;
pub(crate) use course::{Course, Departure, Position, Unfinished, whole_bytes};
pub(crate) use noise::Noise;
pub use noise::NoiseConfig;
pub use schedule::CapacitySchedule;
use thalweg_units::{Bytes, Duration, Instant, Rate};
pub use trace::{DeliveryTrace, TraceError};

#[cfg(test)]
mod tests;

/// A period of constant rate and delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When it starts. It ends when the next one starts.
    pub start: Instant,
    /// Capacity, zero if suspended.
    pub rate: Rate,
    /// Propagation delay without jitter.
    pub delay: Duration,
}

/// Iterator over the segments of a schedule. Endless if the schedule repeats.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    schedule: &'a CapacitySchedule,
    from: Instant,
    position: Option<Position>,
}

impl CapacitySchedule {
    /// The course of a link that follows this schedule.
    #[inline]
    pub(crate) fn course<'a>(&'a self, noise: Option<&'a Noise>) -> Course<'a> {
        Course {
            schedule: self,
            noise,
        }
    }

    /// The segments from `from` on. The first one starts at `from`.
    pub fn segments(&self, from: Instant) -> Segments<'_> {
        Segments {
            schedule: self,
            from,
            position: Some(self.course(None).position_at(from)),
        }
    }

    /// Capacity at `at`. A delivery trace has none between its opportunities.
    pub fn rate_at(&self, at: Instant) -> Rate {
        self.course(None).position_at(at).rate
    }

    /// How long the link takes from `at` on to carry `work` nanobits, with a delivery trace, whose opportunities are known.
    pub(crate) fn time_to_carry(&self, at: Instant, work: u128) -> Option<Duration> {
        let trace = self.trace.as_ref()?;
        Some(trace.time_to_carry(at, work))
    }

    /// When the last of `amount` has been sent if the link sends nothing else from `start` on; `None` if the
    /// capacity never suffices.
    pub fn time_to_send(&self, amount: Bytes, start: Instant) -> Option<Instant> {
        if amount.is_zero() {
            return Some(start);
        }
        let work = u128::from(amount.as_u64()) * u128::from(NANOBITS_PER_BYTE);
        let course = self.course(None);
        let end = course.depart(course.position_at(start), start, work).at;
        (end != Instant::NEVER).then_some(end)
    }

    /// What the link can send from `from` to `to`, truncated to whole bytes.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        self.course(None).bytes_between(from, to)
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;
    fn next(&mut self) -> Option<Segment> {
        let position = self.position?;
        let course = self.schedule.course(None);
        let segment = Segment {
            start: self.from,
            rate: position.rate,
            delay: course.settings(position).delay,
        };
        self.from = position.until;
        self.position = course.after(position);
        Some(segment)
    }
}
