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
mod trace;

use crate::transmission_time::NANOBITS_PER_BYTE;
use crate::{JitterConfig, Limit, LinkConfig};
use course::Period;
pub(crate) use course::{Course, Departure, Position, Unfinished, whole_bytes};
pub(crate) use noise::Noise;
pub use noise::NoiseConfig;
use thalweg_units::{Bytes, Duration, Instant, Rate};
use trace::Slot;
pub use trace::{DeliveryTrace, TraceError};

#[cfg(test)]
mod tests;

/// Everything about a link that changes with time, in order, without noise.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacitySchedule {
    /// Never empty; the first one starts at zero and the starts increase.
    settings: Vec<Settings>,
    jitters: Vec<JitterConfig>,
    period: Option<Period>,
    least_delay: Duration,
    trace: Option<DeliveryTrace>,
}

/// The settings of a link during one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// Start, counted from the start of the cycle.
    offset: Duration,
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    pub(crate) limit: Limit,
    /// Index into the list of jitter models.
    pub(crate) jitter: usize,
}

/// A stretch of constant rate and delay.
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
    /// The schedule that a link with this configuration follows.
    pub fn new(config: &LinkConfig) -> Self {
        let length = config.repeat.filter(|length| !length.is_zero());
        let mut changes: Vec<_> = config
            .changes
            .iter()
            .filter(|change| length.is_none_or(|end| change.at < end))
            .collect();
        changes.sort_by_key(|change| change.at);

        let mut jitters = vec![config.jitter.clone()];
        let mut current = Settings {
            offset: Duration::ZERO,
            rate: config.rate,
            delay: config.delay,
            limit: config.limit,
            jitter: 0,
        };
        let mut settings = vec![current];
        for change in changes {
            current.offset = change.at;
            current.rate = change.rate.unwrap_or(current.rate);
            current.delay = change.delay.unwrap_or(current.delay);
            current.limit = change.limit.unwrap_or(current.limit);
            if let Some(jitter) = &change.jitter {
                // Those that come again soon are kept once; a search among all would be slow for thousands.
                let known = jitters.iter().rev().take(16);
                let again = known.zip(1..).find(|(known, _)| *known == jitter);
                current.jitter = match again {
                    Some((_, back)) => jitters.len() - back,
                    None => {
                        jitters.push(jitter.clone());
                        jitters.len() - 1
                    }
                };
            }
            // Several changes of one time are one segment.
            if settings
                .last()
                .is_some_and(|last| last.offset == current.offset)
            {
                settings.pop();
            }
            settings.push(current);
        }

        let least_delay = settings
            .iter()
            .map(|s| s.delay)
            .min()
            .unwrap_or(config.delay);
        let mut schedule = CapacitySchedule {
            settings,
            jitters,
            period: None,
            least_delay,
            trace: config.trace.clone(),
        };
        schedule.period = length.map(|length| schedule.period(length));
        schedule
    }

    fn period(&self, length: Duration) -> Period {
        let mut period = Period {
            length,
            work: 0,
            active: Duration::ZERO,
        };
        let ends = self.settings[1..]
            .iter()
            .map(|next| next.offset)
            .chain([length]);
        for (segment, end) in self.settings.iter().zip(ends) {
            let span = end - segment.offset;
            period.work += u128::from(segment.rate.as_bits_per_sec()) * u128::from(span.as_nanos());
            if !segment.rate.is_zero() {
                period.active += span;
            }
        }
        period
    }

    pub(crate) fn jitters(&self) -> &[JitterConfig] {
        &self.jitters
    }

    /// The course of a link that follows this schedule.
    #[inline]
    pub(crate) fn course<'a>(&'a self, noise: Option<&'a Noise>) -> Course<'a> {
        Course {
            schedule: self,
            noise,
        }
    }

    /// Settings number `index`.
    #[inline]
    pub(crate) fn settings(&self, index: usize) -> &Settings {
        &self.settings[index]
    }

    /// The rate by which limits in time and delays are reckoned: that of the settings, or the mean of the
    /// trace.
    #[inline]
    pub(crate) fn nominal(&self, index: usize) -> Rate {
        match &self.trace {
            None => self.settings[index].rate,
            Some(trace) => trace.mean_rate(),
        }
    }

    fn segments_per_cycle(&self) -> usize {
        self.settings.len()
    }

    /// When segment `index` of the cycle that started at `cycle` ends; never for the last one.
    fn segment_end(&self, index: usize, cycle: Instant) -> Instant {
        match (self.settings.get(index + 1), self.period) {
            (Some(next), _) => cycle + next.offset,
            (None, Some(period)) => cycle + period.length,
            (None, None) => Instant::NEVER,
        }
    }

    /// The segment after this one, which ends.
    fn segment_after(&self, index: usize, cycle: Instant) -> (usize, Instant) {
        if index + 1 < self.settings.len() {
            (index + 1, cycle)
        } else {
            (0, self.segment_end(index, cycle))
        }
    }

    /// The segment that holds at `at`, and the start of its cycle.
    fn segment_at(&self, at: Instant) -> (usize, Instant) {
        let (cycle, offset) = match self.period {
            Some(Period { length, .. }) => {
                let offset = at.as_nanos() % length.as_nanos();
                (
                    Instant::from_nanos(at.as_nanos() - offset),
                    Duration::from_nanos(offset),
                )
            }
            None => (Instant::START, at - Instant::START),
        };
        // The first segment starts at offset zero: the partition point is at least one.
        let index = self
            .settings
            .partition_point(|segment| segment.offset <= offset)
            - 1;
        (index, cycle)
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

    /// Propagation delay at `at`, without jitter.
    pub fn delay_at(&self, at: Instant) -> Duration {
        self.settings(self.segment_at(at).0).delay
    }

    /// When the last of `amount` leaves if the link sends nothing else from `start` on; `None` if the
    /// capacity does not suffice before the end of time.
    pub fn time_to_send(&self, amount: Bytes, start: Instant) -> Option<Instant> {
        if amount.is_zero() {
            return Some(start);
        }
        let work = u128::from(amount.as_u64()) * u128::from(NANOBITS_PER_BYTE);
        let course = self.course(None);
        let end = course.depart(course.position_at(start), start, work).at;
        (end != Instant::NEVER).then_some(end)
    }

    /// From when on the capacity is zero for ever; `None` if it never is.
    pub fn ends(&self) -> Option<Instant> {
        if self.trace.is_some() {
            return None;
        }
        if let Some(period) = self.period {
            return (period.work == 0).then_some(Instant::START);
        }
        let dead = self.settings.iter().rev();
        let first = dead.take_while(|settings| settings.rate.is_zero()).last()?;
        Some(Instant::START + first.offset)
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
