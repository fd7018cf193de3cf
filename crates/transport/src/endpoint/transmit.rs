//! Sending packets.

use super::{Closing, Endpoint};
use crate::handshake::{
    CLIENT_FINISHED_SIZE, HANDSHAKE_ACK_SIZE, INITIAL_SIZE, SERVER_FINISHED_APP, SERVER_HELLO_SIZE,
    Stage,
};
use crate::limits::LimitedBy;
use crate::packet::{
    ACK_FRAME_SIZE, ACK_ONLY_SIZE, CONTROL_FRAME_SIZE, DATAGRAM_FRAME_OVERHEAD, Frame, Kind,
    MAX_FRAMES, PACKET_OVERHEAD, Packet, STREAM_FRAME_OVERHEAD,
};
use crate::rtt;
use crate::sent_packets::SentPacket;
use crate::{Role, Rules};
use rand_core::Rng as _;
use thalweg_control::event::Sent;
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// UDP payloads of CONNECTION_CLOSE packets, as in the reference.
const CLIENT_CLOSE_SIZE: u32 = 41;
const SERVER_CLOSE_SIZE: u32 = 32;
/// Frames of a packet under construction.
struct Draft {
    frames: [Frame; MAX_FRAMES],
    count: usize,
    room: u32,
}

impl Draft {
    fn push(&mut self, frame: Frame, size: u32) {
        self.frames[self.count] = frame;
        self.count += 1;
        self.room -= size;
    }
    fn has_space(&self, size: u32) -> bool {
        self.count < MAX_FRAMES && self.room >= size
    }
    /// One slot is reserved for data, so that control frames cannot starve it.
    fn has_space_for_control(&self) -> bool {
        self.count + 1 < MAX_FRAMES && self.room >= CONTROL_FRAME_SIZE
    }
}

impl Endpoint {
    /// Whether there is certainly nothing to transmit now: a cheap check before [`Endpoint::transmit`].
    #[inline]
    pub fn rests(&mut self, now: Instant) -> bool {
        let rests = self.at_rest.is_some() && self.ack_deadline() > now;
        if rests {
            debug_assert!(self.may_rest());
            self.at_rest = Some(now);
        }
        rests
    }

    /// The next packet to send now; call until there is none.
    pub fn transmit(&mut self, now: Instant) -> Option<Packet> {
        if self.at_rest.is_some() {
            debug_assert!(self.may_rest());
            self.at_rest = Some(now);
            return self.acknowledge_if_due(now);
        }
        if self.datagrams.may_expire() {
            self.expire_datagrams(now);
        }
        self.pacing = false;
        let is_complete = self.handshake.stage == Stage::Complete;
        if !is_complete && let Some(packet) = self.transmit_handshake(now) {
            return Some(packet);
        }
        if !matches!(self.closing, Closing::Open) {
            return self.transmit_close(now);
        }
        if is_complete || self.may_send_early_data() {
            if self.handshake.finished_pending && self.role == Role::Server {
                if (self.handshake).may_send(self.handshake.server_finished_size()) {
                    return Some(self.make_server_finished(now));
                }
            } else {
                let probes = self.probes;
                if self.data_may_leave(now) {
                    return Some(self.make_data_packet(now, self.probes < probes));
                }
            }
        }
        self.acknowledge_if_due(now)
    }

    #[cold]
    fn transmit_close(&mut self, now: Instant) -> Option<Packet> {
        let size = match self.closing {
            Closing::Requested => {
                let wait = rtt::probe_timeout(&self.sender.path, self.config.max_ack_delay) * 3;
                self.closing = Closing::Waiting(now + wait);
                CLIENT_CLOSE_SIZE
            }
            Closing::Answering => {
                self.finish_closing();
                SERVER_CLOSE_SIZE
            }
            Closing::Open | Closing::Waiting(_) | Closing::Closed => return None,
        };
        Some(Packet::of_kind(Kind::Close, size))
    }

    #[inline]
    fn acknowledge_if_due(&mut self, now: Instant) -> Option<Packet> {
        if self.ack_deadline() > now {
            return None;
        }
        if self.counts_acks && self.is_complete() {
            return self.acknowledge_counted(now);
        }
        self.acknowledge_alone(now)
    }

    /// An ACK-only packet.
    #[inline(never)] // keeps the common case short
    fn acknowledge_alone(&mut self, now: Instant) -> Option<Packet> {
        let ack = self.receiver.acks.take(now)?;
        self.handshake.on_sent(ACK_ONLY_SIZE);
        let mut packet = Packet::of_kind(Kind::AckOnly, ACK_ONLY_SIZE);
        packet.ack = Some(ack);
        Some(packet)
    }

    /// Whether numbered packets may be sent before the handshake is complete: with 0-RTT (RFC 9001 section 4.6), and
    /// by a server in answer to the first flight.
    fn may_send_early_data(&self) -> bool {
        let has_begun = self.handshake.stage != Stage::Idle;
        has_begun && (self.role == Role::Server || self.config.zero_rtt)
    }

    #[cold]
    fn transmit_handshake(&mut self, now: Instant) -> Option<Packet> {
        if self.handshake.ack_pending {
            let period = rtt::probe_timeout(&self.sender.path, self.config.max_ack_delay);
            self.handshake.on_ack_sent(now, period);
            return Some(self.make_handshake_packet(Kind::HandshakeAck, HANDSHAKE_ACK_SIZE));
        }
        if !self.handshake.flight_pending {
            return None;
        }
        let (kind, size) = match self.role {
            Role::Client => (Kind::ClientInitial, INITIAL_SIZE),
            Role::Server => (Kind::ServerHello, SERVER_HELLO_SIZE),
        };
        if self.role == Role::Server && !self.handshake.may_send(size) {
            return None;
        }
        let mut packet = self.make_handshake_packet(kind, size);
        packet.number = self.handshake.on_flight_sent(now);
        self.handshake.on_sent(size);
        Some(packet)
    }

    /// A packet of the Initial or Handshake space; what the peer has sent there is acknowledged in each.
    fn make_handshake_packet(&self, kind: Kind, size: u32) -> Packet {
        let mut packet = Packet::of_kind(kind, size);
        packet.frames[0] = Frame::HandshakeAck {
            largest: self.handshake.newest_received,
        };
        packet
    }

    /// Whether window, pacer and anti-amplification limit allow a packet and there is data for it.
    #[inline(always)] // in the one place that asks
    fn data_may_leave(&mut self, now: Instant) -> bool {
        let in_window = self.fits_window(self.largest_packet(), now);
        let may_send = in_window && (self.pacer.is_ready(now) || self.is_lone_packet());
        if self.probes == 0 {
            if !may_send {
                let has_work = self.has_work();
                self.sender.path.window_limited = !in_window && has_work;
                // Whether there is anything to send is checked again when the pacer is ready.
                self.pacing = in_window;
                match (has_work, in_window) {
                    (false, _) => self.wait_for_data(now),
                    (true, true) => self.wait_for(now, LimitedBy::Pacing),
                    (true, false) => self.wait_for(now, LimitedBy::Window),
                }
                return false;
            }
            if !self.has_work() {
                self.mark_idle(now);
                return false;
            }
        }
        self.sender.path.window_limited = !in_window;
        if self.role == Role::Server && !self.handshake.may_send(self.largest_packet()) {
            self.wait_for(now, LimitedBy::Handshake);
            return false;
        }
        self.probes = self.probes.saturating_sub(1);
        true
    }

    /// Whether the window allows a packet of that size. RFC 9002 section 7: bytes in flight must not
    /// exceed it. Picoquic is blocked when more than the window is in flight, so one packet may overshoot.
    /// A host that sends in bundles may wait for more room.
    #[inline]
    pub(super) fn fits_window(&self, size: u32, now: Instant) -> bool {
        let in_flight = self.sender.path.bytes_in_flight;
        let after = match self.config.rules {
            Rules::Rfc => in_flight + Bytes::new(u64::from(size)),
            Rules::Picoquic => in_flight,
        };
        (after <= self.sender.control.window || in_flight.is_zero())
            && !(self.bundles && self.waits_for_bundle(now))
    }

    /// Whether nothing is in flight, and what there is to send is less than a full packet. That is not a burst, from which
    /// pacing protects a path (RFC 9002 section 7.7). Without this rule a client whose few requests are all that its
    /// controller has measured waits for the credit of a full packet at that rate, 20 s at 71 bytes a second.
    #[cold]
    #[inline(never)] // a sender of bulk data has packets in flight
    fn has_less_than_a_packet(&self) -> bool {
        let most =
            self.sender.path.mtu.as_u64() - u64::from(PACKET_OVERHEAD + STREAM_FRAME_OVERHEAD);
        self.datagrams.front().is_none() && self.sendable() < most
    }

    /// Bytes of streams that wait, as far as the credit of the connection goes.
    pub(super) fn sendable(&self) -> u64 {
        let pending = self.send_streams.iter().map(|stream| stream.pending());
        pending.sum::<u64>().min(self.credit.left())
    }

    #[inline]
    pub(super) fn is_lone_packet(&self) -> bool {
        self.sender.path.bytes_in_flight.is_zero() && self.has_less_than_a_packet()
    }

    /// Whether there is anything to put into a numbered packet. A request for another ACK frequency waits for
    /// a packet with other content: a receiver of bulk data would acknowledge the first
    /// packet with it, and its acknowledgements would cover other pairs of packets than the reference's.
    #[inline]
    pub(super) fn has_work(&self) -> bool {
        self.handshake.finished_pending
            || self.mtu_probe_pending
            || self.receiver.granted.pending
            || ((self.receiver.control_due || self.resets_due) && self.streams_have_control())
            || self.has_data()
    }

    /// Whether a datagram or a stream has anything to send.
    #[inline]
    pub fn has_data(&self) -> bool {
        let credit = self.credit.left();
        self.datagrams.front().is_some() || self.send_streams.iter().any(|s| s.is_ready(credit))
    }

    /// Whether any stream has a control frame to send.
    #[cold]
    fn streams_have_control(&self) -> bool {
        self.receiver.has_control() || self.send_streams.iter().any(|s| s.reset_pending)
    }

    /// The sender could send but has no data.
    fn mark_idle(&mut self, now: Instant) {
        self.sender.run_dry(now);
        self.wait_for_data(now);
        if self.sent.nothing_outstanding() && self.is_complete() {
            self.at_rest = Some(now);
        }
    }

    /// The datagram that ends the server's first flight: the rest of its Handshake messages and its first
    /// 1-RTT packet.
    #[cold]
    fn make_server_finished(&mut self, now: Instant) -> Packet {
        self.handshake.finished_pending = false;
        let size = self.handshake.server_finished_size();
        // By RFC 9002 section 6.2.4 it is one of the two probes; picoquic sends its probe in addition.
        if self.config.rules == Rules::Rfc {
            self.probes = self.probes.saturating_sub(1);
        }
        let mut packet = Packet::of_kind(Kind::Data, size);
        packet.frames[0] = Frame::ServerFinished;
        (packet.number, packet.ecn) = self.register(now, size, SERVER_FINISHED_APP, &packet.frames);
        packet
    }

    /// A numbered packet, be it what a probe timeout asks for (`is_probe`) or another.
    #[inline(never)] // keeps the case without data short
    fn make_data_packet(&mut self, now: Instant, is_probe: bool) -> Packet {
        let mtu = self.sender.path.mtu.as_u64() as u32;
        let mut draft = Draft {
            frames: [Frame::None; MAX_FRAMES],
            count: 0,
            room: mtu - PACKET_OVERHEAD,
        };
        // The client's Finished and path MTU probes are sent before the first 1-RTT packets are acknowledged:
        // one ACK frame a moment later covers the server's whole flight, as in the reference.
        // Later, only data packets carry an acknowledgement: a packet of control frames does not change
        // the timing of acknowledgements (reference, "piggy-backs on data").
        let waits = self.handshake.finished_pending || self.mtu_probe_pending;
        let mut ack = None;
        if !waits && self.receiver.acks.has_news() && self.has_data() {
            ack = self.receiver.acks.take(now);
        }
        if ack.is_some() {
            draft.room -= ACK_FRAME_SIZE;
        }
        if !self.probes_mtu_first() {
            self.add_control_frames(&mut draft);
            self.add_data_frames(&mut draft);
        }
        let mut size = mtu - draft.room;
        if draft.count == 0 {
            if self.pads_ping(is_probe) {
                draft.push(Frame::MtuProbe, 1);
                size = self.take_mtu_probe();
            } else {
                draft.push(Frame::Ping, 1);
                size += 1;
            }
        }
        let (number, ecn) = self.register(now, size, size, &draft.frames);
        Packet {
            kind: Kind::Data,
            ecn,
            size,
            number,
            ack,
            frames: draft.frames,
        }
    }

    fn add_control_frames(&mut self, draft: &mut Draft) {
        if self.handshake.finished_pending && draft.has_space(CLIENT_FINISHED_SIZE) {
            self.handshake.finished_pending = false;
            let hello = self.handshake.newest_received;
            draft.push(Frame::ClientFinished { hello }, CLIENT_FINISHED_SIZE);
        }
        if self.ack_frequency_pending && draft.has_space_for_control() {
            self.ack_frequency_pending = false;
            let (every, delay) = self.ack_frequency.current();
            draft.push(Frame::AckFrequency { every, delay }, CONTROL_FRAME_SIZE);
        }
        if self.receiver.granted.pending && draft.has_space_for_control() {
            let limit = self.receiver.granted.take_update();
            draft.push(Frame::MaxData(limit), CONTROL_FRAME_SIZE);
        }
        if self.receiver.control_due || self.resets_due {
            self.add_control_frames_of_streams(draft);
        }
    }

    #[cold]
    fn add_control_frames_of_streams(&mut self, draft: &mut Draft) {
        for stream in self.receiver.streams() {
            if stream.limit_pending && draft.has_space_for_control() {
                let limit = stream.take_update();
                draft.push(
                    Frame::MaxStreamData {
                        id: stream.id,
                        limit,
                    },
                    CONTROL_FRAME_SIZE,
                );
            }
            if stream.stop_pending && draft.has_space_for_control() {
                stream.stop_pending = false;
                draft.push(Frame::StopSending(stream.id), CONTROL_FRAME_SIZE);
            }
        }
        for stream in &mut self.send_streams {
            if stream.reset_pending && draft.has_space_for_control() {
                stream.reset_pending = false;
                let (id, final_size) = (stream.id, stream.sent());
                draft.push(Frame::ResetStream { id, final_size }, CONTROL_FRAME_SIZE);
            }
        }
        self.receiver.control_due = self.receiver.has_control();
        self.resets_due = self.send_streams.iter().any(|s| s.reset_pending);
    }

    /// Fills the packet with data, most urgent first; at one priority datagrams go before streams, and
    /// lost stream data before new.
    fn add_data_frames(&mut self, draft: &mut Draft) {
        while draft.has_space(STREAM_FRAME_OVERHEAD + 1) {
            let credit = self.credit.left();
            let stream = self.most_urgent_stream(credit);
            let urgency = stream.map(|position| self.send_streams[position].priority);
            if let Some((priority, len)) = self.datagrams.front()
                && urgency.is_none_or(|urgency| priority <= urgency)
            {
                if !draft.has_space(len + DATAGRAM_FRAME_OVERHEAD) {
                    break;
                }
                if let Some((tag, len)) = self.datagrams.pop() {
                    draft.push(Frame::Datagram { tag, len }, len + DATAGRAM_FRAME_OVERHEAD);
                }
                if self.datagrams.are_apart {
                    break;
                }
                continue;
            }
            let Some(position) = stream else { break };
            self.serving += 1;
            let stream = &mut self.send_streams[position];
            stream.served = self.serving;
            let room = draft.room - STREAM_FRAME_OVERHEAD;
            let Some((frame, new)) = stream.take_frame(room, credit) else {
                continue;
            };
            self.credit.sent += new;
            let Frame::Stream { len, .. } = frame else {
                continue;
            };
            draft.push(frame, u32::from(len) + STREAM_FRAME_OVERHEAD);
        }
    }

    #[inline]
    fn most_urgent_stream(&self, credit: u64) -> Option<usize> {
        if let [only] = &self.send_streams[..] {
            return only.is_ready(credit).then_some(0);
        }
        self.most_urgent_of_many(credit)
    }

    #[inline(never)] // most connections have one
    fn most_urgent_of_many(&self, credit: u64) -> Option<usize> {
        let ready = self
            .send_streams
            .iter()
            .enumerate()
            .filter(|(_, s)| s.is_ready(credit));
        let order = |position: usize| {
            let stream = &self.send_streams[position];
            (
                stream.priority,
                if stream.incremental { stream.served } else { 0 },
                stream.id,
            )
        };
        ready
            .map(|(position, _)| position)
            .min_by_key(|position| order(*position))
    }

    /// Numbers a packet of `size` bytes, of which `in_flight` count as such, and keeps a record until its fate
    /// is known. Returns its number and its codepoint.
    pub(super) fn register(
        &mut self,
        now: Instant,
        size: u32,
        in_flight: u32,
        frames: &[Frame; MAX_FRAMES],
    ) -> (u64, Ecn) {
        let was_idle = self.sender.path.bytes_in_flight.is_zero();
        let (last, most) = (self.last_eliciting, self.config.max_ack_delay);
        if was_idle && self.sender.restart_if_idle(now, last, most) {
            self.refresh_control();
        }
        let prior_in_flight = self.sender.path.bytes_in_flight;
        self.sender.path.bytes_in_flight += Bytes::new(u64::from(in_flight));
        let total = self.sender.path.bytes_in_flight;
        let mut state =
            (self.sender.rate).on_send(now, in_flight, total, was_idle, &self.sender.path);
        state.ecn = self.ecn;
        let number = self.sent.next_number();
        let record = SentPacket {
            frames: *frames,
            state,
        };
        self.sent.push(record);
        self.sender.path.next_packet = self.sent.next_number();
        self.sender.path.lowest_unacked = self.sent.lowest_outstanding();
        self.last_eliciting = now;
        self.handshake.on_sent(size);
        let lateness = self.draw_lateness();
        self.pacer.spend(now, size, lateness);
        if self.sender.path.established {
            self.sender.log.sent(now, number, u64::from(size));
        }
        let event = Sent {
            packet: number,
            size: Bytes::new(u64::from(size)),
            prior_in_flight,
            was_idle,
        };
        self.sender.on_sent(now, &event);
        (number, self.ecn)
    }

    fn draw_lateness(&mut self) -> Duration {
        match self.config.wakeup_noise.as_nanos() {
            0 => Duration::ZERO,
            most => {
                // The high half of a product is uniform below `most + 1` without a division.
                let product = u128::from(self.noise.next_u64()) * (u128::from(most) + 1);
                Duration::from_nanos((product >> 64) as u64)
            }
        }
    }
}
