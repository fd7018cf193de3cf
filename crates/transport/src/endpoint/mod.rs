//! One end of a connection: what it is told, what it decides, when it wants to be woken.
//!
//! The endpoint is sans-I/O. Whoever drives it delivers packets with [`Endpoint::receive`], asks for
//! packets with [`Endpoint::transmit`] until there are none, and calls [`Endpoint::expire`] at
//! [`Endpoint::next`].

mod receive;
mod transmit;

use crate::ack_frequency::AckFrequency;
use crate::datagrams::Datagrams;
use crate::delivery_rate::DeliveryRate;
use crate::flow_control::Credit;
use crate::handshake::{Handshake, SERVER_FINISHED_SIZE, Stage};
use crate::loss_detection;
use crate::pacer::Pacer;
use crate::packet::{ACK_ONLY_SIZE, Frame, MAX_FRAMES, StreamId, used};
use crate::packet_log::PacketLog;
use crate::receiver::Receiver;
use crate::rtt;
use crate::send_stream::{self, SendStream};
use crate::sent_packets::{Fate, SentPackets};
use crate::{Rules, TransportConfig};
use std::collections::VecDeque;
use thalweg_control::event::{Lost, Timeout};
use thalweg_control::{Context, Control, Controller, PathState, Rng};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection.
    Client,
    /// Answers.
    Server,
}

/// What an endpoint tells its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// Streams can be used: the handshake is complete, or 0-RTT lets data travel with it.
    Connected,
    /// More of a stream can be read in order.
    StreamData {
        /// Which stream.
        id: StreamId,
        /// Bytes readable since the start of the stream.
        contiguous: u64,
        /// Whether that is all of it.
        complete: bool,
    },
    /// The sender abandoned a stream.
    StreamReset(StreamId),
    /// The receiver wants no more of a stream.
    StopSending(StreamId),
    /// A datagram arrived.
    Datagram {
        /// What the sending application called it.
        tag: u64,
        /// Number of bytes.
        len: u32,
    },
    /// The connection is closed on both sides.
    Closed,
}

/// What an endpoint counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Numbered packets sent.
    pub packets_sent: u64,
    /// Bytes of numbered packets sent (UDP payload).
    pub bytes_sent: u64,
    /// Packets declared lost, those that proved spurious included.
    pub packets_lost: u64,
    /// Losses that proved spurious.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Stream bytes received for the first time.
    pub stream_bytes_received: u64,
    /// Datagrams received.
    pub datagrams_received: u64,
    /// RTT samples taken.
    pub rtt_samples: u64,
    /// Their sum.
    pub rtt_sum: Duration,
    /// The smallest; that of the path may be renewed (RFC 9002 section 5.2).
    pub rtt_min: Duration,
    /// The largest.
    pub rtt_max: Duration,
}

impl Counters {
    /// Counts an RTT sample.
    pub(crate) fn count_rtt(&mut self, sample: Duration) {
        self.rtt_min = match self.rtt_samples {
            0 => sample,
            _ => self.rtt_min.min(sample),
        };
        self.rtt_samples += 1;
        self.rtt_sum += sample;
        self.rtt_max = self.rtt_max.max(sample);
    }
}

/// State of the closing exchange (RFC 9000 section 10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Open,
    /// A CONNECTION_CLOSE waits to be sent.
    Requested,
    /// Sent; the peer's is awaited, at most until then.
    Waiting(Instant),
    /// The peer has closed and waits for ours.
    Answering,
    Closed,
}

/// One end of a modelled QUIC connection.
///
/// The fields lie in memory as they stand here, by how often they are needed: what every arrival touches,
/// then every departure and acknowledgement, then the rest. With a thousand flows nearly all of it has left the
/// processor's cache when a flow comes round again, and each cache line costs more than the work on it.
#[repr(C, align(64))]
pub struct Endpoint {
    /// Set while there is nothing to send and nothing outstanding: when that was last found. Data that
    /// arrives changes none of it, so that a receiver looks at its sending half only when it has to.
    at_rest: Option<Instant>,
    closing: Closing,
    events: VecDeque<AppEvent>,
    handshake: Handshake,
    receiver: Receiver,

    role: Role,
    /// Whether only the pacer holds data back.
    pacing: bool,
    mtu_probe_pending: bool,
    ack_frequency_pending: bool,
    /// A stream may have a RESET_STREAM frame to send.
    resets_due: bool,
    /// Consecutive probe timeouts.
    timeouts: u32,
    /// Probe packets that may leave regardless of the window.
    probes: u32,
    loss_time: Option<Instant>,
    last_eliciting: Instant,
    /// The probe timeout with its back-off (RFC 9002 section 6.2.1), as long as can be while no RTT is known.
    probe_period: Duration,
    control: Control,
    /// Codepoint of its packets, as the controller last said.
    ecn: Ecn,
    pacer: Pacer,
    credit: Credit,
    send_streams: Vec<SendStream>,
    serving: u64,
    datagrams: Datagrams,
    path: PathState,
    sent: SentPackets,
    rate: DeliveryRate,
    controller: Box<dyn Controller>,
    counters: Counters,
    log: PacketLog,
    noise: Rng,
    config: TransportConfig,

    rng: Rng,
    first_rtt_at: Instant,
    /// Bytes and separate runs of losses since the last acknowledgement.
    unreported_losses: (Bytes, u32),
    /// The packet that the first of the present timeouts fired for, and the first number sent after it.
    timed_out: Option<(u64, u64)>,
    mtu_probes_left: u32,
    /// Size of the largest probe that has arrived.
    confirmed_mtu: Bytes,
    ack_frequency: AckFrequency,
    // Kept between calls so that no call allocates.
    lost_scratch: Vec<u64>,
    spurious_scratch: Vec<(u64, u32, Instant)>,
}

impl Endpoint {
    /// An endpoint that has not been started. `rng` is lent to the controller, `noise` draws the lateness
    /// of wake-ups.
    pub fn new(
        role: Role,
        config: TransportConfig,
        controller: Box<dyn Controller>,
        rng: Rng,
        noise: Rng,
    ) -> Self {
        Endpoint {
            role,
            handshake: Handshake::new(),
            closing: Closing::Open,
            control: controller.control(),
            ecn: controller.ecn(),
            controller,
            rng,
            noise,
            path: PathState::new(config.initial_mtu),
            rate: DeliveryRate::new(config.rules),
            pacer: Pacer::new(),
            sent: SentPackets::default(),
            first_rtt_at: Instant::NEVER,
            unreported_losses: (Bytes::ZERO, 0),
            loss_time: None,
            timeouts: 0,
            probes: 0,
            timed_out: None,
            last_eliciting: Instant::START,
            probe_period: Duration::MAX,
            pacing: false,
            at_rest: None,
            mtu_probes_left: 3,
            confirmed_mtu: Bytes::ZERO,
            mtu_probe_pending: false,
            ack_frequency: AckFrequency::default(),
            ack_frequency_pending: false,
            receiver: Receiver::new(&config),
            credit: Credit::new(config.initial_max_data.as_u64()),
            send_streams: Vec::new(),
            resets_due: false,
            serving: 0,
            datagrams: Datagrams::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            log: PacketLog::default(),
            lost_scratch: Vec::new(),
            spurious_scratch: Vec::new(),
            config,
        }
    }

    /// The record of what became of each packet; off until it is started.
    pub fn packet_log(&mut self) -> &mut PacketLog {
        &mut self.log
    }

    /// Opens the connection (client).
    pub fn connect(&mut self) {
        self.handshake.start();
        if self.config.zero_rtt {
            self.events.push_back(AppEvent::Connected);
        }
    }

    /// Writes `bytes` to stream `id`, opening it if need be, and ends it if `fin`. Lower priorities are
    /// more urgent; see RFC 9218 for `incremental`. Both are taken from the first call.
    pub fn write(&mut self, id: StreamId, bytes: u64, fin: bool, priority: u8, incremental: bool) {
        self.end_rest();
        let place = match self
            .send_streams
            .binary_search_by_key(&id, |stream| stream.id)
        {
            Ok(place) => place,
            Err(place) => {
                let limit = self.config.initial_max_stream_data.as_u64();
                self.send_streams
                    .insert(place, SendStream::new(id, priority, incremental, limit));
                place
            }
        };
        self.send_streams[place].write(bytes, fin);
    }

    /// Queues a datagram of `len` bytes; the receiving application is told its `tag`. A datagram that does
    /// not fit a packet is cut to one.
    pub fn send_datagram(&mut self, len: u32, tag: u64, priority: u8) {
        self.end_rest();
        self.datagrams
            .push(priority, tag, len.min(self.largest_datagram()));
    }

    /// The largest datagram that fits a packet of any size that this path has been used with.
    fn largest_datagram(&self) -> u32 {
        use crate::packet::{ACK_FRAME_SIZE, DATAGRAM_FRAME_OVERHEAD, PACKET_OVERHEAD};
        let mtu = self.config.initial_mtu.as_u64() as u32;
        mtu - PACKET_OVERHEAD - ACK_FRAME_SIZE - DATAGRAM_FRAME_OVERHEAD
    }

    /// Asks the peer to stop sending on a stream.
    pub fn stop_receiving(&mut self, id: StreamId) {
        self.end_rest();
        if let Some(stream) = self.receiver.stream(id)
            && !stream.closed
        {
            stream.closed = true;
            stream.stop_pending = true;
            self.receiver.control_due = true;
        }
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        self.end_rest();
        if self.closing == Closing::Open {
            self.closing = Closing::Requested;
        }
    }

    /// The next thing the application should know.
    pub fn poll_event(&mut self) -> Option<AppEvent> {
        self.events.pop_front()
    }

    /// Whether [`Endpoint::poll_event`] has anything to tell.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Which end this is.
    pub fn role(&self) -> Role {
        self.role
    }
    /// What is known of the path.
    pub fn path(&self) -> &PathState {
        &self.path
    }
    /// The decision of the controller now in force.
    pub fn control(&self) -> &Control {
        &self.control
    }
    /// The controller, for traces.
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }
    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        Counters {
            stream_bytes_received: self.receiver.stream_bytes,
            datagrams_received: self.receiver.datagrams,
            ..self.counters
        }
    }
    /// The pacing rate in force: the controller's, or 5/4 of window over smoothed RTT (RFC 9002 section
    /// 7.7); `None` while nothing is known.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.control.pacing.or_else(|| {
            self.path
                .has_rtt()
                .then(|| Rate::over(self.control.window, self.path.smoothed_rtt).mul_div(5, 4))
        })
    }

    /// When the endpoint wants [`Endpoint::expire`] and [`Endpoint::transmit`] to be called again, if no
    /// packet arrives before. A time that has passed means now: an acknowledgement ends the back-off of the
    /// probe timeout, which counts from the last packet sent (RFC 9002 section A.8), and what a server
    /// receives lifts the anti-amplification limit, under which the timer was not set (section A.6).
    pub fn next(&self) -> Instant {
        if self.at_rest.is_some() {
            return self.receiver.acks.deadline();
        }
        match self.closing {
            Closing::Closed => return Instant::NEVER,
            Closing::Waiting(deadline) => return deadline,
            _ => {}
        }
        let mut next = self
            .ack_deadline()
            .min(self.handshake.deadline)
            .min(self.loss_deadline());
        if self.pacing {
            next = next.min(self.pacer.ready_at());
        }
        next
    }

    /// When an acknowledgement has to leave, if need be alone. A server that has used its anti-amplification
    /// credit waits for more.
    fn ack_deadline(&self) -> Instant {
        if self.role == Role::Server && !self.handshake.may_send(ACK_ONLY_SIZE) {
            return Instant::NEVER;
        }
        self.receiver.acks.deadline()
    }

    /// When loss detection acts: the time threshold of a suspect, else the probe timeout (RFC 9002
    /// section 6.2.1).
    #[inline]
    fn loss_deadline(&self) -> Instant {
        if let Some(time) = self.loss_time {
            return time;
        }
        if self.sent.nothing_outstanding() || self.may_not_probe() {
            return Instant::NEVER;
        }
        self.last_eliciting + self.probe_period
    }

    /// The RTT or the number of timeouts has changed.
    fn renew_probe_period(&mut self) {
        if self.path.has_rtt() {
            let period = rtt::probe_timeout(&self.path, self.config.max_ack_delay);
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
            Some(Frame::ServerFinished) => SERVER_FINISHED_SIZE,
            _ => self.largest_packet(),
        };
        !self.handshake.may_send(probe)
    }

    /// UDP payload of the largest packet that may leave next.
    #[inline]
    fn largest_packet(&self) -> u32 {
        let size = if self.mtu_probe_pending {
            self.config.max_mtu
        } else {
            self.path.mtu
        };
        size.as_u64() as u32
    }

    /// Acts on every timer that is due.
    pub fn expire(&mut self, now: Instant) {
        if self.at_rest.is_some() {
            return;
        }
        // RFC 9000 section 10.2.1: a connection that closes has no other timers.
        match self.closing {
            Closing::Waiting(deadline) => {
                if deadline <= now {
                    self.finish_closing();
                }
                return;
            }
            Closing::Closed => return,
            _ => {}
        }
        if self.handshake.deadline <= now {
            self.handshake.on_timeout();
        }
        if self.loss_deadline() <= now {
            if self.loss_time.is_some() {
                self.detect_losses(now);
                self.refresh_control();
            } else {
                self.probe(now);
            }
        }
    }

    /// Whether there is reason to be at rest, for debug builds: whatever changes the sending half has to call
    /// [`Endpoint::end_rest`].
    fn may_rest(&self) -> bool {
        self.closing == Closing::Open
            && self.is_complete()
            && self.sent.nothing_outstanding()
            && !self.has_work()
    }

    /// Something has happened that may concern the sending half.
    fn end_rest(&mut self) {
        if let Some(idle) = self.at_rest.take() {
            self.path.last_idle = idle;
        }
    }

    fn finish_closing(&mut self) {
        self.closing = Closing::Closed;
        self.events.push_back(AppEvent::Closed);
    }

    /// A probe timeout (RFC 9002 section 6.2.4): packets may leave regardless of the window. Two by the RFC, which allows
    /// them so that the loss of one does not cost another period; picoquic sends one.
    fn probe(&mut self, now: Instant) {
        self.timeouts += 1;
        self.renew_probe_period();
        self.probes = match self.config.rules {
            Rules::Rfc => 2,
            Rules::Picoquic => 1,
        };
        self.counters.timeouts += 1;
        let oldest = self.sent.lowest_outstanding();
        let Some(packet) = self.sent.get(oldest) else {
            return;
        };
        if self.timed_out.is_none() {
            self.timed_out = Some((oldest, self.sent.next_number()));
        }
        let snapshot = packet.state.compare(&self.path);
        let frames = packet.frames;
        self.requeue_for_probes(oldest, &frames);
        if self.path.established {
            let event = Timeout {
                count: self.timeouts,
                packet: oldest,
                snapshot,
            };
            let mut cx = Context {
                now,
                path: &self.path,
                rng: &mut self.rng,
            };
            self.controller.on_timeout(&event, &mut cx);
        }
        self.refresh_control();
    }

    /// What probes carry: new data if there is any, by RFC 9002 section 6.2.4, else that of the oldest packets. The
    /// Finished of the handshake, which has a packet number space of its own, is always repeated; picoquic repeats
    /// the oldest packet.
    fn requeue_for_probes(&mut self, oldest: u64, frames: &[Frame; MAX_FRAMES]) {
        let is_handshake =
            |frame: &Frame| matches!(frame, Frame::ServerFinished | Frame::ClientFinished { .. });
        if self.config.rules == Rules::Picoquic || used(frames).any(is_handshake) {
            self.requeue(frames);
            return;
        }
        if self.has_data() {
            return;
        }
        let mut left = self.probes;
        for number in oldest..self.sent.next_number() {
            if left == 0 {
                break;
            }
            if self.sent.fate(number) == Fate::Outstanding
                && let Some(packet) = self.sent.get(number)
            {
                let frames = packet.frames;
                self.requeue(&frames);
                left -= 1;
            }
        }
    }

    /// Declares packets lost and tells the controller of each. The next acknowledgement tells of all of them,
    /// those that the timer has found included.
    fn detect_losses(&mut self, now: Instant) {
        if (self.path.largest_acked).is_none_or(|largest| self.sent.lowest_outstanding() > largest)
        {
            // Nothing is older than what has arrived.
            self.loss_time = None;
            return;
        }
        let mut lost = std::mem::take(&mut self.lost_scratch);
        let delay = self.config.max_ack_delay;
        let found = loss_detection::scan(
            now,
            &self.sent,
            &self.path,
            self.first_rtt_at,
            delay,
            &mut lost,
        );
        self.loss_time = found.loss_time;
        let mut bytes = Bytes::ZERO;
        for number in lost.drain(..) {
            let packet = self.sent.lose(number);
            let (frames, state) = (packet.frames, packet.state);
            let size = state.size;
            let counted = Bytes::new(u64::from(size - self.config.rules.uncounted()));
            bytes += counted;
            self.path.bytes_in_flight -= Bytes::new(u64::from(size));
            self.path.lost += counted;
            self.counters.packets_lost += 1;
            self.log.lost(now, number, u64::from(size));
            self.requeue(&frames);
            let event = Lost {
                packet: number,
                size: Bytes::new(u64::from(size)),
                snapshot: state.compare(&self.path),
                persistent_congestion: found.persistent_at == Some(number),
            };
            let mut cx = Context {
                now,
                path: &self.path,
                rng: &mut self.rng,
            };
            self.controller.on_lost(&event, &mut cx);
        }
        self.sent.advance();
        self.path.lowest_unacked = self.sent.lowest_outstanding();
        self.lost_scratch = lost;
        self.unreported_losses.0 += bytes;
        self.unreported_losses.1 += found.ranges;
        if found.persistent_at.is_some() && self.config.rules == Rules::Rfc {
            // RFC 9002 section 5.2: the path may be another one. Picoquic has no persistent congestion.
            self.path.min_rtt = self.path.latest_rtt;
        }
    }

    /// Queues what a lost packet carried, as far as it still matters (RFC 9000 section 13.3).
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
                Frame::Ping if self.path.mtu < self.config.max_mtu => {
                    self.mtu_probe_pending = self.mtu_probes_left > 0;
                }
                Frame::Ping | Frame::Datagram { .. } | Frame::HandshakeAck { .. } | Frame::None => {
                }
            }
        }
    }

    /// Takes over what the controller has decided.
    fn refresh_control(&mut self) {
        self.control = self.controller.control();
        self.ecn = self.controller.ecn();
        let Some(rate) = self.pacing_rate() else {
            return;
        };
        let quantum = match self.control.pacing {
            Some(_) => self.control.quantum,
            // RFC 9002 section 7.7: bursts up to the initial window are acceptable.
            None => self.config.initial_window,
        };
        self.pacer.set(rate, quantum, self.path.mtu);
    }

    fn send_stream(&mut self, id: StreamId) -> Option<&mut SendStream> {
        let place = send_stream::place_of(&self.send_streams, id)?;
        Some(&mut self.send_streams[place])
    }

    fn is_complete(&self) -> bool {
        self.handshake.stage == Stage::Complete
    }
}
