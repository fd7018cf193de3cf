//! What stations sense of the others' frames, and what they know of them when they end.

use super::station::Phase;
use super::{Wifi, members};
use thalweg_units::Instant;

impl Wifi {
    /// Finds out what a station has sensed that did not count slots.
    pub(super) fn sense(&mut self, number: usize) {
        let station = &self.stations[number];
        if station.counts() {
            return;
        }
        let mut quiet = station.quiet;
        if station.phase == Phase::Idle {
            let heard = members(station.hears | 1 << number).map(|one| self.stations[one].left);
            quiet = heard.fold(quiet, Instant::max);
        }
        let senses = self.sending & station.hears != 0;
        let station = &mut self.stations[number];
        station.quiet = quiet;
        station.free = match senses {
            true => Instant::NEVER,
            false => quiet.max(station.left).max(station.resumes),
        };
    }

    /// Those that heard a frame, which has ended, wait for the acknowledgement that it announces, or longer if they saw it
    /// begin and could not read it (EIFS). Who sent meanwhile has not seen it, nor has who heard another at its beginning.
    pub(super) fn read(&mut self, number: usize, now: Instant, until: Instant) {
        let sender = &self.stations[number];
        let (hears, overlaps, hides) = (sender.hears, sender.overlaps, sender.hides);
        if overlaps == 0 {
            return;
        }
        for other in members(hears & !overlaps) {
            let other = &mut self.stations[other];
            if overlaps & other.garbles == 0 {
                other.quiet = other.quiet.max(until);
            } else if hides & other.garbles == 0 {
                other.late = other.late.max(now + self.airtime.extension);
            }
        }
    }
}
