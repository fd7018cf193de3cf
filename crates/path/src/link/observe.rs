//! Observing a link: totals, queue, capacity and logs.

use super::Link;
use crate::capacity::{CapacitySchedule, whole_bytes};
use crate::stats::{Count, Dropped, FlowLinkStats, LinkProgress, LinkStats, Transmitted};
use crate::store::{Slot, Store};
use crate::transmission_time::NANOBITS_PER_BYTE;
use crate::waits::Waits;
use crate::{Limit, Packet, Passage};
use thalweg_units::{Bytes, Duration, Instant, Rate};

impl<P: Packet> Link<P> {
    /// Whether [`Link::next`] is at most `now`.
    #[inline]
    pub fn is_due(&self, now: Instant) -> bool {
        let in_flight = self.flight.next();
        let is_first = in_flight.is_some() && self.last_arrival.is_some();
        let next = match is_first && self.noise.is_none() && self.underway.is_none() {
            true => in_flight,
            false => self.next(),
        };
        let is_due = next.is_some_and(|at| at <= now);
        debug_assert_eq!(is_due, self.next().is_some_and(|at| at <= now));
        is_due
    }

    /// Totals since the start, as of the last call that moved the link. Summed up over the flows on
    /// demand: only the flows count each packet.
    pub fn stats(&self) -> LinkStats {
        let mut stats = self.port.counters.totals();
        stats.busy = self.busy();
        let transmitter = &self.port.transmitter;
        if transmitter.is_sending() {
            // Its fate is counted already.
            let (until, drawn) = self.last_draw;
            if until == transmitter.until && stats.jitter_draws > 0 {
                stats.jitter_draws -= 1;
                stats.jitter_drawn -= drawn;
            }
        }
        stats
    }

    /// The totals that traces show, as of the last call that advanced the link, without a sum over the flows.
    pub fn progress(&self) -> &LinkProgress {
        &self.port.counters.progress
    }

    /// Totals of one flow; all zero for a flow without counters.
    pub fn flow_stats(&self, flow: u64) -> &FlowLinkStats {
        self.port.counters.flow(flow)
    }

    /// Counts from now on how long packets wait in the queue, for [`Link::wait`]: of each flow, from 0 on, with the others of its
    /// group, if it has one.
    pub fn count_waits(&mut self, groups: impl IntoIterator<Item = Option<u32>>) {
        self.port.counters.waits = Waits::new(groups);
    }

    /// The wait in the queue that this share of the packets of a group does not exceed, at most 0.8 % too large.
    pub fn wait(&self, group: usize, share: f64) -> Option<Duration> {
        self.port.counters.waits.percentile(group, share)
    }

    /// What the transmitter has done, as of the last call that moved the link: the nanoseconds in which it sent bits, or, with
    /// a delivery trace, the nanobits that it sent. Opportunities take no time that means anything.
    pub fn work_done(&self) -> u128 {
        let counters = &self.port.counters;
        if self.schedule.is_traced() {
            let taken = counters.progress.transmitted.as_u64();
            let work = u128::from(taken) * u128::from(NANOBITS_PER_BYTE);
            return work - u128::from(self.port.transmitter.left());
        }
        u128::from(self.busy().as_nanos())
    }

    /// The share of the time between two times in which the transmitter sent bits, or, with a delivery trace, of the bits of the
    /// opportunities between them; `before` is the [work](Link::work_done) done at the first, and the link has moved to the second.
    pub fn utilisation(&self, before: u128, from: Instant, to: Instant) -> f64 {
        let offered = match self.schedule.is_traced() {
            true => self.work_between(from, to),
            false => u128::from((to - from).as_nanos()),
        };
        match offered {
            0 => 0.0,
            // A transmission ends at the first whole nanosecond after its last bit.
            offered => (self.work_done().saturating_sub(before) as f64 / offered as f64).min(1.0),
        }
    }

    /// Time during which the transmitter sent bits.
    fn busy(&self) -> Duration {
        let mut busy = self.port.counters.link.busy;
        let transmitter = &self.port.transmitter;
        if let Some(underway) = &self.underway {
            busy += underway.transmission.busy;
        }
        if transmitter.is_sending() {
            // Its fate is counted already.
            busy -= (self.course()).active_between(transmitter.now, transmitter.until);
        }
        busy
    }

    /// What waits, as of the last call that moved the link, without the packet in transmission.
    pub fn queue(&self) -> Count {
        self.port.buffer.waiting
    }

    /// Number of packets that are being transmitted or travel.
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.underway.is_some()) + self.port.in_air
    }

    /// Whether its jitter keeps packets apart at any time, so that one may not arrive for a while after the last.
    pub fn keeps_apart(&self) -> bool {
        let least = Duration::from_nanos(1);
        self.jitters
            .iter()
            .any(|jitter| !jitter.spacing(least).is_zero())
    }

    /// Until when there is certainly a packet in flight whose arrival no packet that is pushed can precede, so that
    /// [`Link::next`] does not change by a push before; the start if that cannot be said. Not of a link that
    /// [keeps packets apart](Link::keeps_apart).
    #[inline]
    pub fn occupied_until(&self) -> Instant {
        match (self.last_arrival, &self.noise, &self.underway) {
            (Some(arrival), None, None) => arrival,
            _ => Instant::START,
        }
    }

    /// The least delay of any packet at any time, without its transmission.
    pub fn least_delay(&self) -> Duration {
        self.course().least_delay()
    }

    /// Time until everything here has been sent at the current capacity without noise, or at the rate of a shaper below it:
    /// the wait of a packet that arrives now. A delivery trace counts with its opportunities. [`Duration::MAX`] while
    /// packets wait in a suspended link.
    pub fn queue_delay(&self) -> Duration {
        let shaped = self.queue.shaped(self.queue());
        let (now, backlog) = (self.port.transmitter.now, self.port.backlog());
        match self.schedule.time_to_carry(now, backlog) {
            Some(carried) if shaped.is_none() => carried,
            Some(carried) => carried.max(self.port.drain_time(shaped)),
            None => self.port.drain_time(shaped),
        }
    }

    /// Capacity, as of the last call that moved the link: the capacity of the schedule, without noise, or the
    /// mean of a delivery trace. [`Link::capacity_between`] is the actual capacity.
    pub fn capacity(&self) -> Rate {
        self.port.transmitter.nominal
    }

    /// What the link can send from `from` to `to` if it is never idle, noise included, truncated to whole
    /// bytes. Any times, past or future.
    pub fn capacity_between(&self, from: Instant, to: Instant) -> Bytes {
        self.course().bytes_between(from, to)
    }

    /// The same in nanobits, exactly: a rate of one bit per second moves one in a nanosecond.
    pub fn work_between(&self, from: Instant, to: Instant) -> u128 {
        self.course().work_between(from, to)
    }

    /// The same from the start of `bins` on, in bins of length `every`; `None` as soon as `goes_on` says no. It is
    /// asked often enough for its answer to count within milliseconds.
    pub fn capacity_in_bins(
        &self,
        every: Duration,
        bins: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> Option<Vec<u64>> {
        let pause = self.course().patience();
        let (mut capacity, mut at) = (Vec::with_capacity(bins), Instant::START);
        for _ in 0..bins {
            let (end, mut work) = (at + every, 0);
            while at < end {
                let stop = end.min(at + pause);
                work += self.course().work_between(at, stop);
                at = stop;
                if !goes_on() {
                    return None;
                }
            }
            capacity.push(whole_bytes(work).as_u64());
        }
        Some(capacity)
    }

    /// What the link does at which time, without noise.
    pub fn schedule(&self) -> &CapacitySchedule {
        &self.schedule
    }

    /// Switches the log of drops on or off. It is off at first and then costs nothing.
    pub fn record_drops(&mut self, on: bool) {
        self.port.counters.record_drops(on);
    }

    /// Empties the log of drops, in the order in which they were decided.
    pub fn take_drops(&mut self) -> Vec<Dropped> {
        self.port.counters.take_drops()
    }

    /// Switches the log of passages on or off. It is off at first and then costs nothing.
    pub fn record_passages(&mut self, on: bool) {
        self.port.counters.record_passages(on);
    }

    /// Empties the log of passages, in the order in which fates were determined: of a packet that is dropped, when it is,
    /// of any other, when its transmission begins. It grows until it is emptied, and so do the slots of dropped packets.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        let log = self.port.counters.passages();
        let taken = log.map(|log| log.take()).unwrap_or_default();
        let named = taken.into_iter().map(|(slot, mut passage)| {
            if let Some(slot) = slot {
                passage.number = number_of(&mut self.store, slot);
                self.port.vacant.add(slot);
            }
            passage
        });
        named.collect()
    }

    /// The limit of the queue, as of the last call that moved the link.
    pub fn limit(&self) -> Limit {
        self.port.buffer.limit
    }

    /// Switches the log of transmissions on or off. It is off at first and then costs nothing.
    pub fn record_transmissions(&mut self, on: bool) {
        self.port.counters.record_transmissions(on);
    }

    /// Takes the oldest entry out of the log of transmissions, which has them in the order of their starts.
    pub fn take_transmission(&mut self) -> Option<Transmitted> {
        self.port.counters.take_transmission()
    }
}

/// The number of the packet in a slot, for logs.
pub(super) fn number_of<P: Packet>(store: &mut Store<P>, slot: Slot) -> u64 {
    store.get_mut(slot).map_or(0, |packet| packet.number())
}
