//! The capacity of a link over time: the schedule, or a trace instead, and the noise on it.

use super::noise::Noise;
use super::period::Period;
use super::schedule::{CapacitySchedule, Settings};
use super::trace::Slot;
use crate::transmission_time::NANOBITS_PER_BYTE;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// A schedule and the noise on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course<'a> {
    pub(super) schedule: &'a CapacitySchedule,
    pub(super) noise: Option<&'a Noise>,
}

/// A stretch of constant settings and capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(super) index: usize,
    pub(super) cycle: Instant,
    slot: Option<Slot>,
    /// When the stretch ends; [`Instant::NEVER`] for the last one.
    pub(crate) until: Instant,
    /// Capacity, noise included.
    pub(crate) rate: Rate,
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
    /// Index of the settings that hold when the last bit leaves.
    pub(crate) index: usize,
}

/// A transmission whose end is not computed yet: noise has no periods to skip, so a slow link
/// would take millions of stretches in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// Time up to which it is computed, at the start of the stretch `position`.
    pub(crate) at: Instant,
    position: Position,
    /// Nanobits left to send then.
    work: u128,
    /// Time spent sending bits until then.
    pub(crate) busy: Duration,
}

/// Stretches per call: less than a millisecond's work.
pub(super) const STRETCHES: u32 = 1 << 12;

impl Position {
    /// Index of the settings.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Start of the cycle.
    pub(crate) fn cycle(&self) -> Instant {
        self.cycle
    }
}

impl<'a> Course<'a> {
    #[inline]
    pub(crate) fn settings(self, position: Position) -> &'a Settings {
        self.schedule.settings(position.index)
    }

    /// The stretch that holds at `at`.
    pub(crate) fn position_at(self, at: Instant) -> Position {
        let (index, cycle) = self.schedule.segment_at(at);
        let slot = self.schedule.trace.as_ref().map(|trace| trace.slot_at(at));
        self.position(index, cycle, slot, at)
    }

    /// The stretch that starts, or holds, at `at` in the given segment and slot.
    fn position(self, index: usize, cycle: Instant, slot: Option<Slot>, at: Instant) -> Position {
        let mut until = self.schedule.segment_end(index, cycle);
        let mut rate = self.schedule.settings(index).rate;
        if let (Some(slot), Some(trace)) = (slot, &self.schedule.trace) {
            until = until.min(trace.end(slot));
            rate = trace.rate(slot);
        }
        if let Some(noise) = self.noise
            && !rate.is_zero()
        {
            until = until.min(noise.until(at));
            rate = noise.rate(rate, self.schedule.nominal(index), at);
        }
        Position {
            index,
            cycle,
            slot,
            until,
            rate,
        }
    }

    /// The stretch after this one, if it ever ends.
    pub(crate) fn after(self, position: Position) -> Option<Position> {
        let Position {
            mut index,
            mut cycle,
            mut slot,
            until,
            ..
        } = position;
        if until == Instant::NEVER {
            return None;
        }
        if until == self.schedule.segment_end(index, cycle) {
            (index, cycle) = self.schedule.segment_after(index, cycle);
        }
        if let (Some(now), Some(trace)) = (slot, &self.schedule.trace)
            && until == trace.end(now)
        {
            slot = Some(trace.after(now));
        }
        Some(self.position(index, cycle, slot, until))
    }

    /// A time after or at `at`, in the stretch `position`, before which no bits move. It is the earliest
    /// such time unless noise takes all of the capacity.
    pub(crate) fn resumes(self, mut position: Position, mut at: Instant) -> Option<Instant> {
        if let (Some(slot), Some(trace)) = (position.slot, &self.schedule.trace)
            && position.rate.is_zero()
        {
            // Noise may remove part of the time of an opportunity.
            let is_closed = trace.rate(slot).is_zero();
            return Some(if is_closed {
                trace.end(slot)
            } else {
                position.until
            });
        }
        // One cycle plus one segment covers every segment.
        for _ in 0..=self.schedule.segments_per_cycle() {
            if !position.rate.is_zero() {
                return Some(at);
            }
            at = position.until;
            if !self.settings(position).rate.is_zero() {
                return Some(at);
            }
            position = self.after(position)?;
        }
        None
    }

    /// The end of a transmission of `work` nanobits that starts at `start`, in the stretch `position`,
    /// across any number of stretches.
    pub(crate) fn depart(self, position: Position, start: Instant, work: u128) -> Departure {
        let mut unfinished = Self::begin(position, start, work);
        loop {
            match self.go_on(unfinished) {
                Ok(departure) => return departure,
                Err(later) => unfinished = later,
            }
        }
    }

    /// A transmission of `work` nanobits that starts at `start`, in the stretch `position`.
    pub(crate) fn begin(position: Position, start: Instant, work: u128) -> Unfinished {
        Unfinished {
            at: start,
            position,
            work,
            busy: Duration::ZERO,
        }
    }

    /// The end of a transmission if it is within the next [`STRETCHES`]; otherwise its progress.
    #[inline(never)]
    pub(crate) fn go_on(self, transmission: Unfinished) -> Result<Departure, Unfinished> {
        let Unfinished {
            mut at,
            mut position,
            mut work,
            mut busy,
        } = transmission;
        let never = |busy, index| Departure {
            at: Instant::NEVER,
            busy,
            credit: 0,
            index,
        };
        for _ in 0..STRETCHES {
            let rate = u128::from(position.rate.as_bits_per_sec());
            let span = position.until - at;
            let able = rate * u128::from(span.as_nanos());
            if rate > 0 && work <= able {
                let nanos = work.div_ceil(rate);
                let last = Duration::from_nanos(nanos as u64);
                let credit = (nanos * rate - work) as u64;
                return Ok(Departure {
                    at: at + last,
                    busy: busy + last,
                    credit,
                    index: position.index,
                });
            }
            work -= able;
            busy += if rate > 0 { span } else { Duration::ZERO };
            at = position.until;
            let Some(next) = self.after(position) else {
                return Ok(never(busy, position.index));
            };
            position = next;
            if let Some(period) = self.starts_period(position, at) {
                if period.work == 0 {
                    return Ok(never(busy, position.index));
                }
                // Skips all whole periods that do not finish the work. Some work is left: otherwise
                // it would have finished above.
                let cycles = u64::try_from((work - 1) / period.work).unwrap_or(u64::MAX);
                if cycles > 0 {
                    work -= u128::from(cycles) * period.work;
                    busy += period.active * cycles;
                    at += period.length * cycles;
                    if at == Instant::NEVER {
                        return Ok(never(busy, position.index));
                    }
                    position = self.position_at(at);
                }
            }
        }
        Err(Unfinished {
            at,
            position,
            work,
            busy,
        })
    }

    /// Longest time between two calls of a busy link, so that each has at most [`STRETCHES`] of noise to process.
    pub(crate) fn patience(self) -> Duration {
        let noise = self.noise.map(Noise::every);
        noise.map_or(Duration::MAX, |every| every * u64::from(STRETCHES))
    }

    /// The period of the capacity, if one starts at `at`. Noise does not repeat.
    fn starts_period(self, position: Position, at: Instant) -> Option<Period> {
        if self.noise.is_some() {
            return None;
        }
        match (position.slot, &self.schedule.trace) {
            (Some(slot), Some(trace)) => (slot.cycle_start() == Some(at)).then(|| trace.whole()),
            _ => self.schedule.period.filter(|_| position.index == 0),
        }
    }

    /// The least delay of any packet at any time.
    #[inline]
    pub(crate) fn least_delay(self) -> Duration {
        let least = self.schedule.least_delay;
        self.noise
            .map_or(least, |noise| least - noise.largest_gain())
    }

    /// What can be sent from `from` to `to`, in nanobits.
    pub(crate) fn work_between(self, from: Instant, to: Instant) -> u128 {
        let mut position = self.position_at(from);
        let (mut at, mut work) = (from, 0u128);
        while at < to {
            let end = position.until.min(to);
            work += u128::from(position.rate.as_bits_per_sec()) * u128::from((end - at).as_nanos());
            at = end;
            match self.after(position) {
                Some(next) => position = next,
                None => break,
            }
            if let Some(period) = self.starts_period(position, at) {
                let cycles = (to - at).as_nanos() / period.length.as_nanos();
                if cycles > 0 {
                    work += period.work * u128::from(cycles);
                    at += period.length * cycles;
                    position = self.position_at(at);
                }
            }
        }
        work
    }

    /// How long the capacity is above zero from `from` to `to`.
    pub(crate) fn active_between(self, from: Instant, to: Instant) -> Duration {
        let mut position = self.position_at(from);
        let (mut at, mut active) = (from, Duration::ZERO);
        while at < to {
            let end = position.until.min(to);
            if !position.rate.is_zero() {
                active += end - at;
            }
            at = end;
            match self.after(position) {
                Some(next) => position = next,
                None => break,
            }
            if let Some(period) = self.starts_period(position, at) {
                let cycles = (to - at).as_nanos() / period.length.as_nanos();
                if cycles > 0 {
                    active += period.active * cycles;
                    at += period.length * cycles;
                    position = self.position_at(at);
                }
            }
        }
        active
    }

    /// What can be sent from `from` to `to`, truncated to whole bytes.
    pub(crate) fn bytes_between(self, from: Instant, to: Instant) -> Bytes {
        whole_bytes(self.work_between(from, to))
    }
}

/// Nanobits in whole bytes.
pub(crate) fn whole_bytes(work: u128) -> Bytes {
    Bytes::new(u64::try_from(work / u128::from(NANOBITS_PER_BYTE)).unwrap_or(u64::MAX))
}
