//! Paced flows over one FIFO queue that marks every packet that waits longer than a
//! threshold: the step marking of RFC 8257 section 3.1, the simplest queue for Prague.
//!
//! # Limits
//! The queue never drops. Every packet is acknowledged on its own. Flows differ only in their base RTT.

use crate::fake_transport::{Flow, MTU};
use std::collections::VecDeque;
use thalweg_units::{Duration, Instant, Rate};

struct Sender {
    flow: Flow,
    rtt: Duration,
    next_send: Instant,
    /// Arrival time of the ACK, packet, and whether it was marked.
    acks: VecDeque<(Instant, u64, bool)>,
    delivered: u64,
    marked: u64,
}

/// The queue and the flows that share it.
pub(super) struct MarkingQueue {
    rate: Rate,
    threshold: Duration,
    now: Instant,
    busy_until: Instant,
    senders: Vec<Sender>,
    /// Longest wait in the queue, since the counts were last reset.
    pub(super) longest_wait: Duration,
}

/// Counts of a flow since the last reset.
pub(super) struct Count {
    pub(super) delivered: u64,
    pub(super) marked: u64,
}

impl MarkingQueue {
    /// Flows by the names of their controllers and their base RTTs.
    pub(super) fn new(rate: Rate, threshold: Duration, flows: &[(&str, Duration)]) -> Self {
        let now = Flow::new("prague").now;
        let sender = |(index, (name, rtt)): (usize, &(&str, Duration))| {
            let mut flow = Flow::new(name);
            // Starts apart, so that nothing is in step by construction.
            flow.advance(Duration::from_millis(7 * index as u64));
            Sender {
                next_send: flow.now,
                flow,
                rtt: *rtt,
                acks: VecDeque::new(),
                delivered: 0,
                marked: 0,
            }
        };
        MarkingQueue {
            rate,
            threshold,
            now,
            busy_until: Instant::START,
            senders: flows.iter().enumerate().map(sender).collect(),
            longest_wait: Duration::ZERO,
        }
    }

    pub(super) fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let next = |sender: &Sender| {
                let ack = sender.acks.front().map_or(Instant::NEVER, |ack| ack.0);
                let open = sender.flow.path.bytes_in_flight + MTU <= sender.flow.window();
                ack.min(if open {
                    sender.next_send
                } else {
                    Instant::NEVER
                })
            };
            let times = self.senders.iter().map(next).enumerate();
            let Some((index, now)) = times.min_by_key(|(_, at)| *at) else {
                return;
            };
            // A sender that waited for its window may send at once.
            self.now = self.now.max(now);
            if self.now >= end {
                break;
            }
            self.step(index);
        }
        self.now = end;
    }

    fn step(&mut self, index: usize) {
        let now = self.now;
        let sender = &mut self.senders[index];
        let flow = &mut sender.flow;
        flow.now = now;
        if sender.acks.front().is_some_and(|ack| ack.0 <= now) {
            let (_, packet, marked) = sender.acks.pop_front().unwrap();
            flow.ack_marked(&[packet], u64::from(marked));
            sender.delivered += 1;
            sender.marked += u64::from(marked);
            return;
        }
        let packet = flow.send();
        flow.path.window_limited = true;
        let spacing = flow.control().pacing.map(|rate| rate.time_for(MTU));
        sender.next_send = now + spacing.unwrap_or(Duration::ZERO);
        let wait = if self.busy_until > now {
            self.busy_until - now
        } else {
            Duration::ZERO
        };
        self.longest_wait = self.longest_wait.max(wait);
        self.busy_until = now + wait + self.rate.time_for(MTU);
        let marked = wait > self.threshold;
        sender
            .acks
            .push_back((self.busy_until + sender.rtt, packet, marked));
    }

    /// The counts of each flow, and starts them afresh.
    pub(super) fn take_counts(&mut self) -> Vec<Count> {
        self.longest_wait = Duration::ZERO;
        let take = |sender: &mut Sender| Count {
            delivered: std::mem::take(&mut sender.delivered),
            marked: std::mem::take(&mut sender.marked),
        };
        self.senders.iter_mut().map(take).collect()
    }
}
