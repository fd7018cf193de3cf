//! What a sender of a stack that is not ours has measured, and the controller that it tells.
//!
//! # Model
//! The stack reports each ack-eliciting packet that leaves, is acknowledged or is lost. From these reports
//! come the measurements that every controller gets ([`PathState`], delivery-rate samples, snapshots), with
//! the code of the modelled endpoint. Reports of one acknowledgement are collected and told to the controller
//! together, in the order that its trait promises.
//!
//! # Limits
//! The stack says that CE marks were reported, not how many: one mark is counted for each report. It names no
//! packet when losses prove spurious: all that were declared lost within two probe timeouts count as
//! spurious then, which is the stack's own rule. Every ack-eliciting packet counts as data.

use crate::delivery_rate::{DeliveryRate, SendState};
use crate::outstanding::{Batch, Forgotten, Newly, Outstanding};
use crate::{Counters, PacketLog, Rules, TransportConfig, rtt};
use std::collections::VecDeque;
use thalweg_control::event::{
    Ack, EcnCounts, Lost, RateSample, RttSample, Sent, SpuriousLoss, Timeout,
};
use thalweg_control::{
    Context, Control, Controller, ControllerSpec, Init, Observer, PathState, Rng,
};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// Nothing in flight for this long, or for a probe timeout if that is longer, is an idle period.
const IDLE: Duration = Duration::from_secs(1);

/// One sender of a stack that is not ours, with the controller that steers it.
pub struct StackFlow {
    /// `None` where the stack steers itself.
    controller: Option<Box<dyn Controller>>,
    /// Slow start threshold of the stack's own controller, in bytes.
    threshold: Option<u64>,
    control: Control,
    rng: Rng,
    config: TransportConfig,
    path: PathState,
    rate: DeliveryRate,
    /// In the order of their numbers, from the oldest that is open.
    sent: VecDeque<Outstanding>,
    recently_lost: VecDeque<Forgotten>,
    batch: Batch,
    now: Instant,
    /// RTT that the stack has smoothed, before and after the packet that came last.
    smoothed: Option<(Duration, Duration)>,
    /// Whether a packet of the handshake was acknowledged: only then does the stack know an RTT.
    handshake_delivered: bool,
    last_sent: Instant,
    /// Consecutive probe timeouts, and when the last of them was noticed.
    timeouts: u32,
    timed_out_at: Instant,
    seed: Option<(Bytes, Duration)>,
    counters: Counters,
    log: PacketLog,
}

impl StackFlow {
    /// A sender that has sent nothing. `controller` is `None` where the stack steers itself; `rng` is lent to it.
    pub fn new(controller: Option<Box<dyn Controller>>, config: TransportConfig, rng: Rng) -> Self {
        let control = match &controller {
            Some(controller) => controller.control(),
            None => Control {
                window: config.initial_window,
                pacing: None,
                quantum: Bytes::ZERO,
                startup_done: true,
            },
        };
        StackFlow {
            control,
            controller,
            threshold: None,
            rng,
            path: PathState::new(config.initial_mtu),
            rate: DeliveryRate::new(config.rules),
            sent: VecDeque::new(),
            recently_lost: VecDeque::new(),
            batch: Batch::default(),
            now: Instant::START,
            smoothed: None,
            handshake_delivered: false,
            last_sent: Instant::START,
            timeouts: 0,
            timed_out_at: Instant::NEVER,
            seed: config.seed,
            counters: Counters::default(),
            log: PacketLog::default(),
            config,
        }
    }

    /// What is known of the path.
    pub fn path(&self) -> &PathState {
        &self.path
    }
    /// What was counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// What the controller shows of itself, for traces.
    pub fn observe(&self, out: &mut dyn Observer) {
        if let Some(controller) = &self.controller {
            controller.observe(out);
        } else if let Some(threshold) = self.threshold {
            let window = self.control.window.as_u64();
            out.state(if window < threshold {
                "slow start"
            } else {
                "avoidance"
            });
            out.variable("ssthresh", threshold as f64);
        }
    }
    /// Takes over what the stack's own controller has decided; `threshold` is its slow start threshold in bytes.
    pub fn follow(&mut self, control: Control, threshold: Option<u64>) {
        self.control = control;
        self.threshold = threshold;
    }
    /// Binds another controller, before there was any data to send. Returns the codepoint that it wants.
    pub fn replace_controller(&mut self, spec: &ControllerSpec) -> Ecn {
        let init = Init {
            now: self.now,
            mtu: self.path.mtu,
            initial_window: self.config.initial_window,
        };
        let controller = spec.build(&init);
        let codepoint = controller.ecn();
        self.control = controller.control();
        self.controller = Some(controller);
        codepoint
    }
    /// The window that the sender starts with.
    pub fn initial_window(&self) -> Bytes {
        self.config.initial_window
    }

    /// The record of what became of each packet; off until it is started.
    pub fn packet_log(&mut self) -> &mut PacketLog {
        &mut self.log
    }

    /// The decision in force, once the controller has heard everything.
    pub fn control(&mut self) -> Control {
        self.flush();
        self.control
    }

    /// The handshake is complete: from now on the controller hears of packets. What the handshake has told
    /// of the RTT is known already, as with the modelled endpoint.
    pub fn establish(&mut self) {
        self.path.established = true;
        if let Some((_, smoothed)) = self.smoothed.filter(|_| self.handshake_delivered) {
            rtt::take_sample(&mut self.path, smoothed, Duration::ZERO, self.config.rules);
            self.counters.count_rtt(smoothed);
            self.tell(|controller, cx| controller.on_handshake_rtt(cx));
            self.decide();
        }
    }

    /// The largest packet that the path carries is known anew.
    pub fn set_mtu(&mut self, mtu: Bytes) {
        self.path.mtu = mtu;
    }

    /// The RTT that the stack has smoothed. The change that one sample makes tells the sample, less the
    /// acknowledgement delay, which the stack does not pass on.
    pub fn note_smoothed(&mut self, smoothed: Duration) {
        let before = self.smoothed.map_or(smoothed, |(_, after)| after);
        self.smoothed = Some((before, smoothed));
    }

    /// A packet of the application space left.
    pub fn on_sent(&mut self, now: Instant, number: u64, size: Bytes) {
        self.flush();
        self.now = now;
        if self.sent.back().is_some_and(|last| last.number >= number) {
            // Numbers start again in each packet number space; the handshake is over.
            self.sent.clear();
            self.path.bytes_in_flight = Bytes::ZERO;
        }
        let prior_in_flight = self.path.bytes_in_flight;
        let was_idle = prior_in_flight.is_zero();
        self.note_idle_restart(was_idle);
        let is_probe = size > self.path.mtu;
        if !is_probe {
            self.path.bytes_in_flight += size;
        }
        self.path.window_limited = false;
        let in_flight = self.path.bytes_in_flight;
        let bytes = size.as_u64() as u32;
        let state = (self.rate).on_send(now, bytes, in_flight, was_idle, &self.path);
        self.sent.push_back(Outstanding {
            number,
            state,
            settled: false,
            is_probe,
        });
        self.path.next_packet = number + 1;
        self.forget_settled();
        self.last_sent = now;
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += size.as_u64();
        self.log.sent(now, number, size.as_u64());
        let event = Sent {
            packet: number,
            size,
            prior_in_flight,
            was_idle,
        };
        self.tell(|controller, cx| controller.on_sent(&event, cx));
    }

    /// A packet left although the stack had not asked for the window: a probe timeout has fired (RFC 9002
    /// section 6.2.4). The stack sends up to two probes for each timeout.
    pub fn on_probe_sent(&mut self) {
        let Some(oldest) = self.sent.front() else {
            return;
        };
        if self.timed_out_at == self.now {
            return;
        }
        self.timed_out_at = self.now;
        self.timeouts += 1;
        self.counters.timeouts += 1;
        let event = Timeout {
            count: self.timeouts,
            packet: oldest.number,
            snapshot: oldest.state.compare(&self.path),
        };
        self.tell(|controller, cx| controller.on_timeout(&event, cx));
        self.decide();
    }

    /// There was data to send, and the window held it back.
    pub fn on_window_limited(&mut self) {
        self.path.window_limited = true;
    }

    /// The sender could send and has nothing to send.
    pub fn on_nothing_to_send(&mut self, now: Instant) {
        self.flush();
        self.now = now;
        self.path.last_idle = now;
        self.path.window_limited = false;
        let before = self.rate.is_app_limited();
        self.rate.mark_app_limited(self.path.bytes_in_flight);
        self.path.app_limited = true;
        if !before {
            self.tell(|controller, cx| controller.on_app_limited(cx));
        }
    }

    /// A packet is acknowledged. Handshake packets, which have numbers of their own, are told apart by the
    /// time at which they left.
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
        if !self.path.established {
            // Handshake packets count for the delivery rate, though no controller hears of them.
            self.handshake_delivered = true;
            self.rate
                .on_delivered(now, size - self.uncounted().min(size));
            let state = SendState::of_handshake(sent);
            self.rate.on_ack(now, &state, &mut self.path);
            return;
        }
        if app_limited && self.batch.acked.is_empty() && !self.rate.is_app_limited() {
            // Nothing was sent since the stack ran dry, so what is in flight now was in flight then.
            self.on_nothing_to_send(now);
        }
        let known = self.find(number).is_some_and(|place| {
            let packet = &self.sent[place];
            packet.state.sent == sent && packet.size() == size && !packet.settled
        });
        if known {
            self.batch.acked.push(number);
        }
    }

    /// A packet is neither acknowledged nor lost and never will be: one that elicits no acknowledgement.
    pub fn forget(&mut self, number: u64) {
        if let Some(place) = self.find(number)
            && !self.sent[place].settled
        {
            self.sent[place].settled = true;
            self.path.bytes_in_flight -= self.sent[place].size();
            self.forget_settled();
        }
    }

    /// All acknowledgements of one frame are in.
    pub fn on_acks_ended(&mut self, now: Instant) {
        self.now = now;
        self.batch.ended = true;
    }

    /// A packet is declared lost.
    pub fn on_lost(&mut self, now: Instant, number: u64, size: Bytes) {
        self.now = now;
        let known = self
            .find(number)
            .is_some_and(|place| self.sent[place].size() == size && !self.sent[place].settled);
        if known {
            self.batch.lost.push(number);
        }
    }

    /// The losses of the present report amount to persistent congestion (RFC 9002 section 7.6).
    pub fn on_persistent_congestion(&mut self) {
        self.batch.persistent = true;
    }

    /// The peer has reported CE marks.
    pub fn on_marked(&mut self, now: Instant) {
        self.now = now;
        self.batch.marked = true;
    }

    /// Packets that were declared lost have arrived after all.
    pub fn on_spurious(&mut self) {
        if self.batch.ended {
            self.flush();
        }
        self.batch.spurious = true;
    }

    /// Tells the controller what has been collected (the order is that of the `Controller` trait).
    pub fn flush(&mut self) {
        if self.batch.is_empty() {
            self.batch.ended = false;
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        let prior_in_flight = self.path.bytes_in_flight;
        let acked = self.settle_acked(&mut batch.acked);
        if batch.spurious {
            self.tell_spurious();
        }
        if batch.marked {
            self.tell_marked(acked.as_ref());
        }
        let (mut rtt, mut rate) = (None, None);
        if let Some(acked) = &acked {
            rtt = self.take_rtt(acked);
            self.offer_seed();
            self.rate.on_delivered(self.now, acked.bytes);
            rate = self.rate.on_ack(self.now, &acked.state, &mut self.path);
            self.path.largest_acked = self.path.largest_acked.max(Some(acked.largest));
            self.timeouts = 0;
        }
        let (newly_lost, lost_ranges) = self.tell_lost(&batch.lost, batch.persistent);
        if batch.persistent && self.config.rules == Rules::Rfc {
            self.path.min_rtt = self.path.latest_rtt; // RFC 9002 section 5.2
        }
        self.forget_settled();
        if let Some(acked) = acked {
            self.tell_acked(&acked, newly_lost, lost_ranges, rtt, rate, prior_in_flight);
        }
        self.decide();
        // The lists keep their memory.
        batch.acked.clear();
        batch.lost.clear();
        self.batch = Batch {
            acked: batch.acked,
            lost: batch.lost,
            ..Batch::default()
        };
    }

    fn settle_acked(&mut self, numbers: &mut [u64]) -> Option<Newly> {
        numbers.sort_unstable();
        let mut newly: Option<Newly> = None;
        let uncounted = self.uncounted();
        for &number in &*numbers {
            let Some(place) = self.find(number) else {
                continue;
            };
            let packet = &mut self.sent[place];
            packet.settled = true;
            self.log
                .acknowledged(self.now, number, packet.size().as_u64());
            if !packet.is_probe {
                self.path.bytes_in_flight -= packet.size();
            }
            let sent = packet.state.sent;
            self.path.newest_acked_data_sent = self.path.newest_acked_data_sent.max(sent);
            let (bytes, packets) = newly.map_or((Bytes::ZERO, 0), |n| (n.bytes, n.packets));
            newly = Some(Newly {
                largest: number,
                bytes: bytes + (packet.size() - uncounted),
                packets: packets + 1,
                state: packet.state,
            });
        }
        self.forget_settled();
        newly
    }

    fn uncounted(&self) -> Bytes {
        Bytes::new(u64::from(self.config.rules.uncounted()))
    }

    fn take_rtt(&mut self, acked: &Newly) -> Option<Duration> {
        if self.path.largest_acked.is_some_and(|n| n >= acked.largest) {
            return None;
        }
        let raw = self.now - acked.state.sent;
        // RFC 9002 section 5.3: smoothed' = 7/8 smoothed + 1/8 adjusted.
        let adjusted = match self.smoothed.take() {
            Some((before, after)) => {
                self.smoothed = Some((after, after));
                if before == after || !self.path.has_rtt() {
                    raw
                } else {
                    (after * 8 - before * 7).min(raw)
                }
            }
            None => raw,
        };
        let rtt = rtt::take_sample(&mut self.path, raw, raw - adjusted, self.config.rules);
        self.counters.count_rtt(rtt);
        let event = RttSample { rtt, raw };
        self.tell(|controller, cx| controller.on_rtt(&event, cx));
        Some(rtt)
    }

    /// Careful resume (draft-ietf-tsvwg-careful-resume, "Reconnaissance Phase"): the remembered window is
    /// offered once, if the RTT lies within a quarter of the remembered one.
    fn offer_seed(&mut self) {
        let Some((window, remembered)) = self.seed.take() else {
            return;
        };
        if self.path.min_rtt.abs_diff(remembered) * 4 <= remembered {
            self.tell(|controller, cx| controller.on_seed(window, cx));
        }
    }

    fn tell_marked(&mut self, acked: Option<&Newly>) {
        let (largest, packets) = acked.map_or((0, 0), |a| (a.largest, a.packets));
        let counts = &mut self.path.ecn;
        counts.ce += 1;
        counts.ect0 += packets.saturating_sub(1);
        counts.largest_acked = largest.max(counts.largest_acked);
        let event: EcnCounts = *counts;
        self.tell(|controller, cx| controller.on_ecn(&event, cx));
    }

    fn tell_lost(&mut self, numbers: &[u64], persistent: bool) -> (Bytes, u32) {
        let keep = rtt::probe_timeout(&self.path, Duration::ZERO) * 2;
        let now = self.now;
        if !numbers.is_empty() {
            self.recently_lost.retain(|lost| now - lost.sent <= keep);
        }
        let (mut bytes, mut ranges, mut expected) = (Bytes::ZERO, 0, None);
        let uncounted = self.uncounted();
        for (index, &number) in numbers.iter().enumerate() {
            let Some(place) = self.find(number) else {
                continue;
            };
            let packet = &mut self.sent[place];
            packet.settled = true;
            let (size, state) = (packet.size(), packet.state);
            let counted = size - uncounted;
            bytes += counted;
            if !packet.is_probe {
                self.path.bytes_in_flight -= size;
            }
            self.path.lost += counted;
            ranges += u32::from(expected != Some(number));
            expected = Some(number + 1);
            self.counters.packets_lost += 1;
            self.log.lost(now, number, size.as_u64());
            self.recently_lost.push_back(Forgotten {
                number,
                size,
                sent: state.sent,
            });
            let event = Lost {
                packet: number,
                size,
                snapshot: state.compare(&self.path),
                persistent_congestion: persistent && index + 1 == numbers.len(),
            };
            self.tell(|controller, cx| controller.on_lost(&event, cx));
        }
        (bytes, ranges)
    }

    fn tell_spurious(&mut self) {
        while let Some(lost) = self.recently_lost.pop_front() {
            self.path.lost -= lost.size - self.uncounted();
            self.counters.spurious_losses += 1;
            let event = SpuriousLoss {
                packet: lost.number,
                size: lost.size,
                sent: lost.sent,
                timeout_only: false,
            };
            self.tell(|controller, cx| controller.on_spurious_loss(&event, cx));
        }
    }

    fn tell_acked(
        &mut self,
        acked: &Newly,
        newly_lost: Bytes,
        lost_ranges: u32,
        rtt: Option<Duration>,
        rate: Option<RateSample>,
        prior_in_flight: Bytes,
    ) {
        let event = Ack {
            largest: acked.largest,
            newly_acked: acked.bytes,
            newly_acked_packets: acked.packets,
            newly_lost,
            lost_ranges,
            rtt,
            snapshot: acked.state.compare(&self.path),
            rate,
            prior_in_flight,
        };
        self.tell(|controller, cx| controller.on_ack(&event, cx));
    }

    fn note_idle_restart(&mut self, was_idle: bool) {
        if !was_idle || !self.rate.is_app_limited() {
            return;
        }
        let idle = rtt::probe_timeout(&self.path, self.config.max_ack_delay).max(IDLE);
        if self.now - self.last_sent > idle {
            self.tell(|controller, cx| controller.on_idle_restart(cx));
            self.decide();
        }
    }

    /// Only packets of the application space are reported to controllers.
    fn tell(&mut self, event: impl FnOnce(&mut dyn Controller, &mut Context<'_>)) {
        let Some(controller) = self.controller.as_deref_mut() else {
            return;
        };
        if !self.path.established {
            return;
        }
        let mut cx = Context {
            now: self.now,
            path: &self.path,
            rng: &mut self.rng,
        };
        event(controller, &mut cx);
    }

    /// Asks the controller for its decision.
    fn decide(&mut self) {
        if let Some(controller) = &self.controller {
            self.control = controller.control();
        }
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.sent
            .binary_search_by_key(&number, |packet| packet.number)
            .ok()
    }

    /// Forgets settled packets below the oldest open one. The stack does not report lost probes of the path
    /// MTU: one that later packets have overtaken is gone.
    fn forget_settled(&mut self) {
        let largest = self.path.largest_acked;
        while let Some(oldest) = self.sent.front()
            && (oldest.settled
                || oldest.is_probe && largest.is_some_and(|largest| oldest.number < largest))
        {
            self.sent.pop_front();
        }
        self.path.lowest_unacked = self
            .sent
            .front()
            .map_or(self.path.next_packet, |packet| packet.number);
    }
}
