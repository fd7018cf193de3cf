//! When the packets of one direction arrived, as a receiver reports it with its ACK frames (draft-smith-quic-receive-ts
//! section 3).
//!
//! The receiver writes the times down, and the sender reads the time of a packet when an ACK frame acknowledges it: what
//! the frame would have carried, to the nanosecond. The bytes that the report takes are not counted; an ACK frame
//! keeps its size. The two share the notes, so that packets, which are copied all the time, do not grow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg_units::Instant;

/// The notes of a receiver, and the same for the sender who reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(Arc<Mutex<Notes>>);

/// Times of arrival by packet number, from the oldest that the sender may still ask for.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    base: u64,
    times: VecDeque<Instant>,
}

impl Arrivals {
    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    /// A packet has arrived.
    pub(crate) fn write(&mut self, number: u64, now: Instant) {
        let Some(position) = number.checked_sub(self.base) else {
            return; // the sender no longer knows it
        };
        let position = position as usize;
        if self.times.len() <= position {
            self.times.resize(position + 1, Instant::NEVER);
        }
        self.times[position] = now;
    }

    /// When it arrived.
    pub(crate) fn read(&self, number: u64) -> Option<Instant> {
        let position = number.checked_sub(self.base)?;
        let time = self.times.get(usize::try_from(position).ok()?)?;
        (*time != Instant::NEVER).then_some(*time)
    }

    /// Nobody will ask for packets below `number`.
    pub(crate) fn forget_below(&mut self, number: u64) {
        let gone = number.saturating_sub(self.base);
        let known = (gone as usize).min(self.times.len());
        self.times.drain(..known);
        self.base = self.base.max(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_until_it_is_forgotten_and_a_gap_has_none() {
        let at = |seconds| Instant::from_nanos(seconds * 1_000_000_000);
        let mut notes = Notes::default();
        for number in [0, 1, 5, 3] {
            notes.write(number, at(number + 1));
        }
        let read = |notes: &Notes| (0..7).map(|n| notes.read(n)).collect::<Vec<_>>();
        let expected = [Some(1), Some(2), None, Some(4), None, Some(6), None];
        assert_eq!(read(&notes), expected.map(|time| time.map(at)));
        notes.forget_below(4);
        notes.write(2, at(9));
        let expected = [None, None, None, None, None, Some(6), None];
        assert_eq!(read(&notes), expected.map(|time| time.map(at)));
        notes.forget_below(100);
        assert_eq!((notes.times.len(), notes.base), (0, 100));
    }
}
