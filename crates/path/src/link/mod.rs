//! One direction of one hop: policer, queue, transmitter, loss, delay and jitter, and what it does to ECN ([`ecn`]).
//!
//! # Model
//! The transmitter takes a packet from the queue discipline as soon as it is free and the capacity is
//! above zero, and sends its bits at the current capacity. The fate of the packet is determined
//! when its transmission starts, because the schedule is known: when its last bit is sent, whether it is
//! lost, how long it propagates. Delay and jitter are those at the time of the last bit. A transmission that ends
//! at the time of a change has sent all its bits before it: it has the settings before the change, as it has
//! used only the capacity before the change.
//! A queue discipline drops or marks packets on enqueue and on dequeue.
//! A change to another discipline starts it anew, in its first state; it takes over what waits, in the order of
//! arrival, with the time that each packet has waited, and drops or marks nothing on entry. A change
//! that flushes drops what waits. Within one change the queue is flushed first, then it drops what exceeds a new limit,
//! then another discipline takes over.
//!
//! Capacity is a schedule of rates or a delivery trace, with or without noise; the noise is also known in
//! advance, because its draws are functions of time. Limits in time and [`Link::capacity`] use the capacity
//! without noise, and the mean of a trace.
//!
//! Decisions of the queue are replayed in order of time: `push` and `pop` first do everything that should
//! have happened until `now`. Within one instant, a change of the schedule comes before the transmitter
//! takes a packet, unless that packet has credit (below): its first bit was sent before that instant. Both come before
//! a packet that is pushed.
//!
//! # Units
//! Integer nanoseconds. A transmission ends at the first whole nanosecond after its last bit; the rest
//! of that nanosecond is credited to the next packet if it already waits, so a busy link runs exactly at
//! its rate.
//!
//! # When the capacity changes
//! picoquic's `sim_link.c` submits every packet that is not yet in the air again at the time of the
//! change. The same holds here for waiting packets: they leave at the new rate, with the new delay and
//! jitter, and those at the tail that exceed a limit in time at the new capacity are dropped. Two things
//! differ on purpose:
//! - The packet in transmission continues. A restart would cost up to one
//!   packet of capacity per change, which ruins links whose capacity changes every millisecond.
//! - A packet whose last bit has been sent is in the air and keeps its arrival, however large its jitter. The
//!   reference reschedules packets whose jitter has not yet passed.

use crate::buffer::Queued;
use crate::capacity::{CapacitySchedule, Course, Departure, Noise, Position, Unfinished};
use crate::flight::{Flight, Flying};
use crate::jitter::Jitter;
use crate::loss::Losses;
use crate::policer::Policer;
use crate::port::Port;
use crate::queue::{Discipline, OuterFlows, Queue};
use crate::random::stream;
use crate::stats::{DropCause, Dropped, Transmitted};
use crate::store::{Slot, Store};
use crate::transmission_time::{TransmissionTime, nanobits};
use crate::{LinkConfig, Packet};
pub use ecn::EcnConfig;
use observe::number_of;
use rand_pcg::Pcg64Mcg;
use thalweg_units::{Duration, Ecn, Instant};

mod access;
mod disciplines;
mod ecn;
mod observe;
mod tape;

#[cfg(test)]
mod bounded_calls;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod used;

/// One direction of one hop.
#[derive(Debug)]
pub struct Link<P> {
    schedule: CapacitySchedule,
    noise: Option<Box<Noise>>,
    position: Position,
    policer: Option<Policer>,
    ecn: EcnConfig,
    store: Store<P>,
    queue: Queue,
    port: Port,
    time: TransmissionTime,
    /// The current transmission, while noise and a low capacity leave its end unknown.
    underway: Option<Box<Underway>>,
    /// One for each model of the schedule.
    losses: Losses,
    /// One for each model of the schedule.
    jitters: Vec<Jitter>,
    jitter_rng: Pcg64Mcg,
    /// The last draw, and when the transmission of its packet ends.
    last_draw: (Instant, Duration),
    /// The number of the discipline.
    reign: u64,
    seed: u64,
    outer: OuterFlows,
    flight: Flight,
    /// The place of the packet that arrived last.
    arrived: Option<Slot>,
    /// Arrival of the last packet, on an in-order link.
    last_arrival: Option<Instant>,
}

/// A packet in transmission whose fate is not determined yet.
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
        let reign = schedule.reign(position.index(), position.cycle());
        Link {
            noise,
            position,
            policer: config.policer.map(Policer::new),
            ecn: config.ecn,
            store: Store::new(),
            queue: Queue::new(reign.queue, seed, reign.since),
            reign: reign.number,
            seed,
            outer: OuterFlows::default(),
            port: Port::new(position.rate, nominal, limit, flows),
            time: TransmissionTime::default(),
            underway: None,
            losses: Losses::new(schedule.losses(), seed),
            jitters: Jitter::all(schedule.jitters(), seed),
            jitter_rng: stream(seed, "jitter"),
            last_draw: (Instant::START, Duration::ZERO),
            flight: Flight::new(config.reorder),
            arrived: None,
            last_arrival: (!config.reorder).then_some(Instant::START),
            schedule,
        }
    }

    /// Pushes a packet into the link. A `now` before an earlier call counts as the time of that call.
    #[inline(always)] // so that the packet is copied once, from where it was made to its place
    pub fn push(&mut self, now: Instant, packet: P) {
        // Before anything else, so that the packet is built in place.
        let (flow, size, ecn) = (packet.flow(), packet.size(), packet.ecn());
        let slot = self.store.put(packet, self.port.vacant.take());
        self.arrived = None; // its place may be taken now
        self.advance(now);
        self.port.arrive(flow, size);
        let queued = Queued {
            slot,
            arrived: self.port.transmitter.now,
            size,
            flow,
            ecn,
            is_ack: false,
        };
        let queued = match &mut self.policer {
            None => queued,
            Some(policer) => match policer.pass(queued, &mut self.port) {
                None => return,
                Some(queued) => queued,
            },
        };
        match &mut self.queue {
            Queue::DropTail(queue) => queue.enqueue(queued, &mut self.port),
            Queue::Active(_) => self.enqueue_actively(queued),
        }
        if !self.port.transmitter.is_busy() && self.port.transmitter.is_open {
            self.transmit(self.port.transmitter.now);
        }
        self.port.note_length();
    }

    /// The next packet that has arrived by `now`. Call it until it returns `None`.
    #[inline]
    pub fn pop(&mut self, now: Instant) -> Option<P> {
        self.arrive(now)?;
        self.take_arrived()
    }

    /// Like [`Link::pop`], but in place: the packet can be looked at, and [taken](Link::take_arrived), until the next push.
    #[inline(always)] // in every arrival
    pub fn arrive(&mut self, now: Instant) -> Option<&mut P> {
        self.advance(now);
        if self.flight.next().is_none_or(|arrival| arrival > now) {
            return None;
        }
        let Flying { slot, jitter, .. } = self.flight.pop()?;
        self.port.vacant.add(slot);
        self.arrived = Some(slot);
        let packet = self.store.get_mut(slot)?;
        self.port
            .counters
            .delivered(packet.flow(), packet.size(), jitter);
        Some(packet)
    }

    /// The packet that [`Link::arrive`] has shown.
    #[inline]
    pub fn take_arrived(&mut self) -> Option<P> {
        self.store.entry(self.arrived.take()?)?.take()
    }

    /// Whose packet [`Link::arrive`] would hand out at `now`, and the delay of it in excess of transmission and
    /// propagation: how long jitter held it back, or a packet before it that it does not overtake. For traces.
    pub fn arriving(&mut self, now: Instant) -> Option<(u64, Duration)> {
        self.advance(now);
        let flying = *self.flight.first().filter(|first| first.arrival <= now)?;
        let packet = self.store.get_mut(flying.slot)?;
        Some((packet.flow(), flying.jitter))
    }

    /// The earliest time at which [`Link::pop`] may return a packet; `None` if it never will without
    /// another push. Exact for an in-order link, unless the packet in transmission is
    /// lost while nothing is in flight, the queue discipline drops waiting packets, noise removes the capacity, or a
    /// busy link with noise would have too much to catch up.
    #[inline(always)] // called for each packet
    pub fn next(&self) -> Option<Instant> {
        let mut earliest = self.flight.next();
        // Without reordering no waiting packet overtakes one in flight.
        let is_first = earliest.is_some() && self.last_arrival.is_some();
        if !is_first && self.port.buffer.waiting.packets > 0 {
            let next = [earliest, self.next_transmission()];
            earliest = next.into_iter().flatten().min();
        }
        if self.noise.is_some() || self.underway.is_some() {
            earliest = self.before_too_late(earliest);
        }
        earliest.filter(|at| *at != Instant::NEVER)
    }

    /// `earliest`, or an earlier time at which a busy link must catch up with its noise, so that no call
    /// processes an unbounded number of stretches.
    #[inline(never)]
    fn before_too_late(&self, earliest: Option<Instant>) -> Option<Instant> {
        let computed = self.underway.as_ref().map(|_| self.port.transmitter.until);
        let earliest = [earliest, computed].into_iter().flatten().min()?;
        let busy = self.port.buffer.waiting.packets > 0 || self.port.transmitter.is_busy();
        let patience = if busy {
            self.course().patience()
        } else {
            Duration::MAX
        };
        Some(earliest.min(self.port.transmitter.now + patience))
    }

    /// A lower bound on the arrival of the next packet taken from the queue.
    #[inline(never)]
    fn next_transmission(&self) -> Option<Instant> {
        if self.port.transmitter.is_held() {
            return None; // the medium decides
        }
        let free = if self.port.transmitter.is_busy() {
            Some(self.port.transmitter.until)
        } else {
            self.course()
                .resumes(self.position, self.port.transmitter.now)
        };
        free.map(|at| at + self.course().least_delay())
    }

    /// Replays everything until `now`. [`Link::push`] and [`Link::pop`] do this
    /// themselves; traces call it before sampling.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        let transmits = self.port.buffer.waiting.packets > 0 && self.port.transmitter.until <= now;
        if transmits || self.position.until <= now {
            self.catch_up(now);
        }
        self.port.transmitter.now = self.port.transmitter.now.max(now);
    }

    /// Changes the settings and starts transmissions in order of time, until `now`.
    #[inline(never)] // keeps the case without work short
    fn catch_up(&mut self, now: Instant) {
        loop {
            let free = self.port.transmitter.until;
            let takes = self.port.buffer.waiting.packets > 0 && self.port.transmitter.is_open;
            let changes = self.position.until;
            // With credit, the first bit of the next packet was sent before `free`.
            let changes_first =
                changes < free || changes == free && self.port.transmitter.credit == 0;
            if free <= now.min(changes)
                && let Some(underway) = self.underway.take()
            {
                self.go_on(underway.queued, underway.start, underway.transmission);
            } else if changes <= now && changes != Instant::NEVER && (!takes || changes_first) {
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
        self.port.transmitter.settle(self.position.until);
        let idle = self.port.buffer.waiting.packets == 0 && !self.port.transmitter.is_busy();
        let next = if idle {
            self.port.transmitter.settle(now);
            self.course().position_at(now)
        } else {
            match self.course().after(self.position) {
                Some(next) => next,
                None => return,
            }
        };
        let begins = (next.index(), next.cycle()) != (self.position.index(), self.position.cycle());
        self.position = next;
        if begins && self.schedule.settings(next.index()).flush {
            for waiting in self.queue.drain(&self.port) {
                self.port.drop(waiting, DropCause::Flushed);
            }
        }
        let nominal = self.schedule.nominal(next.index());
        let limit = self.schedule.settings(next.index()).limit;
        self.port.transmitter.set_rate(next.rate);
        if (self.port.transmitter.nominal, self.port.buffer.limit) != (nominal, limit) {
            self.port.transmitter.nominal = nominal;
            self.port.buffer.limit = limit;
            self.queue.shed(&mut self.port);
        }
        if begins && self.schedule.changes_queue() {
            self.change_queue();
        }
    }

    #[inline]
    fn course(&self) -> Course<'_> {
        self.schedule.course(self.noise.as_deref())
    }

    /// Starts the transmission of the packet that the queue selects at `start`, and determines its fate.
    #[inline]
    fn transmit(&mut self, start: Instant) {
        self.port.transmitter.now = start;
        let Some(queued) = self.queue.dequeue(&mut self.port) else {
            return;
        };
        self.port.depart(&queued);
        if queued.ecn == Ecn::Ce || self.ecn == EcnConfig::Bleached {
            self.write_ecn(queued.slot);
        }
        let size = queued.size;
        let transmitter = &mut self.port.transmitter;
        let credit = transmitter.credit;
        transmitter.size = size;
        transmitter.work = nanobits(size).saturating_sub(credit);
        transmitter.since = start;
        // All but a few transmissions end in the segment in which they start.
        if let Some((nanos, credit)) = self.time.of(self.port.transmitter.rate, size, credit)
            && nanos <= (self.position.until - start).as_nanos()
        {
            let busy = Duration::from_nanos(nanos);
            let departure = Departure {
                at: start + busy,
                busy,
                credit,
                index: self.position.index(),
            };
            self.settle(&queued, start, departure, true);
        } else {
            let work = u128::from(nanobits(size).saturating_sub(credit));
            self.go_on(queued, start, Course::begin(self.position, start, work));
        }
    }

    /// Computes the end of a transmission across changes of the capacity, and the fate of its packet;
    /// later, if that takes too long.
    #[inline(never)]
    fn go_on(&mut self, queued: Queued, start: Instant, transmission: Unfinished) {
        match self.course().go_on(transmission) {
            Ok(mut departure) => {
                // Credit of the previous packet beyond the needs of this one.
                let spare = self.port.transmitter.credit;
                departure.credit += spare.saturating_sub(nanobits(queued.size));
                self.settle(&queued, start, departure, true);
            }
            Err(transmission) => {
                self.port.transmitter.until = transmission.at;
                self.underway = Some(Box::new(Underway {
                    queued,
                    start,
                    transmission,
                }));
            }
        }
    }

    /// Determines the fate of a packet whose first bit was sent at `start` and whose last one at a known time, unless the medium
    /// has lost it.
    #[inline(always)] // so that the departure of nearly every packet stays in registers
    fn settle(&mut self, queued: &Queued, start: Instant, departure: Departure, arrives: bool) {
        let Queued {
            slot, flow, size, ..
        } = *queued;
        self.port.transmitter.until = departure.at;
        self.port.transmitter.credit = departure.credit;
        let settings = self.schedule.settings(departure.index);
        let delay = match &self.noise {
            None => settings.delay,
            Some(noise) => noise.delay(settings.delay, departure.at),
        };
        let jitter = &self.jitters[settings.jitter];
        let stats = &mut self.port.counters.link;
        stats.busy += departure.busy;
        // A lost packet also draws its jitter, so that loss does not shift the draws of later packets.
        let (drawn, spacing) = if jitter.is_none() {
            (Duration::ZERO, Duration::ZERO)
        } else {
            let drawn = jitter.draw(departure.at, departure.busy, &mut self.jitter_rng);
            stats.jitter_draws += 1;
            stats.jitter_drawn += drawn;
            self.last_draw = (departure.at, drawn);
            (drawn, jitter.spacing(departure.busy))
        };
        let is_lost = self.losses.strike(settings.loss, departure.at) || !arrives;
        if is_lost || queued.ecn == Ecn::Ce && self.ecn == EcnConfig::CeLost {
            self.port.vacant.add(slot);
            let cause = DropCause::Lost;
            self.port.counters.dropped(Dropped {
                at: departure.at,
                flow,
                size,
                cause,
            });
            self.settled(queued, start, departure.at, None);
            return;
        }
        let travelled = departure.at + delay;
        let mut arrival = travelled + drawn;
        if let Some(last) = &mut self.last_arrival {
            arrival = arrival.max(*last);
            *last = arrival + spacing;
        }
        self.flight.push(Flying {
            arrival,
            jitter: arrival - travelled,
            slot,
        });
        self.settled(queued, start, departure.at, Some((travelled, arrival)));
    }

    /// The transmission of a packet ends at `until`; `ends` are when propagation alone would have brought it to the other
    /// end, and when it arrives.
    #[inline(always)]
    fn settled(
        &mut self,
        queued: &Queued,
        from: Instant,
        until: Instant,
        ends: Option<(Instant, Instant)>,
    ) {
        if self.port.counters.logs_fates() {
            // A copy, so that the packet itself stays in registers.
            self.log_fate(*queued, from, until, ends);
        }
    }

    #[cold]
    #[inline(never)]
    fn log_fate(
        &mut self,
        queued: Queued,
        from: Instant,
        until: Instant,
        ends: Option<(Instant, Instant)>,
    ) {
        let sent = Transmitted {
            flow: queued.flow,
            size: queued.size,
            from,
            until,
            arrival: ends.map(|(_, arrival)| arrival),
        };
        let store = &mut self.store;
        let number = || number_of(store, queued.slot);
        self.port
            .counters
            .log_fate(&queued, number, sent, ends.map(|(due, _)| due));
    }
}
