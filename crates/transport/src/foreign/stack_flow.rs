//! Measurements of a sender of a foreign stack, and its controller.
//!
//! # Model
//! The stack reports each ack-eliciting packet that is sent, acknowledged or lost. From these reports
//! the code of the modelled endpoint derives the measurements that every controller gets ([`PathState`],
//! delivery-rate samples, snapshots). Reports of one acknowledgement are collected and passed to the controller
//! together, in the order of its trait.
//!
//! # Limits
//! The stack reports whether an acknowledgement had CE marks, not how many: one of its packets then counts as
//! marked, all others as they were sent. The share of marks is correct if receivers acknowledge marks immediately (RFC
//! 9000 section 13.2.1), otherwise too small. The stack does not say which
//! losses prove spurious: then all packets declared lost within two probe timeouts count as
//! spurious, which is the stack's own rule. Every ack-eliciting packet counts as data.

use super::outstanding::{Batch, Forgotten, Outstanding};
use crate::sender::Sender;
use crate::{Counters, PacketLog, TransportConfig};
use std::collections::VecDeque;
use thalweg_control::event::{Sent, Timeout};
use thalweg_control::{Control, Controller, ControllerSpec, Init, Observer, PathState, Rng};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// One sender of a foreign stack, with its controller.
pub struct StackFlow {
    /// Without a controller if the stack uses its own.
    pub(super) sender: Sender,
    /// Slow start threshold of the stack's own controller, in bytes.
    threshold: Option<u64>,
    pub(super) config: TransportConfig,
    /// By number, from the oldest outstanding one.
    pub(super) sent: VecDeque<Outstanding>,
    pub(super) recently_lost: VecDeque<Forgotten>,
    pub(super) batch: Batch,
    /// Bytes of packets that were declared lost and have been acknowledged, which the next acknowledgement counts.
    pub(super) late: Bytes,
    pub(super) now: Instant,
    /// The codepoint of packets, which they count as unless marked.
    pub(super) codepoint: Ecn,
    /// The stack's smoothed RTT, before and after the last packet.
    pub(super) smoothed: Option<(Duration, Duration)>,
    /// Whether a packet of the handshake was acknowledged: only then does the stack know an RTT.
    handshake_delivered: bool,
    last_sent: Instant,
    /// Consecutive probe timeouts, and when the last of them was noticed.
    pub(super) timeouts: u32,
    timed_out_at: Instant,
}

impl StackFlow {
    /// The controller draws from another stream from now on.
    pub fn reseed(&mut self, rng: Rng) {
        self.sender.reseed(rng);
    }

    /// A sender of a connection that starts at `start`. `controller` is `None` if the stack uses its own; `rng` is for it.
    pub fn new(
        controller: Option<Box<dyn Controller>>,
        config: TransportConfig,
        start: Instant,
        rng: Rng,
    ) -> Self {
        let sender = Sender::new(controller, &config, start, rng);
        StackFlow {
            codepoint: sender.ecn(),
            sender,
            threshold: None,
            sent: VecDeque::new(),
            recently_lost: VecDeque::new(),
            batch: Batch::default(),
            late: Bytes::ZERO,
            now: start,
            smoothed: None,
            handshake_delivered: false,
            last_sent: start,
            timeouts: 0,
            timed_out_at: Instant::NEVER,
            config,
        }
    }

    /// The state of the path.
    pub fn path(&self) -> &PathState {
        &self.sender.path
    }
    /// Number of times that the controller was informed; consecutive departures count once.
    pub fn reports(&self) -> u64 {
        self.sender.reports
    }
    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.sender.counters
    }
    /// The state and variables of the controller, for traces.
    pub fn observe(&self, out: &mut dyn Observer) {
        if let Some(controller) = self.sender.controller() {
            controller.observe(out);
        } else if let Some(threshold) = self.threshold {
            let window = self.sender.control.window.as_u64();
            out.state(if window < threshold {
                "slow start"
            } else {
                "avoidance"
            });
            out.variable("ssthresh", threshold as f64);
        }
    }
    /// Records the decision of the stack's own controller; `threshold` is its slow start threshold in bytes.
    pub fn follow(&mut self, control: Control, threshold: Option<u64>) {
        self.sender.control = control;
        self.threshold = threshold;
    }
    /// Sets the codepoint of packets, if it differs from the controller's.
    pub fn set_codepoint(&mut self, codepoint: Ecn) {
        self.codepoint = codepoint;
    }
    /// Binds another controller, before any data was sent. Returns its codepoint.
    pub fn replace_controller(&mut self, spec: &ControllerSpec) -> Ecn {
        let init = Init {
            now: self.now,
            mtu: self.sender.path.mtu,
            initial_window: self.config.initial_window,
            media: None,
        };
        self.sender.replace_controller(spec.build(&init));
        if self.sender.path.has_rtt() {
            self.tell_handshake_rtt();
        }
        self.codepoint = self.sender.ecn();
        self.codepoint
    }
    /// Whether a controller without a pacing rate is paced, see [`TransportConfig::pacing`].
    pub fn is_paced(&self) -> bool {
        self.config.pacing
    }
    /// The window that the sender starts with.
    pub fn initial_window(&self) -> Bytes {
        self.config.initial_window
    }

    /// The log of packet events; off until it is started.
    pub fn packet_log(&mut self) -> &mut PacketLog {
        &mut self.sender.log
    }

    /// The current decision, after passing all reports to the controller.
    pub fn control(&mut self) -> Control {
        self.flush();
        self.sender.control
    }

    /// The rate at which media should be encoded; `None` before the first RTT sample.
    pub fn media_rate(&self) -> Option<Rate> {
        self.sender.media_rate()
    }

    /// The handshake is complete: from now on the controller gets events of packets. The RTT
    /// of the handshake is already known, as with the modelled endpoint.
    pub fn establish(&mut self) {
        self.sender.path.established = true;
        if let Some((_, smoothed)) = self.smoothed.filter(|_| self.handshake_delivered) {
            self.sender.take_rtt(smoothed, Duration::ZERO);
            self.tell_handshake_rtt();
        }
    }

    fn tell_handshake_rtt(&mut self) {
        (self.sender).tell(self.now, |controller, cx| controller.on_handshake_rtt(cx));
        self.sender.decide();
    }

    /// The path MTU has changed.
    pub fn set_mtu(&mut self, mtu: Bytes) {
        self.sender.path.mtu = mtu;
    }

    /// The stack's smoothed RTT. Its change yields the sample, minus the
    /// acknowledgement delay, which the stack does not report.
    pub fn note_smoothed(&mut self, smoothed: Duration) {
        let before = self.smoothed.map_or(smoothed, |(_, after)| after);
        self.smoothed = Some((before, smoothed));
    }

    /// A packet of the application space was sent.
    pub fn on_sent(&mut self, now: Instant, number: u64, size: Bytes) {
        self.flush();
        self.now = now;
        if self.sent.back().is_some_and(|last| last.number >= number) {
            // Numbers restart in each packet number space; the handshake is over.
            self.sent.clear();
            self.sender.path.bytes_in_flight = Bytes::ZERO;
        }
        let prior_in_flight = self.sender.path.bytes_in_flight;
        let was_idle = prior_in_flight.is_zero();
        let (last, most) = (self.last_sent, self.config.max_ack_delay);
        if was_idle && self.sender.restart_if_idle(now, last, most) {
            self.sender.decide();
        }
        let is_probe = size > self.sender.path.mtu;
        if !is_probe {
            self.sender.path.bytes_in_flight += size;
        }
        self.sender.path.window_limited = false;
        let in_flight = self.sender.path.bytes_in_flight;
        let bytes = size.as_u64() as u32;
        let state = (self.sender.rate).on_send(now, bytes, in_flight, was_idle, &self.sender.path);
        self.sent.push_back(Outstanding {
            number,
            state,
            settled: false,
            is_probe,
        });
        self.sender.path.next_packet = number + 1;
        self.forget_settled();
        self.last_sent = now;
        self.sender.log.sent(now, number, size.as_u64());
        let event = Sent {
            packet: number,
            size,
            prior_in_flight,
            was_idle,
        };
        self.sender.on_sent(now, &event);
    }

    /// A packet was sent although the stack had not queried the window: a probe timeout has fired (RFC 9002
    /// section 6.2.4). The stack sends up to two probes per timeout.
    pub fn on_probe_sent(&mut self) {
        let Some(oldest) = self.sent.front() else {
            return;
        };
        if self.timed_out_at == self.now {
            return;
        }
        self.timed_out_at = self.now;
        self.timeouts += 1;
        self.sender.counters.timeouts += 1;
        let event = Timeout {
            count: self.timeouts,
            packet: oldest.number,
            snapshot: oldest.state.compare(&self.sender.path),
        };
        self.sender
            .tell_if_established(self.now, |controller, cx| controller.on_timeout(&event, cx));
        self.sender.decide();
    }

    /// There was data to send, and the window blocked it.
    pub fn on_window_limited(&mut self) {
        self.sender.path.window_limited = true;
    }

    /// The sender could send but has no data.
    pub fn on_nothing_to_send(&mut self, now: Instant) {
        self.flush();
        self.now = now;
        self.sender.run_dry(now);
    }

    /// A packet is acknowledged. Handshake packets, which have other number spaces, are distinguished by
    /// their send time.
    pub fn on_acked(
        &mut self,
        now: Instant,
        sent: Instant,
        number: u64,
        size: Bytes,
        app_limited: bool,
    ) {
        if self.batch.ended {
            self.flush();
        }
        self.now = now;
        if !self.sender.path.established {
            self.handshake_delivered = true;
            let bytes = self.sender.counted(size);
            self.sender.count_handshake_delivery(now, bytes, Some(sent));
            return;
        }
        if app_limited && self.batch.acked.is_empty() && !self.sender.rate.is_app_limited() {
            // Nothing was sent since the stack ran dry, so what is in flight now was in flight then.
            self.on_nothing_to_send(now);
        }
        let known = self.find(number).is_some_and(|position| {
            let packet = &self.sent[position];
            packet.state.sent == sent && packet.size() == size && !packet.settled
        });
        if known {
            self.batch.acked.push(number);
        }
    }

    /// A packet is removed without acknowledgement or loss: it is not ack-eliciting.
    pub fn forget(&mut self, number: u64) {
        if let Some(position) = self.find(number)
            && !self.sent[position].settled
        {
            self.sent[position].settled = true;
            self.sender.path.bytes_in_flight -= self.sent[position].size();
            self.forget_settled();
        }
    }

    /// All acknowledgements of one frame have been reported.
    pub fn on_acks_ended(&mut self, now: Instant) {
        self.now = now;
        self.batch.ended = true;
    }

    /// A packet is declared lost.
    pub fn on_lost(&mut self, now: Instant, number: u64, size: Bytes) {
        self.now = now;
        let known = self.find(number).is_some_and(|position| {
            self.sent[position].size() == size && !self.sent[position].settled
        });
        if known {
            self.batch.lost.push(number);
        }
    }

    /// The losses of the current report establish persistent congestion (RFC 9002 section 7.6).
    pub fn on_persistent_congestion(&mut self) {
        self.batch.persistent = true;
    }

    /// The peer has reported CE marks.
    pub fn on_marked(&mut self, now: Instant) {
        self.on_marks(now, 1);
    }

    /// The peer has reported so many more CE marks: a log may tell.
    pub fn on_marks(&mut self, now: Instant, marks: u64) {
        self.now = now;
        self.batch.marks = self.batch.marks.max(marks);
    }

    /// Losses have proved spurious.
    pub fn on_spurious(&mut self) {
        if self.batch.ended {
            self.flush();
        }
        self.batch.spurious = true;
    }

    /// One packet that was declared lost has been acknowledged: a log may tell which.
    pub fn on_late(&mut self, now: Instant, number: u64) {
        self.flush();
        self.now = now;
        let lost = &mut self.recently_lost;
        if let Some(place) = lost.iter().position(|lost| lost.number == number)
            && let Some(lost) = lost.remove(place)
        {
            self.tell_late(&lost);
            self.late += self.sender.counted(lost.size);
            self.sender.decide();
        }
    }

    pub(super) fn find(&self, number: u64) -> Option<usize> {
        self.sent
            .binary_search_by_key(&number, |packet| packet.number)
            .ok()
    }

    /// Removes finished packets below the oldest outstanding one. The stack does not report lost path MTU
    /// probes: one with later packets acknowledged counts as lost.
    pub(super) fn forget_settled(&mut self) {
        let largest = self.sender.path.largest_acked;
        while let Some(oldest) = self.sent.front()
            && (oldest.settled
                || oldest.is_probe && largest.is_some_and(|largest| oldest.number < largest))
        {
            self.sent.pop_front();
        }
        self.sender.path.lowest_unacked = self
            .sent
            .front()
            .map_or(self.sender.path.next_packet, |packet| packet.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng as _;

    /// A controller that paces its first flight by the RTT of the handshake does so whenever it is bound.
    #[test]
    fn a_controller_that_is_bound_after_the_handshake_gets_its_rtt() {
        let name = "reno:variant=picoquic";
        let spec = thalweg_c4_history::registry().read(name).unwrap();
        let config = TransportConfig::default();
        let init = Init {
            now: Instant::START,
            mtu: config.initial_mtu,
            initial_window: config.initial_window,
            media: None,
        };
        let established = |spec: &ControllerSpec| {
            let rng = Rng::seed_from_u64(1);
            let mut flow = StackFlow::new(Some(spec.build(&init)), config.clone(), init.now, rng);
            let later = Instant::START + Duration::from_millis(80);
            flow.note_smoothed(Duration::from_millis(80));
            flow.on_acked(later, Instant::START, 0, Bytes::new(1200), false);
            flow.establish();
            flow
        };
        let mut from_the_start = established(&spec);
        let mut bound_later = established(&"cubic".parse().unwrap());
        bound_later.replace_controller(&spec);
        assert!(from_the_start.control().pacing.is_some());
        assert_eq!(bound_later.control(), from_the_start.control());
    }
}
