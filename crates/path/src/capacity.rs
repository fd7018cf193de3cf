//! Capacity over time: a piecewise constant schedule of rate, delay, jitter and limit.
//!
//! The schedule is known in advance, so the end of a transmission is computed at its start, exactly,
//! across any number of changes and suspensions. Work is counted in nanobits (bit/s times ns).
//!
//! # Limits
//! A segment holds from its start to just before the next one. Rates are whole bits per second, times
//! whole nanoseconds; a transmission ends at the first whole nanosecond at which all bits are sent.

use crate::delivery_trace::DeliveryTrace;
use crate::noise::Noise;
use crate::serialisation::NANOBITS_PER_BYTE;
use crate::{JitterConfig, Limit, LinkConfig};
use thalweg_units::{Bytes, Duration, Instant, Rate};

#[cfg(test)]
mod tests;

/// Everything about a link that changes with time, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacitySchedule {
    /// Never empty; the first one starts at zero and the starts increase.
    settings: Vec<Settings>,
    jitters: Vec<JitterConfig>,
    period: Option<Period>,
    least_delay: Duration,
    noise: Option<Noise>,
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

#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    length: Duration,
    /// Nanobits that can be sent in one period.
    work: u128,
    /// Time in one period with a rate above zero.
    active: Duration,
}

/// A place in the schedule: a segment of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    index: usize,
    cycle: Instant,
    /// When the segment ends, or the noise changes; [`Instant::NEVER`] for the last one.
    pub(crate) until: Instant,
    /// Capacity until then, noise included.
    pub(crate) rate: Rate,
    /// Propagation delay until then, noise included, without jitter.
    pub(crate) delay: Duration,
}

/// A transmission, computed in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// When the last bit leaves; never if the capacity stays zero.
    pub(crate) at: Instant,
    /// Time spent sending bits.
    pub(crate) busy: Duration,
    /// Nanobits left over from the last nanosecond.
    pub(crate) credit: u64,
    /// The segment in which the last bit leaves.
    pub(crate) position: Position,
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
    /// The schedule that a link with this configuration follows in the trial with seed `seed`.
    pub(crate) fn with_noise(config: &LinkConfig, seed: u64) -> Self {
        let mut schedule = CapacitySchedule::new(config);
        schedule.noise = config.noise.map(|noise| Noise::new(noise, seed));
        if let Some(noise) = &schedule.noise {
            schedule.least_delay -= noise.most_delay();
        }
        schedule
    }

    /// The schedule that a link with this configuration follows, without noise.
    pub fn new(config: &LinkConfig) -> Self {
        if let Some(trace) = &config.trace {
            return CapacitySchedule::of_trace(config, trace);
        }
        let length = config.repeat.filter(|length| !length.is_zero());
        let mut changes: Vec<_> = config
            .changes
            .iter()
            .filter(|change| length.is_none_or(|end| change.at < end))
            .collect();
        changes.sort_by_key(|change| change.at);

        let mut jitters = vec![config.jitter];
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
            if let Some(jitter) = change.jitter {
                current.jitter = jitters
                    .iter()
                    .position(|known| *known == jitter)
                    .unwrap_or_else(|| {
                        jitters.push(jitter);
                        jitters.len() - 1
                    });
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
            noise: None,
        };
        schedule.period = length.map(|length| schedule.period(length));
        schedule
    }

    /// The schedule of a delivery trace, which repeats for ever.
    fn of_trace(config: &LinkConfig, trace: &DeliveryTrace) -> Self {
        let settings = |(offset, rate)| Settings {
            offset,
            rate,
            delay: config.delay,
            limit: config.limit,
            jitter: 0,
        };
        let mut schedule = CapacitySchedule {
            settings: trace.segments().map(settings).collect(),
            jitters: vec![config.jitter],
            period: None,
            least_delay: config.delay,
            noise: None,
        };
        schedule.period = Some(schedule.period(trace.period()));
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

    /// No packet travels faster than this, at any time.
    #[inline]
    pub(crate) fn least_delay(&self) -> Duration {
        self.least_delay
    }

    #[inline]
    pub(crate) fn settings(&self, position: Position) -> &Settings {
        &self.settings[position.index]
    }

    /// When segment `index` of the cycle that began at `cycle` ends.
    #[inline]
    fn end(&self, index: usize, cycle: Instant) -> Instant {
        match (self.settings.get(index + 1), self.period) {
            (Some(next), _) => cycle + next.offset,
            (None, Some(period)) => cycle + period.length,
            (None, None) => Instant::NEVER,
        }
    }

    /// The place of time `at`, which lies in segment `index`.
    #[inline]
    fn position(&self, index: usize, cycle: Instant, at: Instant) -> Position {
        let Settings { rate, delay, .. } = self.settings[index];
        let mut position = Position {
            index,
            cycle,
            until: self.end(index, cycle),
            rate,
            delay,
        };
        // A suspended link is quiet: nothing would ever end its wait.
        if let Some(noise) = &self.noise
            && !rate.is_zero()
        {
            noise.disturb(&mut position, at);
        }
        position
    }

    /// The segment that holds at `at`.
    pub(crate) fn position_at(&self, at: Instant) -> Position {
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
        self.position(index, cycle, at)
    }

    /// The segment after this one, if it ever ends.
    pub(crate) fn after(&self, position: Position) -> Option<Position> {
        if position.until == Instant::NEVER {
            return None;
        }
        let (index, cycle, at) = (position.index, position.cycle, position.until);
        Some(if at < self.end(index, cycle) {
            self.position(index, cycle, at)
        } else if index + 1 < self.settings.len() {
            self.position(index + 1, cycle, at)
        } else {
            self.position(0, at, at)
        })
    }

    /// The earliest time, from `at` in the segment `position` on, at which bits move; with noise, a time
    /// before that.
    pub(crate) fn resumes(&self, mut position: Position, mut at: Instant) -> Option<Instant> {
        // One cycle and one segment more show every segment there is.
        for _ in 0..=self.settings.len() {
            if !position.rate.is_zero() {
                return Some(at);
            }
            at = position.until;
            position = self.after(position)?;
        }
        self.noise.is_some().then_some(at)
    }

    /// The end of a transmission of `work` nanobits that starts at `start`, in the segment `position`,
    /// across any number of segments.
    pub(crate) fn depart(
        &self,
        mut position: Position,
        start: Instant,
        mut work: u128,
    ) -> Departure {
        let mut at = start;
        let mut busy = Duration::ZERO;
        loop {
            let rate = u128::from(position.rate.as_bits_per_sec());
            let span = position.until - at;
            let able = rate * u128::from(span.as_nanos());
            if rate > 0 && work <= able {
                let nanos = work.div_ceil(rate);
                let last = Duration::from_nanos(nanos as u64);
                let credit = (nanos * rate - work) as u64;
                return Departure {
                    at: at + last,
                    busy: busy + last,
                    credit,
                    position,
                };
            }
            work -= able;
            busy += if rate > 0 { span } else { Duration::ZERO };
            at = position.until;
            let Some(next) = self.after(position) else {
                return Departure {
                    at: Instant::NEVER,
                    busy,
                    credit: 0,
                    position,
                };
            };
            position = next;
            if let (0, Some(period), None) = (position.index, self.period, &self.noise) {
                if period.work == 0 {
                    return Departure {
                        at: Instant::NEVER,
                        busy,
                        credit: 0,
                        position,
                    };
                }
                // Whole cycles that do not finish the work are skipped at once. Some work is left: it
                // would have been finished above.
                let cycles = u64::try_from((work - 1) / period.work).unwrap_or(u64::MAX);
                work -= u128::from(cycles) * period.work;
                busy += period.active * cycles;
                at += period.length * cycles;
                if at == Instant::NEVER {
                    return Departure {
                        at,
                        busy,
                        credit: 0,
                        position,
                    };
                }
                position = self.position(0, at, at);
            }
        }
    }

    /// The segments from `from` on. The first one starts at `from`.
    pub fn segments(&self, from: Instant) -> Segments<'_> {
        Segments {
            schedule: self,
            from,
            position: Some(self.position_at(from)),
        }
    }

    /// Capacity at `at`.
    pub fn rate_at(&self, at: Instant) -> Rate {
        self.position_at(at).rate
    }

    /// Propagation delay at `at`, without jitter.
    pub fn delay_at(&self, at: Instant) -> Duration {
        self.position_at(at).delay
    }

    /// When the last of `amount` leaves if the link sends nothing else from `start` on; `None` if the
    /// capacity does not suffice before the end of time.
    pub fn time_to_send(&self, amount: Bytes, start: Instant) -> Option<Instant> {
        if amount.is_zero() {
            return Some(start);
        }
        let work = u128::from(amount.as_u64()) * u128::from(NANOBITS_PER_BYTE);
        let end = self.depart(self.position_at(start), start, work).at;
        (end != Instant::NEVER).then_some(end)
    }

    /// What the link can send from `from` to `to`, truncated to whole bytes.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> Bytes {
        let mut position = self.position_at(from);
        let (mut at, mut work) = (from, 0u128);
        while at < to {
            let end = position.until.min(to);
            let rate = position.rate.as_bits_per_sec();
            work += u128::from(rate) * u128::from((end - at).as_nanos());
            at = end;
            match self.after(position) {
                Some(next) => position = next,
                None => break,
            }
        }
        Bytes::new(u64::try_from(work / u128::from(NANOBITS_PER_BYTE)).unwrap_or(u64::MAX))
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;
    fn next(&mut self) -> Option<Segment> {
        let position = self.position?;
        let Position { rate, delay, .. } = position;
        let segment = Segment {
            start: self.from,
            rate,
            delay,
        };
        self.from = position.until;
        self.position = self.schedule.after(position);
        Some(segment)
    }
}
