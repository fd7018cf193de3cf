//! One direction of one hop: policer, queue, transmitter, loss, delay and jitter.
//!
//! # Model
//! The transmitter takes a packet from the queue discipline as soon as it is free and the capacity is
//! above zero, and sends its bits at the capacity of the moment. The whole fate of the packet is settled
//! when its transmission starts, because the schedule is known: when its last bit leaves, whether it is
//! lost, how long it travels. Delay and jitter are those in force when the last bit leaves.
//! A queue discipline drops or marks what it will when it is asked for a packet, or when one comes.
//!
//! Capacity is a schedule of rates or a delivery trace, with or without noise; the noise, too, is known in
//! advance, because its draws are functions of time. Limits in time and [`Link::capacity`] go by the capacity
//! without noise, and by the mean of a trace.
//!
//! Decisions of the queue are replayed in order of time: `push` and `pop` first do everything that should
//! have happened until `now`. Within one instant, a change of the schedule comes before the transmitter
//! takes a packet, and both come before a packet that is pushed.
//!
//! # Units
//! Integer nanoseconds. A transmission ends at the first whole nanosecond after its last bit; what is left
//! of that nanosecond is credited to the next packet if it already waits, so a busy link runs exactly at
//! its rate.
//!
//! # When the capacity changes
//! picoquic's `sim_link.c` submits every packet that is not yet in the air again at the time of the
//! change. The same holds here for waiting packets: they leave at the new rate, with the new delay and
//! jitter, and those at the tail that exceed a limit in time at the new capacity are dropped. Two things
//! differ on purpose:
//! - The packet in transmission goes on: bits that were sent stay sent. A restart would cost up to one
//!   packet of capacity per change, which ruins links whose capacity changes every millisecond.
//! - A packet whose last bit has left is in the air and keeps its arrival, however large its jitter. The
//!   reference takes packets back whose jitter has not yet passed.

use crate::buffer::{Buffer, Queued};
use crate::capacity::{
    CapacitySchedule, Course, Departure, Noise, Position, Unfinished, whole_bytes,
};
use crate::flight::{Flight, Flying};
use crate::jitter::Jitter;
use crate::loss::Loss;
use crate::policer::Policer;
use crate::queue::{Discipline, Queue};
use crate::random::stream;
use crate::serialisation::{Serialisation, nanobits};
use crate::stats::{Count, DropCause, Dropped, FlowLinkStats, LinkStats, Transmitted};
use crate::store::Store;
use crate::{LinkConfig, Packet};
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

#[cfg(test)]
mod bounded_calls;
#[cfg(test)]
mod tests;

/// One direction of one hop.
#[derive(Debug)]
pub struct Link<P> {
    schedule: CapacitySchedule,
    noise: Option<Box<Noise>>,
    position: Position,
    policer: Option<Policer>,
    store: Store<P>,
    queue: Queue,
    buffer: Buffer,
    serialisation: Serialisation,
    /// The transmission under way, as long as noise and a low capacity leave its end unknown.
    underway: Option<Box<Underway>>,
    loss: Loss,
    /// One model for each that the schedule knows.
    jitters: Vec<Jitter>,
    jitter_rng: Pcg64Mcg,
    flight: Flight,
    /// Arrival of the last packet, on a link that keeps the order.
    last_arrival: Option<Instant>,
}

/// A packet in transmission whose fate is not settled yet.
#[derive(Debug)]
struct Underway {
    queued: Queued,
    /// When it began.
    start: Instant,
    transmission: Unfinished,
}

impl<P: Packet> Link<P> {
    /// An empty link at the start of a trial. `flows` is the number of flows, from 0 on, that have their
    /// own counters.
    pub fn new(config: &LinkConfig, seed: u64, flows: usize) -> Self {
        let schedule = CapacitySchedule::new(config);
        let noise = config
            .noise
            .and_then(|noise| Noise::new(&noise, seed))
            .map(Box::new);
        let position = schedule
            .course(noise.as_deref())
            .position_at(Instant::START);
        let nominal = schedule.nominal(position.index());
        let limit = schedule.settings(position.index()).limit;
        Link {
            noise,
            position,
            policer: config.policer.map(Policer::new),
            store: Store::new(),
            queue: Queue::new(&config.queue, seed),
            buffer: Buffer::new(position.rate, nominal, limit, flows),
            serialisation: Serialisation::default(),
            underway: None,
            loss: Loss::new(&config.loss, seed),
            jitters: schedule.jitters().iter().map(Jitter::new).collect(),
            jitter_rng: stream(seed, "jitter"),
            flight: Flight::new(config.reorder),
            last_arrival: (!config.reorder).then_some(Instant::START),
            schedule,
        }
    }

    /// Hands a packet to the link. A `now` before an earlier call counts as the time of that call.
    #[inline(always)] // so that the packet is copied once, from where it was made to its place
    pub fn push(&mut self, now: Instant, packet: P) {
        // Before anything else, so that nothing stands between the making of the packet and its place.
        let (flow, size, ecn) = (packet.flow(), packet.size(), packet.ecn());
        let place = self.store.put(packet, self.buffer.vacant.pop());
        self.advance(now);
        self.buffer.arrive(flow, size);
        let queued = Queued {
            place,
            arrived: self.buffer.now,
            size,
            flow,
            ecn,
        };
        let queued = match &mut self.policer {
            None => queued,
            Some(policer) => match policer.pass(queued, &mut self.buffer) {
                None => return,
                Some(queued) => queued,
            },
        };
        self.queue.enqueue(queued, &mut self.buffer);
        if !self.buffer.is_transmitting() && !self.buffer.rate.is_zero() {
            self.transmit(self.buffer.now);
        }
        self.buffer.note_length();
    }

    /// The next packet that has arrived by `now`. Call it until it returns `None`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        self.arrive(now)?.take()
    }

    /// Like [`Link::pop`], but the packet stays where it is: it can be looked at there, or taken, until
    /// something is pushed.
    #[inline]
    pub fn arrive(&mut self, now: Instant) -> Option<&mut Option<P>> {
        self.advance(now);
        if self.flight.next().is_none_or(|arrival| arrival > now) {
            return None;
        }
        let Flying { place, jitter, .. } = self.flight.pop()?;
        self.buffer.vacant.push(place);
        let slot = self.store.slot(place)?;
        let packet = slot.as_ref()?;
        self.buffer
            .counters
            .delivered(packet.flow(), packet.size(), jitter);
        Some(slot)
    }

    /// The earliest time at which [`Link::pop`] may return a packet; `None` if it never will unless
    /// something is pushed. Exact for a link that keeps the order, unless the packet in transmission is
    /// lost while nothing is in flight, the queue discipline drops what waits, noise takes the capacity, or a
    /// busy link with noise would have too much to catch up with.
    #[inline(always)] // it is asked for with each packet
    pub fn next(&self) -> Option<Instant> {
        let mut earliest = self.flight.next();
        // Without reordering nothing that waits overtakes what flies.
        let is_first = earliest.is_some() && self.last_arrival.is_some();
        if !is_first && self.buffer.waiting.packets > 0 {
            let next = [earliest, self.next_transmission()];
            earliest = next.into_iter().flatten().min();
        }
        if self.noise.is_some() || self.underway.is_some() {
            earliest = self.before_too_late(earliest);
        }
        earliest.filter(|at| *at != Instant::NEVER)
    }

    /// `earliest`, or an earlier time at which a busy link wants to catch up with its noise: no call shall have to
    /// go through an unbounded number of stretches.
    #[inline(never)]
    fn before_too_late(&self, earliest: Option<Instant>) -> Option<Instant> {
        let computed = self
            .underway
            .as_ref()
            .map(|_| self.buffer.transmission.until);
        let earliest = [earliest, computed].into_iter().flatten().min()?;
        let busy = self.buffer.waiting.packets > 0 || self.buffer.is_transmitting();
        let patience = if busy {
            self.course().patience()
        } else {
            Duration::MAX
        };
        Some(earliest.min(self.buffer.now + patience))
    }

    /// A bound on the arrival of the next packet that is taken from the queue.
    #[inline(never)]
    fn next_transmission(&self) -> Option<Instant> {
        let free = if self.buffer.is_transmitting() {
            Some(self.buffer.transmission.until)
        } else {
            self.course().resumes(self.position, self.buffer.now)
        };
        free.map(|at| at + self.course().least_delay())
    }

    /// Does everything that should have happened by `now`. [`Link::push`] and [`Link::pop`] do this by
    /// themselves; traces call it before they look.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        let transmits = self.buffer.waiting.packets > 0 && self.buffer.transmission.until <= now;
        if transmits || self.position.until <= now {
            self.catch_up(now);
        }
        self.buffer.now = self.buffer.now.max(now);
    }

    /// Changes the settings and starts transmissions in order of time, until `now`.
    #[inline(never)] // so that a call that finds nothing to do is short
    fn catch_up(&mut self, now: Instant) {
        loop {
            let free = self.buffer.transmission.until;
            let takes = self.buffer.waiting.packets > 0 && !self.buffer.rate.is_zero();
            let changes = self.position.until;
            if free <= now.min(changes)
                && let Some(underway) = self.underway.take()
            {
                self.go_on(underway.queued, underway.start, underway.transmission);
            } else if changes <= now && changes != Instant::NEVER && (!takes || changes <= free) {
                self.change(now);
            } else if takes && free <= now {
                self.transmit(free);
            } else {
                break;
            }
        }
    }

    /// Enters the next stretch of the schedule; on an idle link the one that holds at `now`, because a
    /// trace or noise may have a thousand of them in a second.
    #[inline(never)]
    fn change(&mut self, now: Instant) {
        self.buffer.settle(self.position.until);
        let idle = self.buffer.waiting.packets == 0 && !self.buffer.is_transmitting();
        let next = if idle {
            self.buffer.settle(now);
            self.course().position_at(now)
        } else {
            match self.course().after(self.position) {
                Some(next) => next,
                None => return,
            }
        };
        self.position = next;
        let nominal = self.schedule.nominal(next.index());
        let limit = self.schedule.settings(next.index()).limit;
        self.buffer.rate = next.rate;
        if (self.buffer.nominal, self.buffer.limit) != (nominal, limit) {
            self.buffer.nominal = nominal;
            self.buffer.limit = limit;
            self.queue.shed(&mut self.buffer);
        }
    }

    #[inline]
    fn course(&self) -> Course<'_> {
        self.schedule.course(self.noise.as_deref())
    }

    /// Starts the transmission of the packet that the queue chooses at `start`, and settles its fate.
    #[inline]
    fn transmit(&mut self, start: Instant) {
        self.buffer.now = start;
        let Some(queued) = self.queue.dequeue(&mut self.buffer) else {
            return;
        };
        self.buffer.depart(&queued);
        if queued.ecn == Ecn::Ce
            && let Some(packet) = self.store.get_mut(queued.place)
        {
            packet.set_ecn(Ecn::Ce);
        }
        let size = queued.size;
        let transmission = &mut self.buffer.transmission;
        let credit = transmission.credit;
        transmission.size = size;
        transmission.left = nanobits(size).saturating_sub(credit);
        transmission.since = start;
        // All but a few transmissions end in the segment in which they start.
        if let Some((nanos, credit)) = self.serialisation.of(self.buffer.rate, size, credit)
            && nanos <= (self.position.until - start).as_nanos()
        {
            let busy = Duration::from_nanos(nanos);
            let departure = Departure {
                at: start + busy,
                busy,
                credit,
                index: self.position.index(),
            };
            self.settle(&queued, start, departure);
        } else {
            let work = u128::from(nanobits(size).saturating_sub(credit));
            self.go_on(queued, start, Course::begin(self.position, start, work));
        }
    }

    /// Computes the end of a transmission across changes of the capacity, and settles the fate of its packet;
    /// later, if that takes too long.
    #[inline(never)]
    fn go_on(&mut self, queued: Queued, start: Instant, transmission: Unfinished) {
        match self.course().go_on(transmission) {
            Ok(mut departure) => {
                // What the packet before left of a nanosecond, beyond the needs of this one.
                let spare = self.buffer.transmission.credit;
                departure.credit += spare.saturating_sub(nanobits(queued.size));
                self.settle(&queued, start, departure);
            }
            Err(transmission) => {
                self.buffer.transmission.until = transmission.at;
                self.underway = Some(Box::new(Underway {
                    queued,
                    start,
                    transmission,
                }));
            }
        }
    }

    /// Settles the fate of a packet whose first bit left at `start` and whose last one leaves at a known time.
    #[inline(always)] // so that the departure of nearly every packet stays in registers
    fn settle(&mut self, queued: &Queued, start: Instant, departure: Departure) {
        let Queued {
            place, flow, size, ..
        } = *queued;
        self.buffer.transmission.until = departure.at;
        self.buffer.transmission.credit = departure.credit;
        let settings = self.schedule.settings(departure.index);
        let delay = match &self.noise {
            None => settings.delay,
            Some(noise) => noise.delay(settings.delay, departure.at),
        };
        let jitter = &self.jitters[settings.jitter];
        let stats = &mut self.buffer.counters.link;
        stats.busy += departure.busy;
        // A lost packet draws its jitter too: loss does not move the draws of the packets after it.
        let drawn = if jitter.is_none() {
            Duration::ZERO
        } else {
            let drawn = jitter.draw(departure.at, &mut self.jitter_rng);
            stats.jitter_draws += 1;
            stats.jitter_drawn += drawn;
            drawn
        };
        if self.loss.strikes() {
            self.buffer.vacant.push(place);
            let cause = DropCause::Lost;
            self.buffer.counters.dropped(Dropped {
                at: departure.at,
                flow,
                size,
                cause,
            });
            self.settled(flow, size, start, departure.at, None);
            return;
        }
        let travelled = departure.at + delay;
        let mut arrival = travelled + drawn;
        if let Some(last) = &mut self.last_arrival {
            arrival = arrival.max(*last);
            *last = arrival;
        }
        self.flight.push(Flying {
            arrival,
            jitter: arrival - travelled,
            place,
        });
        self.settled(flow, size, start, departure.at, Some(arrival));
    }

    #[inline]
    fn settled(
        &mut self,
        flow: u64,
        size: Bytes,
        from: Instant,
        until: Instant,
        arrival: Option<Instant>,
    ) {
        self.buffer.counters.settled(|| Transmitted {
            flow,
            size,
            from,
            until,
            arrival,
        });
    }

    /// Totals since the start, as of the last call that moved the link. Summed up over the flows on
    /// demand: only the flows count each packet.
    pub fn stats(&self) -> LinkStats {
        self.buffer.counters.totals()
    }

    /// Totals of one flow; all zero for a flow without counters.
    pub fn flow_stats(&self, flow: u64) -> &FlowLinkStats {
        self.buffer.counters.flow(flow)
    }

    /// What waits, as of the last call that moved the link, without the packet in transmission.
    pub fn queue(&self) -> Count {
        self.buffer.waiting
    }

    /// Number of packets that are being transmitted or travel.
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.underway.is_some())
    }

    /// Time until everything here has been sent if the capacity, without noise, stays what it is: what a
    /// packet would wait that came now. A delivery trace counts with its mean. [`Duration::MAX`] while
    /// packets wait in a suspended link.
    pub fn queue_delay(&self) -> Duration {
        self.buffer.drain_time()
    }

    /// Capacity, as of the last call that moved the link: that of the schedule, without noise, or the
    /// mean of a delivery trace. What the link really can do is [`Link::capacity_between`].
    pub fn capacity(&self) -> Rate {
        self.buffer.nominal
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
        self.buffer.counters.record_drops(on);
    }

    /// Empties the log of drops, in the order in which they were decided.
    pub fn take_drops(&mut self) -> Vec<Dropped> {
        self.buffer.counters.take_drops()
    }

    /// Switches the log of transmissions on or off. It is off at first and then costs nothing.
    pub fn record_transmissions(&mut self, on: bool) {
        self.buffer.counters.record_transmissions(on);
    }

    /// Takes the oldest entry out of the log of transmissions, which has them in the order of their starts.
    pub fn take_transmission(&mut self) -> Option<Transmitted> {
        self.buffer.counters.take_transmission()
    }
}
