//! CAKE: a shaper, fair queueing among flows, each under COBALT, and a filter of ACKs (Høiland-Jørgensen, Täht and Morton
//! 2018, "Piece of CAKE", and Linux's `sch_cake.c`).
//!
//! # Model
//! Flows are hashed to 1024 queues in sets of eight ([`ways`]), which deficit round robin serves, those that have just become
//! active first (DRR++). Each queue is under COBALT ([`cobalt`]), which keeps its state after the
//! queue runs empty, until it has decayed: such queues are looked at one by one as packets leave. With a bandwidth the
//! transmitter pauses when it is ahead of it ([`shaper`]). What exceeds the limit of the link is dropped from the head of the
//! longest queue. A filter drops ACKs that newer ones make superfluous ([`ack_filter`]). Shaper and turns charge what a packet
//! costs in the frames of the link that the shaper stands for ([`framing`]); the link here transmits only the packet.
//!
//! The parameters follow from bandwidth and RTT as in `cake_set_rate`: the target is a twentieth of the RTT and at least one and
//! a half transmissions of 1514 bytes at the bandwidth, and a queue sends what the bandwidth carries in 1/4096 s in a turn, 300
//! to 1514 bytes.
//!
//! # Limits
//! Packets have no Diffserv field, so there is one tin (`besteffort`). They have no addresses either: each flow counts as a host
//! of its own, and isolation of hosts (`dual-srchost`, `dual-dsthost`, `triple-isolate`) does what isolation of flows does.
//! Flows of a tunnel share a queue. The limit is the limit of the link instead of `memlimit`, and the shaper is the one of
//! `egress`: drops are not charged to it. No autorate.

use super::discipline::Discipline;
use super::fifo::{Fifo, by_arrival, longest};
use super::outer_flows::OuterFlows;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use crate::random::{key, mixed, stream};
use crate::stats::Count;
pub use ack_filter::AckFilter;
use cobalt::{Cobalt, Parameters};
pub use framing::{Cells, Framing};
use rand_pcg::Pcg64Mcg;
use shaper::Shaper;
use std::collections::VecDeque;
use thalweg_units::{Bytes, Duration, Instant, Rate};
use ways::{QUEUES, Ways};

mod ack_filter;
mod cobalt;
mod framing;
mod shaper;
mod ways;

#[cfg(test)]
mod tests;

/// The largest packet that the parameters allow for: `psched_mtu` of Ethernet.
const MTU: Bytes = Bytes::new(1514);
/// The least that a queue may send in a turn.
const LEAST_QUANTUM: u64 = 300;

/// Parameters of CAKE. The size of all queues together is the limit of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeConfig {
    /// The rate of the shaper (`bandwidth`); none (`unlimited`): only the link limits it.
    pub bandwidth: Option<Rate>,
    /// A round-trip time that most flows stay near (`rtt`): 100 ms (`internet`).
    pub rtt: Duration,
    /// Which ACKs are dropped in favour of newer ones: none.
    pub ack_filter: AckFilter,
    /// The frames of the link that the shaper stands for: none (`raw`).
    pub framing: Framing,
}

impl CakeConfig {
    /// The number of its queues.
    pub const QUEUES: u64 = QUEUES as u64;

    /// The round-trip times that `tc-cake` has names for, in the order of the manual. The manual says 3600 s for the last one,
    /// and `q_cake.c` sets 1000 s, as here.
    pub const PRESETS: [(&str, Duration); 8] = [
        ("datacentre", Duration::from_micros(100)),
        ("lan", Duration::from_millis(1)),
        ("metro", Duration::from_millis(10)),
        ("regional", Duration::from_millis(30)),
        ("internet", Duration::from_millis(100)),
        ("oceanic", Duration::from_millis(300)),
        ("satellite", Duration::from_secs(1)),
        ("interplanetary", Duration::from_secs(1000)),
    ];

    /// COBALT's parameters (`cake_set_rate`).
    fn cobalt(&self) -> Parameters {
        let mtu_time = self
            .bandwidth
            .map_or(Duration::ZERO, |rate| rate.time_for(MTU));
        let wanted = (self.rtt / 20).max(Duration::from_micros(1));
        let target = wanted.max(mtu_time * 3 / 2);
        Parameters {
            target,
            interval: (self.rtt + target - wanted).max(target * 2),
            mtu_time,
        }
    }

    /// Bytes that a queue may send in a turn (`flow_quantum`).
    fn quantum(&self) -> Bytes {
        self.bandwidth.map_or(MTU, |rate| {
            let bytes = (rate.as_bits_per_sec() / 8) >> 12;
            Bytes::new(bytes.clamp(LEAST_QUANTUM, MTU.as_u64()))
        })
    }
}

impl Default for CakeConfig {
    fn default() -> Self {
        CakeConfig {
            bandwidth: None,
            rtt: Duration::from_millis(100),
            ack_filter: AckFilter::Off,
            framing: Framing::RAW,
        }
    }
}

/// The lists that active queues are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    /// Those that have become active and have not used up their first quantum.
    New,
    /// The other ones, in the order of their turns.
    Old,
    /// Empty ones whose COBALT has not come to rest.
    Decaying,
}

/// One of the queues.
#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    cobalt: Cobalt,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    list: Option<List>,
}

/// CAKE with one tin.
#[derive(Debug)]
pub(crate) struct Cake {
    parameters: Parameters,
    quantum: i64,
    ack_filter: AckFilter,
    framing: Framing,
    shaper: Option<Shaper>,
    key: u64,
    /// The draws of BLUE.
    rng: Pcg64Mcg,
    ways: Ways,
    flows: Vec<Flow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    pub(super) outer: OuterFlows,
}

impl Cake {
    /// The rate at which what waits leaves the shaper.
    pub(super) fn shaped(&self, waiting: Count) -> Option<Rate> {
        let shaper = self.shaper.as_ref()?;
        Some(self.framing.net(shaper.rate, waiting))
    }

    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = stream(seed, "blue");
    }

    pub(super) fn new(config: &CakeConfig, seed: u64, since: Instant) -> Self {
        let mut flows = Vec::new();
        flows.resize_with(QUEUES, Flow::default);
        Cake {
            parameters: config.cobalt(),
            quantum: i64::try_from(config.quantum().as_u64()).unwrap_or(i64::MAX),
            ack_filter: config.ack_filter,
            framing: config.framing,
            shaper: config.bandwidth.map(|rate| Shaper::new(rate, since)),
            key: key(seed, "queue"),
            rng: stream(seed, "blue"),
            ways: Ways::default(),
            flows,
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            outer: OuterFlows::default(),
        }
    }

    /// Whether it asks which packets are ACKs.
    pub(super) fn filters_acks(&self) -> bool {
        self.ack_filter != AckFilter::Off
    }

    /// The queue of a flow, which it takes if it has none.
    fn queue_of(&mut self, flow: u64) -> usize {
        let hash = mixed(self.key, self.outer.of(flow));
        let flows = &self.flows;
        self.ways.place(hash, |index| flows[index].list.is_some())
    }

    fn list(&mut self, list: List) -> &mut VecDeque<usize> {
        match list {
            List::New => &mut self.new,
            List::Old => &mut self.old,
            List::Decaying => &mut self.decaying,
        }
    }

    /// Moves the first queue of a list to the end of another one, or off all lists.
    fn rotate(&mut self, from: List, to: Option<List>) {
        if let Some(index) = self.list(from).pop_front() {
            self.flows[index].list = to;
            if let Some(to) = to {
                self.list(to).push_back(index);
            }
        }
    }

    /// The queue with the most bytes, the first of several.
    fn longest(&self) -> Option<usize> {
        let active = self.new.iter().chain(&self.old);
        longest(active.map(|index| (*index, &self.flows[*index].fifo)))
    }

    /// The next packet of a queue, after what COBALT drops; never its last one.
    fn retrieve(&mut self, index: usize, port: &mut Port) -> Option<Queued> {
        let flow = &mut self.flows[index];
        let now = port.now();
        while let Some(mut packet) = flow.fifo.pop() {
            let signal = flow.cobalt.judge(
                &self.parameters,
                now,
                now - packet.arrived,
                packet.ecn.is_capable(),
                &mut self.rng,
            );
            if !signal.drop || flow.fifo.is_empty() {
                if signal.mark {
                    port.mark(&mut packet);
                }
                return Some(packet);
            }
            port.drop(packet, DropCause::Early);
        }
        None
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        let now = port.now();
        if port.buffer.waiting.packets == 1
            && let Some(shaper) = &mut self.shaper
        {
            shaper.refresh(now);
        }
        self.adopt(newest);
        if self.filters_acks() && newest.is_ack {
            let index = self.queue_of(newest.flow);
            if let Some(ack) = self.ack_filter.superfluous(&mut self.flows[index].fifo) {
                port.drop(ack, DropCause::Filtered);
            }
        }
        while !port.fits(newest.size)
            && let Some(longest) = self.longest()
        {
            let flow = &mut self.flows[longest];
            flow.cobalt.overflow(&self.parameters, now);
            if let Some(oldest) = flow.fifo.pop() {
                port.drop(oldest, DropCause::Full);
            }
        }
    }

    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        let now = port.now();
        if let Some(until) = self.shaper.as_ref().and_then(|shaper| shaper.wait(now)) {
            port.pause(until);
            return None;
        }
        let mut looks_at_decaying = true;
        while port.buffer.waiting.packets > 0 {
            let list = if std::mem::take(&mut looks_at_decaying) && !self.decaying.is_empty() {
                List::Decaying
            } else if !self.new.is_empty() {
                List::New
            } else {
                List::Old
            };
            let index = *self.list(list).front()?;
            if self.flows[index].deficit <= 0 {
                self.flows[index].deficit += self.quantum;
                self.rotate(list, Some(List::Old));
                continue;
            }
            if let Some(packet) = self.retrieve(index, port) {
                let cost = self.framing.cost(packet.size);
                let flow = &mut self.flows[index];
                let charge = i64::try_from(cost.as_u64()).unwrap_or(i64::MAX);
                flow.deficit = flow.deficit.saturating_sub(charge);
                if let Some(shaper) = &mut self.shaper {
                    shaper.charge(cost);
                }
                return Some(packet);
            }
            let cobalt = &mut self.flows[index].cobalt;
            cobalt.empty(&self.parameters, now);
            let rests = cobalt.rests(now);
            self.rotate(list, (!rests).then_some(List::Decaying));
        }
        None
    }

    fn shed(&mut self, port: &mut Port) {
        while let Some(longest) = self.longest()
            && self.flows[longest].fifo.shed_oldest(port)
        {}
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        let active = self.new.iter().chain(&self.old);
        by_arrival(active.flat_map(|index| self.flows[*index].fifo.drain()))
    }

    fn adopt(&mut self, waiting: Queued) {
        let index = self.queue_of(waiting.flow);
        let flow = &mut self.flows[index];
        flow.fifo.push(waiting);
        if matches!(flow.list, Some(List::New | List::Old)) {
            return;
        }
        if flow.list == Some(List::Decaying)
            && let Some(place) = self.decaying.iter().position(|other| *other == index)
        {
            self.decaying.remove(place);
        }
        flow.list = Some(List::New);
        flow.deficit = self.quantum;
        self.new.push_back(index);
    }
}
