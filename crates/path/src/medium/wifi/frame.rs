//! What the ends send: packets leave the queue of a link for a frame, and arrive with it or are given up.

use super::Wifi;
use super::station::Source;
use crate::buffer::Queued;
use crate::{Link, Packet};
use thalweg_units::{Duration, Instant};

/// What an end sends in an access.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) packets: Vec<Queued>,
    bits: u64,
    /// Its first attempt.
    begun: Instant,
}

impl Wifi {
    /// The frame that a station sends at `now`: how long it takes. None if it has none.
    pub(super) fn frame<P: Packet>(
        &mut self,
        number: usize,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) -> Option<Duration> {
        let station = &mut self.stations[number];
        let side = match station.source {
            Source::Neighbour { airtime, .. } => return Some(airtime),
            Source::Link(side) => side,
        };
        let (link, frame) = (&mut links[side], &mut self.frames[side]);
        link.advance(now);
        let rate = link.rate();
        if rate.is_zero() {
            return None;
        }
        let rate = self.airtime.rate(rate, station.failures);
        if frame.packets.is_empty() {
            let room = self.airtime.room(rate);
            (frame.bits, frame.begun) = (0, now);
            while frame.packets.len() < self.packets as usize
                && (frame.packets.is_empty() || frame.bits < room)
                && let Some(queued) = link.take()
            {
                frame.bits = frame.bits.saturating_add(self.airtime.bits(queued.size));
                frame.packets.push(queued);
            }
            if frame.packets.is_empty() {
                return None;
            }
        }
        let is_aggregate = frame.packets.len() > 1;
        station.acknowledgement = self.airtime.acknowledgement(is_aggregate, rate);
        Some(self.airtime.frame(frame.bits, rate))
    }

    /// A frame has ended at `now`.
    pub(super) fn occupy<P: Packet>(
        &mut self,
        number: usize,
        now: Instant,
        links: &mut [Link<P>; 2],
    ) {
        let station = &self.stations[number];
        if let Source::Link(side) = station.source {
            links[side].occupy(now - station.began);
        }
    }

    /// The packets of a frame have arrived at `now`, or are given up.
    pub(super) fn land<P: Packet>(
        &mut self,
        number: usize,
        now: Instant,
        is_received: bool,
        links: &mut [Link<P>; 2],
    ) {
        let Source::Link(side) = self.stations[number].source else {
            return;
        };
        links[side].advance(now);
        let frame = &mut self.frames[side];
        for queued in frame.packets.drain(..) {
            links[side].land(&queued, frame.begun, now, is_received);
        }
    }
}
