//! Recovery (RFC 9002): timers, probes, loss detection, spurious losses, and retransmission.

use super::Endpoint;
use crate::packet::{Frame, MAX_FRAMES, used};
use crate::rtt;
use crate::sent_packets::{Fate, SentPackets};
use crate::{Role, Rules};
use thalweg_control::PathState;
use thalweg_control::event::{SpuriousLoss, Timeout};
use thalweg_units::{Bytes, Duration, Instant};

/// kPacketThreshold (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

fn is_finished(frame: &Frame) -> bool {
    matches!(frame, Frame::ServerFinished | Frame::ClientFinished { .. })
}

/// Whether the frame is retransmitted when lost: not a PING, padded or not, or a datagram.
fn can_be_repeated(frame: &Frame) -> bool {
    !matches!(
        frame,
        Frame::Ping | Frame::MtuProbe | Frame::Datagram { .. }
    )
}

impl Endpoint {
    /// When loss detection acts: the time threshold of a suspect, else the probe timeout (RFC 9002
    /// section 6.2.1).
    #[inline]
    pub(super) fn loss_deadline(&self) -> Instant {
        if let Some(time) = self.loss_time {
            return time;
        }
        if self.sent.nothing_outstanding() || self.may_not_probe() {
            return Instant::NEVER;
        }
        self.last_eliciting + self.probe_period
    }

    /// The RTT or the number of timeouts has changed.
    pub(super) fn renew_probe_period(&mut self) {
        if self.sender.path.has_rtt() {
            let period = rtt::probe_timeout(&self.sender.path, self.config.max_ack_delay);
            self.probe_period = period * (1 << self.timeouts.min(16));
        }
    }

    /// Whether the anti-amplification limit forbids the probe, so that there is no timer (RFC 9002 section
    /// 6.2.2.1).
    fn may_not_probe(&self) -> bool {
        if self.role == Role::Client || self.handshake.validated {
            return false;
        }
        let oldest = self.sent.get(self.sent.lowest_outstanding());
        let probe = match oldest.map(|packet| packet.frames[0]) {
            Some(Frame::ServerFinished) => self.handshake.server_finished_size(),
            _ => self.largest_packet(),
        };
        !self.handshake.may_send(probe)
    }

    /// A probe timeout (RFC 9002 section 6.2.4): packets may be sent regardless of the window. Two by the RFC, so that
    /// the loss of one does not cost another period; picoquic sends one.
    pub(super) fn probe(&mut self, now: Instant) {
        if self.counts_acks && self.gives_up_acks(now) {
            return;
        }
        self.timeouts += 1;
        self.limits.stall(now, self.last_eliciting);
        self.renew_probe_period();
        self.probes = match self.config.rules {
            Rules::Rfc => 2,
            Rules::Picoquic => 1,
        };
        self.sender.counters.timeouts += 1;
        let oldest = self.sent.lowest_outstanding();
        let Some(packet) = self.sent.get(oldest) else {
            return;
        };
        if self.timed_out.is_none() {
            self.timed_out = Some((oldest, self.sent.next_number()));
        }
        let snapshot = packet.state.compare(&self.sender.path);
        self.requeue_for_probes(oldest);
        self.ecn_validation.on_timeout(self.timeouts);
        if self.config.mtu_fallback && self.timeout_concerns_mtu() {
            self.fall_back_to_initial_mtu();
        }
        let event = Timeout {
            count: self.timeouts,
            packet: oldest,
            snapshot,
        };
        self.sender
            .tell_if_established(now, |controller, cx| controller.on_timeout(&event, cx));
        self.refresh_control();
    }

    /// Queues the data of probes (RFC 9002 section 6.2.4): new data if available, else the data of the oldest packets with
    /// data. The Finished of the handshake, whose packet number space has its own timer (section 6.2.1), is always
    /// repeated, even behind 0-RTT data. Picoquic repeats the oldest packet.
    fn requeue_for_probes(&mut self, oldest: u64) {
        if self.config.rules == Rules::Picoquic {
            self.requeue_packet(oldest, |_| true);
            return;
        }
        let repeats_data = !self.has_data();
        let mut left = self.probes;
        let mut numbers = oldest..self.sent.next_number();
        let finished = numbers.find(|number| self.requeue_packet(*number, is_finished));
        left -= u32::from(finished.is_some());
        if repeats_data {
            for number in oldest..self.sent.next_number() {
                if left == 0 {
                    break;
                }
                if Some(number) != finished {
                    left -= u32::from(self.requeue_packet(number, can_be_repeated));
                }
            }
        }
    }

    /// Queues the frames of a packet again, if it is outstanding and has a `wanted` frame; returns whether it has.
    fn requeue_packet(&mut self, number: u64, wanted: impl Fn(&Frame) -> bool) -> bool {
        let Some(packet) = self.sent.get(number) else {
            return false;
        };
        let frames = packet.frames;
        let repeats = self.sent.fate(number) == Fate::Outstanding && used(&frames).any(wanted);
        if repeats {
            self.requeue(&frames);
        }
        repeats
    }

    /// Declares packets lost and reports each to the controller. The next acknowledgement event reports all of them,
    /// including those found by the timer.
    pub(super) fn detect_losses(&mut self, now: Instant) {
        if (self.sender.path.largest_acked)
            .is_none_or(|largest| self.sent.lowest_outstanding() > largest)
        {
            // Nothing is older than what has arrived.
            self.loss_time = None;
            return;
        }
        let mut lost = std::mem::take(&mut self.lost_scratch);
        let delay = self.config.max_ack_delay;
        let found = scan(
            now,
            &self.sent,
            &self.sender.path,
            self.first_rtt_at,
            delay,
            &mut lost,
        );
        self.loss_time = found.loss_time;
        let mut bytes = Bytes::ZERO;
        for number in lost.drain(..) {
            let packet = self.sent.lose(number);
            let (is_mtu_probe, frames, state) =
                (packet.is_mtu_probe(), packet.frames, packet.state);
            if is_mtu_probe {
                self.sender.lose_mtu_probe(now, number, &state);
                self.repeat_mtu_probe();
                continue;
            }
            let persistent = found.persistent_at == Some(number);
            if self.config.mtu_fallback {
                self.count_full_loss(state.size);
            }
            let event = self.sender.lose(now, number, &state, true, persistent);
            bytes += self.sender.counted(event.size);
            self.requeue(&frames);
            if self.datagrams.reports_losses {
                self.lose_datagrams(&frames);
            }
            self.sender
                .tell(now, |controller, cx| controller.on_lost(&event, cx));
        }
        self.sent.advance();
        self.sender.path.lowest_unacked = self.sent.lowest_outstanding();
        self.lost_scratch = lost;
        self.unreported_losses.0 += bytes;
        self.unreported_losses.1 += found.ranges;
        if found.persistent_at.is_some() {
            self.sender.forget_min_rtt();
        }
    }

    /// Queues the frames of a lost packet that are still needed (RFC 9000 section 13.3).
    fn requeue(&mut self, frames: &[Frame; MAX_FRAMES]) {
        (self.receiver.control_due, self.resets_due) = (true, true);
        for frame in used(frames) {
            match *frame {
                Frame::Stream {
                    id,
                    offset,
                    len,
                    fin,
                } => {
                    if let Some(stream) = self.send_stream(id) {
                        stream.on_lost(offset, len, fin);
                    }
                }
                Frame::MaxData(_) => self.receiver.granted.pending = true,
                Frame::MaxStreamData { id, .. } => {
                    if let Some(stream) = self.receiver.stream(id) {
                        stream.limit_pending = !stream.closed;
                    }
                }
                Frame::StopSending(id) => {
                    if let Some(stream) = self.receiver.stream(id) {
                        stream.stop_pending = !stream.ended;
                    }
                }
                Frame::ResetStream { id, .. } => {
                    if let Some(stream) = self.send_stream(id) {
                        stream.reset_pending = true;
                    }
                }
                Frame::AckFrequency { .. } => self.ack_frequency_pending = true,
                Frame::ServerFinished | Frame::ClientFinished { .. } => {
                    self.handshake.finished_pending = true;
                }
                Frame::Ping
                | Frame::MtuProbe
                | Frame::Datagram { .. }
                | Frame::HandshakeAck { .. }
                | Frame::None => {}
            }
        }
    }

    /// Reports spurious losses and timeouts.
    pub(super) fn report_spurious(
        &mut self,
        now: Instant,
        spurious: &[(u64, u32, Instant)],
        largest: u64,
        prior_largest: Option<u64>,
    ) {
        self.sender.counters.spurious_losses += spurious.len() as u64;
        for &(packet, size, sent) in spurious {
            self.report_spurious_one(now, packet, size, sent, false);
        }
        // A timeout was spurious if its packet is acknowledged before any packet sent after the
        // timeout.
        if let Some((packet, probe)) = self.timed_out
            && largest < probe
            && packet <= largest
            && prior_largest.is_none_or(|n| n < packet)
            && packet < self.sent.lowest_outstanding()
        {
            let sent = self.sent.get(packet).map_or(now, |p| p.state.sent);
            let size = self.sent.get(packet).map_or(0, |p| p.state.size);
            self.report_spurious_one(now, packet, size, sent, true);
        }
    }

    fn report_spurious_one(
        &mut self,
        now: Instant,
        packet: u64,
        size: u32,
        sent: Instant,
        timeout_only: bool,
    ) {
        let size = Bytes::new(u64::from(size));
        let event = SpuriousLoss {
            packet,
            size,
            sent,
            timeout_only,
        };
        self.sender.tell_if_established(now, |controller, cx| {
            controller.on_spurious_loss(&event, cx)
        });
    }
}

/// Result of a scan.
#[derive(Debug, Default)]
struct Scan {
    /// When the oldest suspect becomes lost by time.
    loss_time: Option<Instant>,
    /// Separate runs of lost packet numbers.
    ranges: u32,
    /// Packet number of the loss that completes a period of persistent congestion.
    persistent_at: Option<u64>,
}

/// Finds the packets that are lost now and puts their numbers into `lost`, oldest first.
///
/// The scan stops at the first packet that is not lost: on one path, send times grow with packet
/// numbers, so that no later packet can be lost either.
fn scan(
    now: Instant,
    sent: &SentPackets,
    path: &PathState,
    first_rtt_at: Instant,
    max_ack_delay: Duration,
    lost: &mut Vec<u64>,
) -> Scan {
    let mut found = Scan::default();
    let Some(largest) = path.largest_acked else {
        return found;
    };
    let delay = rtt::loss_delay(path);
    let mut run_end = None;
    let mut period_start: Option<Instant> = None;
    for number in sent.lowest_outstanding()..largest {
        match sent.fate(number) {
            Fate::Outstanding => {}
            Fate::Lost => continue,
            Fate::Acknowledged => {
                period_start = None; // section 7.6.2: nothing between the two losses was acknowledged
                continue;
            }
        }
        let Some(packet) = sent.get(number) else {
            break;
        };
        let deadline = packet.state.sent + delay;
        if largest - number < PACKET_THRESHOLD && now < deadline {
            found.loss_time = Some(deadline);
            break;
        }
        lost.push(number);
        if packet.is_mtu_probe() {
            // It says nothing of congestion (RFC 9000 section 14.4), nor does it part what was lost around it.
            run_end = run_end.map(|end| end + u64::from(end == number));
            continue;
        }
        if run_end != Some(number) {
            found.ranges += 1;
        }
        run_end = Some(number + 1);
        // Section 7.6.2: only packets sent after the first RTT sample count.
        if packet.state.sent >= first_rtt_at {
            let start = *period_start.get_or_insert(packet.state.sent);
            if packet.state.sent - start > rtt::persistent_congestion(path, max_ack_delay) {
                found.persistent_at = Some(number);
            }
        }
    }
    found
}
