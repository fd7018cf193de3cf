//! Receiving packets.

use super::path_mtu::AckedSizes;
use super::{Closing, Endpoint};
use crate::ecn_validation::AckedByCodepoint;
use crate::handshake::{DELIVERED_BY_ACK, Stage};
use crate::packet::{AckFrame, Frame, Kind, Packet, used};
use crate::stream::send::{SendStream, place_of};
use crate::{AppEvent, Rules};
use thalweg_control::event::{Ack, Arrival, RttSample};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

impl Endpoint {
    /// A packet arrives.
    pub fn receive(&mut self, now: Instant, packet: &Packet) {
        self.handshake.on_received(packet.size);
        if packet.kind != Kind::Data || packet.ack.is_some() {
            self.end_rest();
        }
        match packet.kind {
            Kind::ClientInitial => self.on_client_initial(packet.number),
            Kind::ServerHello => self.on_server_hello(now, packet),
            Kind::HandshakeAck => self.on_handshake_ack(now, packet),
            Kind::Close => self.on_close(),
            Kind::Data | Kind::AckOnly => self.on_data(now, packet),
        }
    }

    fn on_client_initial(&mut self, number: u64) {
        self.handshake.on_flight(number);
        match self.handshake.stage {
            Stage::Idle => {
                self.handshake.start();
                self.handshake.finished_pending = true;
                self.mtu_probe_pending = self.sender.path.mtu < self.config.max_mtu;
                self.sender.path.bytes_in_flight += self.handshake.in_flight();
            }
            // The client did not receive the ServerHello.
            Stage::Started => self.handshake.flight_pending = true,
            Stage::Answered | Stage::Complete => {}
        }
    }

    fn on_server_hello(&mut self, now: Instant, hello: &Packet) {
        self.handshake.on_flight(hello.number);
        if self.handshake.stage == Stage::Started {
            self.take_handshake_rtt(now, acknowledged_flight(hello));
            self.handshake.on_answer(Stage::Answered);
        }
        self.handshake.ack_pending = true;
        self.complete_client();
    }

    /// The client is done when it has both parts of the server's flight.
    fn complete_client(&mut self) {
        if self.handshake.stage != Stage::Answered || !self.handshake.peer_finished {
            return;
        }
        self.handshake.on_answer(Stage::Complete);
        self.handshake.validated = true;
        self.handshake.finished_pending = true;
        self.handshake.ack_pending = false;
        self.mtu_probe_pending =
            self.sender.path.mtu < self.config.max_mtu && self.mtu_probes_left > 0;
        self.sender.path.established = true;
        if !self.config.zero_rtt {
            self.events.push_back(AppEvent::Connected);
        }
        self.refresh_control();
    }

    fn on_handshake_ack(&mut self, now: Instant, ack: &Packet) {
        // Any Handshake packet proves the client's address (RFC 9000 section 8.1).
        self.handshake.validated = true;
        if self.handshake.stage == Stage::Started {
            self.handshake.on_answer(Stage::Answered);
            let flight = acknowledged_flight(ack);
            self.take_handshake_rtt(now, flight);
            self.count_handshake_delivery(now, flight, DELIVERED_BY_ACK);
            self.refresh_control();
        }
    }

    fn on_client_finished(&mut self, now: Instant, flight: u64) {
        if self.handshake.stage == Stage::Complete {
            return;
        }
        if self.handshake.stage == Stage::Started {
            self.take_handshake_rtt(now, flight);
            self.count_handshake_delivery(now, flight, DELIVERED_BY_ACK);
        }
        self.handshake.on_answer(Stage::Complete);
        self.handshake.validated = true;
        self.sender.path.established = true;
        self.sender.path.bytes_in_flight -= self.handshake.in_flight();
        let delivered = self.handshake.delivered_by_finished();
        self.count_handshake_delivery(now, flight, delivered);
        self.events.push_back(AppEvent::Connected);
        self.refresh_control();
        self.request_ack_frequency(); // the first data packet takes it along
    }

    fn count_handshake_delivery(&mut self, now: Instant, flight: u64, bytes: Bytes) {
        let sent = self.handshake.flight_sent(flight);
        self.sender.count_handshake_delivery(now, bytes, sent);
    }

    /// An RTT sample is of the packet that is acknowledged, not of the last copy of it (RFC 9002 section 5.1).
    fn take_handshake_rtt(&mut self, now: Instant, flight: u64) {
        let Some(sent) = self.handshake.flight_sent(flight) else {
            return;
        };
        self.take_rtt(now, now - sent, Duration::ZERO);
        self.receiver.acks.note_rtt(now - sent);
        self.sender
            .tell(now, |controller, cx| controller.on_handshake_rtt(cx));
        self.refresh_control();
    }

    fn take_rtt(&mut self, now: Instant, raw: Duration, ack_delay: Duration) -> Duration {
        let sample = self.sender.take_rtt(raw, ack_delay);
        self.renew_probe_period();
        self.first_rtt_at = self.first_rtt_at.min(now);
        sample
    }

    fn on_close(&mut self) {
        match self.closing {
            Closing::Open | Closing::Requested => self.closing = Closing::Answering,
            Closing::Waiting(_) => self.finish_closing(),
            Closing::Answering | Closing::Closed => {}
        }
    }

    fn on_data(&mut self, now: Instant, packet: &Packet) {
        let keys = self.handshake.stage != Stage::Idle;
        if !keys || matches!(self.closing, Closing::Closed) {
            return; // RFC 9001 section 5.7: packets without keys are dropped
        }
        if packet.kind == Kind::Data {
            let (mut urgent, mut is_data) = (false, true);
            for frame in used(&packet.frames) {
                match frame {
                    Frame::Stream { fin, .. } => urgent |= fin,
                    Frame::Datagram { .. } => {}
                    Frame::ResetStream { .. } => (urgent, is_data) = (true, false),
                    _ => is_data = false,
                }
            }
            if !is_data {
                self.end_rest();
            }
            let is_new = match used(&packet.frames).next() {
                Some(_) => (self.receiver.acks).on_packet(now, packet.number, packet.ecn, urgent),
                // Only acknowledgements that count have none.
                None => (self.receiver.acks).on_silent(now, packet.number, packet.ecn),
            };
            if is_new {
                self.receiver.note_arrival(packet.number, now);
                for frame in used(&packet.frames) {
                    self.on_frame(now, packet.number, frame);
                }
                if self.receiver.granted.pending || self.receiver.control_due {
                    self.end_rest();
                }
            } else {
                return;
            }
        }
        if let Some(ack) = &packet.ack {
            self.on_ack_frame(now, ack);
        }
        if self.config.rules == Rules::Picoquic {
            (self.ack_frequency).on_received(now, packet.size, &self.sender.path);
        }
    }

    fn on_frame(&mut self, now: Instant, number: u64, frame: &Frame) {
        match *frame {
            Frame::None | Frame::Ping | Frame::MtuProbe | Frame::HandshakeAck { .. } => {}
            Frame::Stream {
                id,
                offset,
                len,
                fin,
            } => {
                let receiver = &mut self.receiver;
                if let Some(event) =
                    receiver.on_stream_frame(id, offset, len, fin, &self.sender.path)
                {
                    self.events.push_back(event);
                }
            }
            Frame::Datagram { tag, len } => {
                self.receiver.datagrams += 1;
                self.events.push_back(AppEvent::Datagram { tag, len });
            }
            Frame::MaxData(limit) => self.credit.limit = self.credit.limit.max(limit),
            Frame::MaxStreamData { id, limit } => {
                if let Some(stream) = self.send_stream(id) {
                    stream.peer_limit = stream.peer_limit.max(limit);
                }
            }
            Frame::AckFrequency { every, delay } => {
                self.receiver.acks.request(number, every, delay)
            }
            Frame::StopSending(id) => {
                if let Some(stream) = self.send_stream(id)
                    && !stream.reset
                {
                    stream.abandon();
                    self.resets_due = true;
                    self.events.push_back(AppEvent::StopSending(id));
                }
            }
            Frame::ResetStream { id, final_size } => {
                if let Some(event) = self.receiver.on_reset(id, final_size, &self.sender.path) {
                    self.events.push_back(event);
                }
            }
            Frame::ServerFinished => {
                self.handshake.peer_finished = true;
                self.complete_client();
            }
            Frame::ClientFinished { hello } => self.on_client_finished(now, hello),
        }
    }

    /// Processes an ACK frame (RFC 9002 section A.7). The order of the controller's events is the order of
    /// its trait's documentation.
    fn on_ack_frame(&mut self, now: Instant, ack: &AckFrame) {
        if self.peer_arrivals.is_some() {
            self.read_arrivals(ack);
        }
        let prior_in_flight = self.sender.path.bytes_in_flight;
        let prior_largest = self.sender.path.largest_acked;
        let uncounted = self.config.rules.uncounted();
        let mut newly = NewlyAcked::default();
        let mtu_fallback = self.config.mtu_fallback;
        let mut sizes = AckedSizes::new(self.sender.path.mtu);
        let mut spurious = std::mem::take(&mut self.spurious_scratch);
        let (streams, path) = (&mut self.send_streams, &mut self.sender.path);
        let log = &mut self.sender.log;
        self.sent.acknowledge(ack, |number, packet, was_lost| {
            let size = packet.state.size;
            newly.add(number, size - uncounted, packet.state.ecn);
            if mtu_fallback {
                sizes.add(size);
            }
            log.acknowledged(now, number, u64::from(size));
            if !was_lost {
                path.bytes_in_flight -= Bytes::new(u64::from(size));
            } else if !packet.is_mtu_probe() {
                spurious.push((number, size, packet.state.sent));
                path.lost -= Bytes::new(u64::from(size - uncounted));
            }
            for frame in used(&packet.frames) {
                newly.settle(frame, packet, streams, path);
            }
        });
        let newest = newly
            .newest
            .and_then(|number| Some((number, self.sent.get(number)?.state)));
        let Some((largest, state)) = newest else {
            self.spurious_scratch = spurious;
            self.check_unsent(ack);
            return;
        };
        // RFC 9000 section 14.3: an acknowledged probe confirms its size. It takes effect at the first acknowledgement
        // that the controller gets, so that no packet exceeds a window based on the smaller size.
        self.confirmed_mtu = self.confirmed_mtu.max(Bytes::new(u64::from(newly.probed)));
        if mtu_fallback {
            self.trust_acknowledged_sizes(&sizes);
        } else if self.sender.path.established {
            self.sender.path.mtu = self.sender.path.mtu.max(self.confirmed_mtu);
        }
        self.sender.path.largest_acked = Some(prior_largest.map_or(largest, |n| n.max(largest)));
        self.sender.path.lowest_unacked = self.sent.lowest_outstanding();
        if self.peer_arrivals.is_some() {
            self.report_arrivals(now);
        }
        self.report_spurious(now, &spurious, largest, prior_largest);
        spurious.clear();
        self.spurious_scratch = spurious;
        let is_newest = prior_largest.is_none_or(|n| largest > n);
        self.report_ecn(now, ack, newly.by_codepoint, is_newest);
        let rtt = (is_newest && ack.largest == largest)
            .then(|| self.on_rtt(now, now - state.sent, ack.delay()));
        if rtt.is_none() {
            self.check_unsent(ack);
        }
        self.sender.offer_seed(now);
        self.sender.rate.on_delivered(now, newly.bytes);
        let rate = self.sender.rate.on_ack(now, &state, &mut self.sender.path);
        self.detect_losses(now);
        let (newly_lost, lost_ranges) = std::mem::take(&mut self.unreported_losses);
        if self.sender.path.established {
            let event = Ack {
                largest,
                newly_acked: newly.bytes,
                newly_acked_packets: newly.packets,
                newly_lost,
                lost_ranges,
                rtt,
                snapshot: state.compare(&self.sender.path),
                rate,
                prior_in_flight,
            };
            self.sender
                .tell(now, |controller, cx| controller.on_ack(&event, cx));
        }
        if self.timeouts > 0 {
            self.timeouts = 0;
            self.renew_probe_period();
        }
        self.timed_out = None;
        self.probes = 0; // those that could not be sent in time
        self.refresh_control();
        self.request_ack_frequency();
        self.sent.forget(state.sent);
        if newly.stream_ended {
            self.send_streams.retain(|stream| !stream.is_done());
        }
        if self.skips.is_some() {
            self.check_skips(now, ack);
        }
    }

    /// Reads when the packets arrived that `ack` will newly acknowledge.
    #[inline(never)] // few flows want to know
    fn read_arrivals(&mut self, ack: &AckFrame) {
        let Some((arrivals, read)) = &mut self.peer_arrivals else {
            return;
        };
        read.clear();
        let notes = arrivals.notes();
        self.sent.each_acknowledged(ack, |packet, record| {
            read.extend(notes.read(packet).map(|arrived| Arrival {
                packet,
                size: Bytes::new(u64::from(record.state.size)),
                sent: record.state.sent,
                arrived,
            }));
        });
    }

    /// Reports what was read.
    #[inline(never)]
    fn report_arrivals(&mut self, now: Instant) {
        let Some((arrivals, read)) = &mut self.peer_arrivals else {
            return;
        };
        arrivals.notes().forget_below(self.sent.first());
        for arrival in read.iter() {
            self.sender
                .tell_if_established(now, |controller, cx| controller.on_arrival(arrival, cx));
        }
    }

    fn on_rtt(&mut self, now: Instant, raw: Duration, ack_delay: Duration) -> Duration {
        let rtt = self.take_rtt(now, raw, ack_delay.min(self.config.max_ack_delay));
        self.sender.tell_if_established(now, |controller, cx| {
            controller.on_rtt(&RttSample { rtt, raw }, cx)
        });
        rtt
    }

    fn report_ecn(
        &mut self,
        now: Instant,
        ack: &AckFrame,
        acked: AckedByCodepoint,
        is_newest: bool,
    ) {
        let counts = ack.ecn_counts();
        if !(self.ecn_validation).on_ack(acked, is_newest.then_some(&counts)) {
            return; // what they count means nothing
        }
        let more_marks = counts.ce > self.sender.path.ecn.ce;
        // An ACK frame older than the newest has no new counts.
        if counts.total() >= self.sender.path.ecn.total() {
            self.sender.path.ecn = counts;
        }
        if more_marks {
            self.sender
                .tell_if_established(now, |controller, cx| controller.on_ecn(&counts, cx));
        }
    }

    pub(super) fn request_ack_frequency(&mut self) {
        if !self.config.ack_frequency || !self.is_complete() {
            return;
        }
        if self.sender.is_undecided() {
            self.ack_frequency.hold();
            return;
        }
        let (least, most) = (self.config.min_ack_delay, self.config.max_ack_delay);
        if self
            .ack_frequency
            .update(
                self.config.rules,
                &self.sender.path,
                &self.sender.control,
                least,
                most,
            )
            .is_some()
        {
            self.ack_frequency_pending = true;
        }
    }
}

/// Number of the flight that a handshake packet acknowledges.
fn acknowledged_flight(packet: &Packet) -> u64 {
    let largest = used(&packet.frames).find_map(|frame| match *frame {
        Frame::HandshakeAck { largest } => Some(largest),
        _ => None,
    });
    largest.unwrap_or(0)
}

/// What one ACK frame newly acknowledges.
#[derive(Default)]
struct NewlyAcked {
    bytes: Bytes,
    packets: u64,
    newest: Option<u64>,
    by_codepoint: AckedByCodepoint,
    /// Size of the largest probe of the MTU.
    probed: u32,
    stream_ended: bool,
}

impl NewlyAcked {
    fn add(&mut self, number: u64, size: u32, ecn: Ecn) {
        self.bytes += Bytes::new(u64::from(size));
        self.packets += 1;
        self.newest = Some(number);
        self.by_codepoint.add(ecn);
    }

    /// Processes an acknowledged frame.
    #[inline]
    fn settle(
        &mut self,
        frame: &Frame,
        packet: &crate::sent_packets::SentPacket,
        streams: &mut [SendStream],
        path: &mut thalweg_control::PathState,
    ) {
        match *frame {
            Frame::Stream {
                id,
                offset,
                len,
                fin,
            } => {
                path.newest_acked_data_sent = path.newest_acked_data_sent.max(packet.state.sent);
                if let Some(position) = place_of(streams, id) {
                    streams[position].on_acked(offset, len, fin);
                    self.stream_ended |= streams[position].is_done();
                }
            }
            Frame::Datagram { .. } => {
                path.newest_acked_data_sent = path.newest_acked_data_sent.max(packet.state.sent);
            }
            Frame::ResetStream { id, .. } => {
                if let Some(position) = place_of(streams, id) {
                    streams[position].reset_acked = true;
                }
                self.stream_ended = true;
            }
            Frame::MtuProbe => {
                self.probed = self.probed.max(packet.state.size);
            }
            _ => {}
        }
    }
}
