//! One connection of the stack over a socket, with one of our controllers.

use super::samples;
use super::udp::Udp;
use noq_proto::{
    AckFrequencyConfig, Connection, ConnectionEvent, ConnectionHandle, EcnCodepoint, IdleTimeout,
    PathId, Transmit, TransportConfig as StackConfig, VarInt,
};
use rand_core::SeedableRng as _;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use thalweg_control::{ControllerSpec, Init, Observer, Rng};
use thalweg_quic::SharedSender;
use thalweg_transport::{SenderRecorder, StackFlow, TransportConfig};
use thalweg_units::{Bytes, Duration, Ecn};

/// Packets of one size sent in one call, as in the stack's own driver: more make bursts without gain.
const SEGMENTS: NonZeroUsize = NonZeroUsize::new(10).unwrap();
/// Calls before other connections are served.
const TURN: usize = 8;
/// UDP payload before path MTU discovery (RFC 9000 section 14.1).
const INITIAL_MTU: u16 = 1200;
/// How long the peer may delay the acknowledgement of a single packet: the least that the stack supports, as
/// picoquic requests on short paths. With the 25 ms of RFC 9000, a window of one packet would send 58 kB/s.
const ACK_DELAY: std::time::Duration = std::time::Duration::from_millis(1);
/// Receive window of a connection and of a stream, and limit of unacknowledged data of a sender: enough
/// for 1 Gbit/s and 130 ms. It bounds the memory that a peer can use.
const WINDOW: u32 = 16 << 20;
/// Streams that the peer may have open at once, of each kind.
const STREAMS: u32 = 256;

/// A sender before its connection exists.
pub(super) struct Sender {
    shared: Arc<SharedSender>,
    controller: String,
    codepoint: Ecn,
    pub(super) transport: Arc<StackConfig>,
}

impl Sender {
    /// A sender with this controller, on a connection that closes after `idle` without a packet. With
    /// `keep_alive`, it sends a PING after that much silence.
    pub(super) fn new(
        controller: &ControllerSpec,
        idle: Duration,
        keep_alive: Option<std::time::Duration>,
    ) -> Sender {
        let config = TransportConfig {
            initial_mtu: Bytes::new(u64::from(INITIAL_MTU)),
            ..TransportConfig::default()
        };
        let init = Init {
            now: thalweg_units::Instant::START,
            mtu: config.initial_mtu,
            initial_window: config.initial_window,
            media: None,
        };
        let bound = controller.build(&init);
        let codepoint = bound.ecn();
        let rng = Rng::seed_from_u64(RandomState::new().hash_one(0));
        let shared = Arc::new(SharedSender::new(StackFlow::new(
            Some(bound),
            config,
            init.now,
            rng,
        )));
        let mut frequency = AckFrequencyConfig::default();
        frequency.max_ack_delay(Some(ACK_DELAY));
        let mut transport = StackConfig::default();
        transport
            .ack_frequency_config(Some(frequency))
            .max_idle_timeout(IdleTimeout::try_from(std::time::Duration::from(idle)).ok())
            .keep_alive_interval(keep_alive)
            .initial_mtu(INITIAL_MTU)
            .stream_receive_window(VarInt::from_u32(WINDOW))
            .receive_window(VarInt::from_u32(WINDOW))
            .send_window(u64::from(WINDOW))
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
            .congestion_controller_factory(shared.factory(None));
        Sender {
            shared,
            controller: controller.to_string(),
            codepoint,
            transport: Arc::new(transport),
        }
    }

    /// The sender with its connection.
    pub(super) fn bind(self, handle: ConnectionHandle, connection: Connection) -> Peer {
        Peer {
            handle,
            connection,
            shared: self.shared,
            controller: self.controller,
            codepoint: self.codepoint,
            is_confirmed: false,
            sent: 0,
            waiting: None,
            samples: None,
        }
    }
}

/// One end of a connection.
pub(super) struct Peer {
    pub(super) handle: ConnectionHandle,
    pub(super) connection: Connection,
    pub(super) shared: Arc<SharedSender>,
    pub(super) controller: String,
    codepoint: Ecn,
    /// Whether all packets are of the application space from now on (RFC 9001 section 4.1.2).
    pub(super) is_confirmed: bool,
    /// Messages sent: one datagram or several.
    pub(super) sent: u64,
    /// What the socket did not accept.
    waiting: Option<(Transmit, Vec<u8>)>,
    pub(super) samples: Option<SenderRecorder>,
}

/// Result of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Nothing to send now.
    Done,
    /// There is more to send after serving other connections.
    More,
    /// The socket is full.
    Full,
}

impl Peer {
    /// Uses another controller, before there is data to send.
    pub(super) fn use_controller(&mut self, controller: &ControllerSpec) {
        self.controller = controller.to_string();
        self.codepoint = self.shared.flow().replace_controller(controller);
    }

    /// A datagram has arrived.
    pub(super) fn take_in(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
        if let Some(smoothed) = self.connection.rtt(PathId::ZERO) {
            self.shared.flow().note_smoothed(smoothed.into());
        }
    }

    /// Exchanges events between connection and endpoint; returns whether the connection has ended.
    pub(super) fn exchange(&mut self, stack: &mut noq_proto::Endpoint) -> bool {
        let mut is_drained = false;
        while let Some(event) = self.connection.poll_endpoint_events() {
            is_drained |= event.is_drained();
            if let Some(answer) = stack.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
        is_drained
    }

    /// Sends what may leave now.
    ///
    /// # Errors
    /// Errors of the socket. Unless it is full, the datagrams are then lost.
    pub(super) fn transmit(
        &mut self,
        now: Instant,
        udp: &Udp,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Sending> {
        if let Some((transmit, data)) = self.waiting.take()
            && !udp.send(&transmit, &data)?
        {
            self.waiting = Some((transmit, data));
            return Ok(Sending::Full);
        }
        let segments = match self.is_confirmed {
            true => udp.max_segments().min(SEGMENTS),
            false => NonZeroUsize::MIN,
        };
        for _ in 0..TURN {
            buffer.clear();
            self.shared.take_asked();
            let Some(mut transmit) = self.connection.poll_transmit(now, segments, buffer) else {
                if !self.shared.take_asked() && !self.connection.is_handshaking() {
                    let now = self.shared.virtual_time(now);
                    self.shared.flow().on_nothing_to_send(now);
                }
                return Ok(Sending::Done);
            };
            let unconfirmed = (!self.is_confirmed).then_some(&buffer[..]);
            let _ = self
                .shared
                .note_sent(self.shared.virtual_time(now), unconfirmed);
            transmit.ecn = transmit.ecn.and(marked(self.codepoint));
            if !udp.send(&transmit, buffer)? {
                self.waiting = Some((transmit, buffer.clone()));
                return Ok(Sending::Full);
            }
            self.sent += 1;
        }
        Ok(Sending::More)
    }

    /// Records the time series of the sender from now on.
    pub(super) fn record(&mut self) {
        self.samples = Some(samples::begin(&mut self.shared.flow()));
    }

    /// Samples the sender, if a trace is requested.
    pub(super) fn sample(&mut self, now: Instant) {
        if let Some(samples) = &mut self.samples {
            let now = self.shared.virtual_time(now);
            samples::take(samples, now, &mut self.shared.flow());
        }
    }

    pub(super) fn state_of(&self, flow: &StackFlow) -> &'static str {
        struct State(&'static str);
        impl Observer for State {
            fn state(&mut self, name: &'static str) {
                self.0 = name;
            }
            fn variable(&mut self, _name: &'static str, _value: f64) {}
        }
        let mut state = State("");
        flow.observe(&mut state);
        state.0
    }
}

fn marked(codepoint: Ecn) -> Option<EcnCodepoint> {
    match codepoint {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

/// The codepoint that the stack counts: it disables ECN when the peer counts ECT(1) (RFC 9000 section
/// 13.4.2.1), which Prague sends.
pub(super) fn counted_as(ecn: EcnCodepoint) -> EcnCodepoint {
    match ecn {
        EcnCodepoint::Ect1 => EcnCodepoint::Ect0,
        other => other,
    }
}
