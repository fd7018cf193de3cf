//! One endpoint of a connection.
//!
//! The endpoint is sans-I/O. Its driver delivers packets with [`Endpoint::receive`], takes
//! packets from [`Endpoint::transmit`] until there are none, and calls [`Endpoint::expire`] at
//! [`Endpoint::next`].

mod bulk;
mod bundles;
mod counted_acks;
mod datagrams;
mod limited;
mod path_mtu;
mod receive;
mod recovery;
mod skips;
mod transmit;

pub use bulk::Outlet;

use crate::ack::frequency::AckFrequency;
use crate::arrivals::Arrivals;
use crate::datagrams::Datagrams;
use crate::ecn_validation::EcnValidation;
use crate::handshake::{Handshake, Stage};
use crate::limits::Limits;
use crate::pacer::Pacer;
use crate::packet::{ACK_ONLY_SIZE, StreamId};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::sent_packets::SentPackets;
use crate::stream::flow_control::Credit;
use crate::stream::send::{SendStream, place_of};
use crate::{AppEvent, Bundle, Counters, PacketLog, Role, TransportConfig};
use rand_core::Rng as _;
use skips::Skips;
use std::collections::VecDeque;
use thalweg_control::event::Arrival;
use thalweg_control::{Control, Controller, Observer, PathState, Rng};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// State of the closing exchange (RFC 9000 section 10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Open,
    /// A CONNECTION_CLOSE waits to be sent.
    Requested,
    /// Sent; awaits the peer's, at most until then.
    Waiting(Instant),
    /// The peer has closed and waits for ours.
    Answering,
    Closed,
}

/// An endpoint of a modelled QUIC connection.
///
/// The order of the fields in memory is the order of this list, by frequency of use: every arrival,
/// then every departure and acknowledgement, then the rest. With a thousand flows nearly all of it has left the
/// processor's cache between uses, and each cache line costs more than the work on it.
#[repr(C, align(64))]
pub struct Endpoint {
    /// Set while there is nothing to send and nothing outstanding: when that was last checked. Arriving data
    /// does not change that, so a receiver checks its sending half only when necessary.
    at_rest: Option<Instant>,
    closing: Closing,
    events: VecDeque<AppEvent>,
    handshake: Handshake,
    receiver: Receiver,

    role: Role,
    /// Whether only the pacer holds data back.
    pacing: bool,
    /// Whether its host sends in bundles.
    bundles: bool,
    /// Whether its acknowledgements count in flight and are paced, and how many there were since the last PING.
    counts_acks: bool,
    acks_since_ping: u32,
    mtu_probe_pending: bool,
    ack_frequency_pending: bool,
    /// A stream may have a RESET_STREAM frame to send.
    resets_due: bool,
    /// Consecutive probe timeouts.
    timeouts: u32,
    /// Probe packets that may be sent regardless of the window.
    probes: u32,
    loss_time: Option<Instant>,
    last_eliciting: Instant,
    /// The probe timeout with its back-off (RFC 9002 section 6.2.1), maximal while no RTT is known.
    probe_period: Duration,
    /// Codepoint of its packets: the codepoint of the controller, if the path keeps it.
    ecn: Ecn,
    limits: Limits,
    pacer: Pacer,
    credit: Credit,
    send_streams: Vec<SendStream>,
    serving: u64,
    datagrams: Datagrams,
    sent: SentPackets,
    sender: Sender,
    noise: Rng,
    config: TransportConfig,

    ecn_validation: EcnValidation,
    first_rtt_at: Instant,
    /// Bytes and separate runs of losses since the last acknowledgement.
    unreported_losses: (Bytes, u32),
    /// The packet for which the first of the current timeouts fired, and the first number sent after it.
    timed_out: Option<(u64, u64)>,
    mtu_probes_left: u32,
    /// Size of the largest probe that has arrived.
    confirmed_mtu: Bytes,
    /// Full packets lost since one was acknowledged.
    full_losses: u32,
    ack_frequency: AckFrequency,
    /// Packet numbers that are left out, if any are.
    skips: Option<Box<Skips>>,
    // Kept between calls to avoid allocation.
    lost_scratch: Vec<u64>,
    spurious_scratch: Vec<(u64, u32, Instant)>,
    /// What the peer writes down of its arrivals, and the arrivals of the current ACK frame.
    peer_arrivals: Option<(Arrivals, Vec<Arrival>)>,
}

impl Endpoint {
    /// The controller, and the lateness of wake-ups, have other streams from now on.
    pub fn reseed(&mut self, rng: Rng, noise: Rng) {
        self.sender.reseed(rng);
        self.noise = noise;
    }

    /// An endpoint of a connection that starts at `start`. `rng` belongs to the controller, `noise` draws the lateness
    /// of wake-ups.
    pub fn new(
        role: Role,
        config: TransportConfig,
        start: Instant,
        controller: Box<dyn Controller>,
        rng: Rng,
        mut noise: Rng,
    ) -> Self {
        let skips = (config.skip_packet_numbers).then(|| Box::new(Skips::new(noise.next_u64())));
        let sender = Sender::new(Some(controller), &config, start, rng);
        Endpoint {
            role,
            handshake: Handshake::new(config.handshake_excess),
            closing: Closing::Open,
            ecn: sender.ecn(),
            sender,
            noise,
            limits: Limits::new(start),
            pacer: Pacer::new(start),
            sent: SentPackets::default(),
            ecn_validation: EcnValidation::new(),
            first_rtt_at: Instant::NEVER,
            unreported_losses: (Bytes::ZERO, 0),
            loss_time: None,
            timeouts: 0,
            probes: 0,
            timed_out: None,
            last_eliciting: start,
            probe_period: Duration::MAX,
            pacing: false,
            bundles: config.host.bundle != Bundle::Single,
            counts_acks: config.counted_acks,
            acks_since_ping: 0,
            at_rest: None,
            mtu_probes_left: path_mtu::MTU_PROBES,
            confirmed_mtu: Bytes::ZERO,
            full_losses: 0,
            mtu_probe_pending: false,
            ack_frequency: AckFrequency::default(),
            skips,
            ack_frequency_pending: false,
            receiver: Receiver::new(&config),
            credit: Credit::new(config.first_limit().as_u64()),
            send_streams: Vec::new(),
            resets_due: false,
            serving: 0,
            datagrams: Datagrams::default(),
            events: VecDeque::new(),
            lost_scratch: Vec::new(),
            spurious_scratch: Vec::new(),
            peer_arrivals: None,
            config,
        }
    }

    /// Has `receiver`, the other end, report when packets arrive, if the controller wants to know. Called before either
    /// sends.
    pub fn learn_arrivals(&mut self, receiver: &mut Endpoint) {
        let wants = |controller: &dyn Controller| controller.wants_arrivals();
        if self.sender.controller().is_some_and(wants) {
            let arrivals = Arrivals::default();
            receiver.receiver.report_arrivals(arrivals.clone());
            self.peer_arrivals = Some((arrivals, Vec::new()));
        }
    }

    /// The log of packet events; off until it is started.
    pub fn packet_log(&mut self) -> &mut PacketLog {
        &mut self.sender.log
    }

    /// Opens the connection (client).
    pub fn connect(&mut self) {
        self.handshake.start();
        if self.config.zero_rtt {
            self.events.push_back(AppEvent::Connected);
        }
    }

    /// Writes `bytes` to stream `id`, opening it if necessary, and ends it if `fin`. Lower priorities are
    /// more urgent; see RFC 9218 for `incremental`. Both are taken from the first call.
    pub fn write(&mut self, id: StreamId, bytes: u64, fin: bool, priority: u8, incremental: bool) {
        self.end_rest();
        let position = match self
            .send_streams
            .binary_search_by_key(&id, |stream| stream.id)
        {
            Ok(position) => position,
            Err(position) => {
                let limit = self.config.initial_max_stream_data.as_u64();
                self.send_streams
                    .insert(position, SendStream::new(id, priority, incremental, limit));
                position
            }
        };
        self.send_streams[position].write(bytes, fin);
    }

    /// Takes the end of stream `id` back, what has not been sent of it, and opens the stream again: returns how many bytes
    /// are to be written again, with the end. None, if all has been sent.
    pub fn take_back(&mut self, id: StreamId) -> u64 {
        self.end_rest();
        self.send_stream(id).map_or(0, SendStream::take_back)
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

    /// The next event for the application.
    pub fn poll_event(&mut self) -> Option<AppEvent> {
        self.events.pop_front()
    }

    /// Whether [`Endpoint::poll_event`] has an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The role of this endpoint.
    pub fn role(&self) -> Role {
        self.role
    }
    /// The state of the path.
    pub fn path(&self) -> &PathState {
        &self.sender.path
    }
    /// The current decision of the controller.
    pub fn control(&self) -> &Control {
        &self.sender.control
    }
    /// The state and the variables of the controller, for traces.
    pub fn observe(&self, out: &mut dyn Observer) {
        if let Some(controller) = self.sender.controller() {
            controller.observe(out);
        }
    }
    /// Number of times that the controller was informed; consecutive departures count once.
    pub fn reports(&self) -> u64 {
        self.sender.reports
    }
    /// The counters so far.
    pub fn counters(&self) -> Counters {
        Counters {
            stream_bytes_received: self.receiver.stream_bytes,
            datagrams_received: self.receiver.datagrams,
            ..self.sender.counters
        }
    }
    /// The current pacing rate: the controller's, or 5/4 of window over smoothed RTT (RFC 9002 section
    /// 7.7) unless [`TransportConfig::pacing`] is off; `None` before the first RTT sample.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.sender.control.pacing.or_else(|| {
            let paces = self.config.pacing && self.sender.path.has_rtt();
            paces.then(|| {
                Rate::over(self.sender.control.window, self.sender.path.smoothed_rtt).mul_div(5, 4)
            })
        })
    }

    /// The rate at which media should be encoded; `None` before the first RTT sample.
    pub fn media_rate(&self) -> Option<Rate> {
        self.sender.media_rate()
    }

    /// When to call [`Endpoint::expire`] and [`Endpoint::transmit`] again, if no
    /// packet arrives before. A time in the past means now: an acknowledgement ends the back-off of the
    /// probe timeout, which counts from the last packet sent (RFC 9002 section A.8), and a received packet
    /// lifts the anti-amplification limit of a server, under which the timer was not set (section A.6).
    pub fn next(&self) -> Instant {
        if self.at_rest.is_some() {
            return match self.counts_acks {
                true => self.ack_deadline(),
                false => self.receiver.acks.deadline(),
            };
        }
        match self.closing {
            Closing::Closed => return Instant::NEVER,
            Closing::Waiting(deadline) => return deadline,
            _ => {}
        }
        let next = self.next_timer();
        match self.pacing {
            true => next.min(self.pacer_allows_at()),
            false => next,
        }
    }

    /// What [`Endpoint::next`] is of an open connection, the pacer aside. A packet that leaves moves it to a later time, or
    /// sets it if nothing was outstanding.
    #[inline]
    pub fn next_timer(&self) -> Instant {
        self.ack_deadline()
            .min(self.handshake.deadline)
            .min(self.loss_deadline())
    }

    /// When data may leave that only the pacer holds back.
    #[inline]
    pub fn paced_until(&self) -> Option<Instant> {
        let is_held = self.pacing && self.at_rest.is_none() && self.closing == Closing::Open;
        is_held.then(|| self.pacer_allows_at())
    }

    /// When the pacer allows what is to be sent.
    #[inline]
    fn pacer_allows_at(&self) -> Instant {
        match self.is_lone_packet() {
            true => Instant::START, // that is, now
            false => self.pacer.ready_at(),
        }
    }

    /// When an acknowledgement must be sent, if necessary alone. A server that has used its anti-amplification
    /// credit waits for more.
    #[inline]
    fn ack_deadline(&self) -> Instant {
        if self.role == Role::Server && !self.handshake.may_send(ACK_ONLY_SIZE) {
            return Instant::NEVER;
        }
        let deadline = self.receiver.acks.deadline();
        match self.counts_acks && self.is_complete() {
            true => self.paced_ack(deadline),
            false => deadline,
        }
    }

    /// UDP payload of the largest packet that may be sent next.
    #[inline]
    fn largest_packet(&self) -> u32 {
        let size = if self.mtu_probe_pending {
            self.config.max_mtu
        } else {
            self.sender.path.mtu
        };
        size.as_u64() as u32
    }

    /// Handles every timer that is due.
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

    /// An event may concern the sending half.
    fn end_rest(&mut self) {
        if let Some(idle) = self.at_rest.take() {
            self.sender.path.last_idle = idle;
        }
    }

    fn finish_closing(&mut self) {
        self.closing = Closing::Closed;
        self.events.push_back(AppEvent::Closed);
    }

    /// Whether the last event called for a decision that has not been made.
    pub fn is_undecided(&self) -> bool {
        self.sender.is_undecided()
    }

    /// The decision that was missing has been made: does what waited for it.
    pub fn apply_decision(&mut self) {
        self.refresh_control();
        if self.ack_frequency.is_held() {
            self.request_ack_frequency();
        }
    }

    /// Applies the decision of the controller, unless it is still to be made.
    fn refresh_control(&mut self) {
        if self.sender.is_undecided() {
            return;
        }
        self.sender.decide();
        self.ecn = self.ecn_validation.codepoint(self.sender.ecn());
        if self.bundles {
            self.size_bundles();
        }
        let Some(rate) = self.pacing_rate() else {
            if !self.config.pacing {
                self.pacer.release(); // the controller may have had a rate
            }
            return;
        };
        let quantum = match self.sender.control.pacing {
            Some(_) => self.sender.control.quantum,
            // RFC 9002 section 7.7: bursts up to the initial window are acceptable.
            None => self.config.initial_window,
        };
        self.pacer.set(rate, quantum, self.sender.path.mtu);
    }

    fn send_stream(&mut self, id: StreamId) -> Option<&mut SendStream> {
        let position = place_of(&self.send_streams, id)?;
        Some(&mut self.send_streams[position])
    }

    fn is_complete(&self) -> bool {
        self.handshake.stage == Stage::Complete
    }
}
