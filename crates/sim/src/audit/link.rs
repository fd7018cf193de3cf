//! All rules for one link.

use super::buffer::{self, Held};
use super::crossing::{Crossing, Entry, Order, disciplines};
use super::finding::{Verdict, hold};
use super::ledger::Ledger;
use super::medium::AuditedMedium;
use super::schedule::Schedule;
use super::transmitter::{Transmitter, nanobits};
use thalweg_path::{Count, Link, LinkConfig, Packet, QueueConfig};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

pub(super) struct AuditedLink {
    pub(super) schedule: Schedule,
    transmitter: Transmitter,
    crossing: Crossing,
    ledger: Ledger,
    /// Whether packets arrive in the order in which they are transmitted.
    in_order: bool,
    /// Whether packets of one flow with codepoints of one class come out in order.
    pub(super) keeps_classes: bool,
    /// Whether packets of one flow come out in order whatever their codepoints.
    pub(super) keeps_flows: bool,
    /// Size of the packet that was transmitted last.
    sending: Bytes,
    largest: Bytes,
    /// Calls since the last check of conservation, which visits each flow.
    unbalanced: usize,
    flows: usize,
    /// Whether stations contend for its medium.
    is_in_air: bool,
}

impl AuditedLink {
    pub(super) fn new(config: &LinkConfig, flows: usize, is_in_air: bool) -> Self {
        let order = Order::of(config, flows);
        AuditedLink {
            schedule: Schedule::new(config),
            transmitter: Transmitter::default(),
            crossing: Crossing::new(config, flows),
            ledger: Ledger::new(flows),
            in_order: !config.reorder,
            keeps_classes: order != Order::None,
            keeps_flows: matches!(order, Order::OfFlow | Order::OfLink),
            sending: Bytes::ZERO,
            largest: Bytes::ZERO,
            unbalanced: 0,
            flows,
            is_in_air,
        }
    }

    /// Whether this link sets CE, which may send a packet to another queue of a later link.
    pub(super) fn may_mark(config: &LinkConfig) -> bool {
        config.policer.is_some_and(|policer| policer.mark)
            || disciplines(config).any(|queue| *queue != QueueConfig::DropTail)
    }

    /// A packet enters.
    pub(super) fn enter(&mut self, now: Instant, connection: u32, size: Bytes, ecn: Ecn) -> Entry {
        self.ledger.enter(connection, size);
        self.largest = self.largest.max(size);
        Entry {
            connection,
            size,
            ecn,
            entered: now,
            position: self.crossing.enter(),
        }
    }

    /// A packet leaves.
    pub(super) fn leave(&mut self, now: Instant, entry: &Entry) -> Verdict {
        self.ledger.leave(entry.connection, entry.size);
        self.crossing.leave(now, entry)?;
        // Not earlier than possible: transmission at the current capacity, then propagation.
        let schedule = &self.schedule;
        let latest = now - schedule.least_delay;
        hold(
            now >= entry.entered + schedule.least_delay && latest >= entry.entered,
            || {
                let travelled = now - entry.entered;
                let least = schedule.least_delay;
                format!("is crossed in {travelled}, less than its delay of {least}")
            },
        )?;
        if self.is_in_air {
            return Ok(()); // a frame keeps the rate at its start
        }
        let able = if schedule.is_plain {
            schedule.work(entry.entered, latest)
        } else {
            let span = u128::from((latest - entry.entered).as_nanos());
            span * u128::from(schedule.largest_rate.as_bits_per_sec())
        };
        // A packet that waits may use the rest of the nanosecond in which another's last bit left.
        let nanosecond = u128::from(schedule.largest_rate.as_bits_per_sec());
        hold(able + nanosecond >= nanobits(entry.size), || {
            let (entered, size) = (entry.entered, entry.size);
            format!("is crossed by {size} that came at {entered}, when it could not send that much")
        })
    }

    /// A packet entered or left, or time has passed: the link is at `now`. With the medium that it shares, and which of its
    /// two links it is.
    pub(super) fn check<P: Packet>(
        &mut self,
        now: Instant,
        link: &mut Link<P>,
        mut on_medium: Option<(&mut AuditedMedium, usize)>,
    ) -> Verdict {
        while let Some(sent) = link.take_transmission() {
            let work = |from, until| {
                if self.schedule.is_plain {
                    self.schedule.work(from, until)
                } else if until == Instant::NEVER {
                    0
                } else {
                    link.work_between(from, until)
                }
            };
            let able = work(sent.from, sent.until);
            let nanosecond = work(sent.until - Duration::from_nanos(1), sent.until);
            self.sending = sent.size;
            self.crossing.settle(&sent);
            let (schedule, in_order) = (&self.schedule, self.in_order);
            match &mut on_medium {
                Some((AuditedMedium::Air(air), side)) => {
                    let given_up = air.check(*side, &sent)?;
                    self.transmitter.fate(&sent, given_up, schedule, in_order)?;
                    continue;
                }
                Some((AuditedMedium::Turns(turns), side)) => turns.check(*side, &sent)?,
                None => {}
            }
            self.transmitter
                .check(&sent, able, nanosecond, schedule, in_order)?;
        }
        self.crossing.reconcile(&self.schedule)?;
        let held = Held {
            waiting: link.queue(),
            sending: if self.transmitter.is_busy(now) {
                self.sending
            } else {
                Bytes::ZERO
            },
            largest: self.largest,
        };
        let (limit, rate) = self.schedule.limit(now);
        buffer::check(&held, limit, rate)?;
        let in_frame = match &on_medium {
            Some((AuditedMedium::Air(air), side)) => air.in_air(*side),
            _ => 0,
        };
        let on_the_way = self.crossing.on_the_way() + in_frame;
        let counted = link.in_flight();
        // Noise may leave the end of a transmission unknown for a while: the fate of its packet is open.
        let unsettled = usize::from(!self.schedule.is_plain);
        hold(
            (on_the_way..=on_the_way + unsettled).contains(&counted),
            || format!("has {counted} packets on their way, where there are {on_the_way}"),
        )?;
        self.unbalanced += 1;
        if self.unbalanced < self.flows {
            return Ok(());
        }
        self.unbalanced = 0;
        self.ledger
            .balance(&link.stats(), link.queue(), link.in_flight())
    }

    /// Checks conservation of the link and of each flow at the end of the trial.
    pub(super) fn end<P: Packet>(&mut self, link: &Link<P>) -> Verdict {
        let (waiting, in_flight) = (link.queue(), link.in_flight());
        self.ledger.balance(&link.stats(), waiting, in_flight)?;
        let mut inside = 0;
        for flow in 0..self.flows {
            let Count { packets, .. } =
                (self.ledger).balance_flow(flow, link.flow_stats(flow as u64))?;
            inside += packets;
        }
        let there = waiting.packets + in_flight as u64;
        hold(inside == there, || {
            format!(
                "the counters of its flows leave {inside} packets inside, where there are {there}"
            )
        })
    }

    /// The least time in which a bit crosses the link.
    pub(super) fn least_crossing(&self, size: Bytes) -> Duration {
        self.schedule.least_delay + self.schedule.largest_rate.time_for(size)
    }
}
