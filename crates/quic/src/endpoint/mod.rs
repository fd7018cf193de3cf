//! An endpoint of the real stack, with the calls of the modelled endpoint.

mod events;
mod settings;
mod silence;

use crate::adapter::SharedSender;
use crate::identity::SERVER_NAME;
use crate::steering::Steering;
use crate::streams::{Streams, level};
use bytes::{Bytes as Buffer, BytesMut};
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionEvent, ConnectionHandle, DatagramEvent,
    EcnCodepoint, FourTuple, PathId, VarInt,
};
use rand_core::Rng as _;
use settings::address;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use thalweg_control::{Control, Observer, PathState, Rng};
use thalweg_transport::StackFlow;
use thalweg_transport::{AppEvent, Counters, PacketEvent, Role, StreamId, TransportConfig};
use thalweg_units::{Duration, Ecn, Instant, Rate};

/// Least time between two firings of timers.
const GRANULARITY: Duration = Duration::from_nanos(1);
/// A datagram begins with the tag of its application.
const TAG: usize = 8;

/// A UDP datagram of the real stack.
#[derive(Debug)]
pub struct Datagram {
    /// Number of datagrams that its sender sent before.
    pub number: u64,
    /// ECN codepoint of its IP header.
    pub ecn: Ecn,
    /// UDP payload.
    pub data: BytesMut,
}

/// Datagrams that may leave in one system call: one after the other, each of `size` bytes but the last, which may be
/// shorter.
#[derive(Debug)]
pub struct Train {
    /// ECN codepoint of their IP headers.
    pub ecn: Ecn,
    /// UDP payloads.
    pub data: BytesMut,
    /// Size of a UDP payload.
    pub size: usize,
}

/// An endpoint of the real stack.
///
/// Driven like the modelled endpoint: [`receive`](QuicEndpoint::receive), [`transmit`](QuicEndpoint::transmit)
/// until there is nothing, [`expire`](QuicEndpoint::expire) at [`next`](QuicEndpoint::next), and events for the
/// application by [`poll_event`](QuicEndpoint::poll_event).
pub struct QuicEndpoint {
    role: Role,
    stack: noq_proto::Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: Option<ClientConfig>,
    shared: Arc<SharedSender>,
    codepoint: Ecn,
    streams: Streams,
    events: VecDeque<AppEvent>,
    closed: bool,
    /// Whether the application has closed the connection, and whether the handshake is confirmed.
    is_closing: bool,
    is_confirmed: bool,
    /// Why the connection failed.
    failure: Option<ConnectionError>,
    sent: u64,
    /// Packet number of the last datagram, if ack-eliciting and of the application space.
    last_number: Option<u64>,
    noise: Rng,
    /// Whether the stack paces a controller without a rate.
    is_paced: bool,
    /// Largest lateness of a wake-up, and the lateness of the next one.
    wakeup_noise: Duration,
    lateness: Duration,
    /// Time until which timers have fired.
    expired: Instant,
    /// The peer delays acknowledgements of the application space by so much, or more.
    ack_delay: Duration,
    // Copies of what the stack shares with its controller, updated after every call.
    path: PathState,
    control: Control,
    counters: Counters,
    stream_bytes_received: u64,
    datagrams_received: u64,
    buffer: Vec<u8>,
}

impl QuicEndpoint {
    /// The controller, and the lateness of wake-ups, have other streams from now on; the stack keeps its own.
    pub fn reseed(&mut self, rng: Rng, noise: Rng) {
        self.shared.flow().reseed(rng);
        self.noise = noise;
    }

    /// An endpoint of a connection that starts at `start`; it never connects if [`is_available`](crate::is_available) is
    /// false. `rng` belongs to the controller; `noise` provides the random numbers of the stack
    /// and the lateness of wake-ups.
    pub fn new(
        role: Role,
        config: TransportConfig,
        start: Instant,
        steering: Steering,
        rng: Rng,
        mut noise: Rng,
    ) -> Self {
        let wakeup_noise = config.wakeup_noise;
        let is_paced = config.pacing;
        let ack_delay = settings::least_ack_delay(&config);
        let (controller, theirs) = match steering {
            Steering::Ours(controller) => (Some(controller), None),
            Steering::Stack(theirs) => (None, Some(theirs.factory(config.initial_window))),
        };
        let codepoint = controller.as_ref().map_or(Ecn::Ect0, |c| c.ecn());
        let path = PathState::new(config.initial_mtu, start);
        let mut settings = settings::of_transport(&config);
        let mut flow = StackFlow::new(controller, config, start, rng);
        let control = flow.control();
        let shared = Arc::new(SharedSender::new(flow));
        settings.congestion_controller_factory(shared.factory(theirs));
        let transport = Arc::new(settings);
        let stack = noq_proto::Endpoint::new(
            Arc::new(settings::of_endpoint(&mut noise)),
            settings::of_server(role, &transport),
            true,
        );
        let client = settings::of_client(transport, &mut noise);
        QuicEndpoint {
            role,
            stack,
            connection: None,
            client,
            shared,
            codepoint,
            streams: Streams::default(),
            events: VecDeque::new(),
            closed: false,
            is_closing: false,
            is_confirmed: false,
            failure: None,
            sent: 0,
            last_number: None,
            noise,
            is_paced,
            wakeup_noise,
            lateness: Duration::ZERO,
            expired: start,
            ack_delay,
            path,
            control,
            counters: Counters::default(),
            stream_bytes_received: 0,
            datagrams_received: 0,
            buffer: Vec::with_capacity(2048),
        }
    }

    /// Opens the connection (client).
    pub fn connect(&mut self, now: Instant) {
        let Some(client) = self.client.clone() else {
            return;
        };
        let now = self.shared.clock.real(now);
        let opened = self
            .stack
            .connect(now, client, address(Role::Server), SERVER_NAME);
        // Fails only for a bad address, name or version, all set here.
        self.connection = opened.ok();
    }

    /// Writes `bytes` to stream `id`, opening it if necessary, and ends it if `fin`; see the modelled endpoint.
    pub fn write(&mut self, id: StreamId, bytes: u64, fin: bool, priority: u8, incremental: bool) {
        self.streams
            .write(id, bytes, fin, level(id, priority, incremental));
        if let Some((_, connection)) = &mut self.connection {
            self.streams.flush(connection);
        }
    }

    /// Queues a datagram of `len` bytes, at least 8, truncated to the size of a packet. The stack sends datagrams
    /// before streams, whatever their priority.
    pub fn send_datagram(&mut self, len: u32, tag: u64) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        let mut datagrams = connection.datagrams();
        let most = datagrams.max_size().unwrap_or(0);
        let len = (len as usize).max(TAG).min(most.max(TAG));
        let mut data = BytesMut::zeroed(len);
        data[..TAG].copy_from_slice(&tag.to_be_bytes());
        // Datagrams are unreliable: one that does not fit is lost.
        let _ = datagrams.send(data.freeze(), true);
    }

    /// Asks the peer to stop sending on a stream.
    pub fn stop_receiving(&mut self, id: StreamId) {
        if let Some((_, connection)) = &mut self.connection {
            self.streams.stop(id, connection);
        }
    }

    /// Closes the connection once its handshake is confirmed. With keys of several packet number spaces, the
    /// stack (noq-proto 1.3.0) pads its CONNECTION_CLOSE in the Initial space to 1200 bytes and then writes one of
    /// the Handshake space into the rest of the datagram, which is too small. Its debug build panics.
    pub fn close(&mut self, now: Instant) {
        self.is_closing = true;
        let now = self.shared.clock.real(now);
        if let Some((_, connection)) = &mut self.connection
            && self.is_confirmed
        {
            connection.close(now, VarInt::from_u32(0), Buffer::new());
        }
    }

    /// Receives a datagram.
    pub fn receive(&mut self, now: Instant, datagram: Datagram) {
        if self.closed {
            return;
        }
        self.discard_initial_after(Role::Server, &datagram.data);
        let time = self.shared.clock.real(now);
        let from = match self.role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        let path = FourTuple::new(address(from), Some(address(self.role).ip()));
        self.buffer.clear();
        let event = self.stack.handle(
            time,
            path,
            counted_as(datagram.ecn),
            datagram.data,
            &mut self.buffer,
        );
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.take_in(event),
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.stack.accept(incoming, time, &mut self.buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    // The client gets no answer.
                    Err(error) => self.failure = Some(error.cause),
                }
            }
            // Resets and version negotiation: the peer is our own and needs neither.
            _ => {}
        }
        self.process(now);
    }

    fn take_in(&mut self, event: ConnectionEvent) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        connection.handle_event(event);
        if let Some(smoothed) = connection.rtt(PathId::ZERO) {
            self.shared.flow().note_smoothed(smoothed.into());
        }
    }

    /// The next datagram to send now; call until there is none.
    pub fn transmit(&mut self, now: Instant) -> Option<Datagram> {
        let number = self.sent;
        let Train { ecn, data, .. } = self.transmit_train(now, NonZeroUsize::MIN)?;
        Some(Datagram { number, ecn, data })
    }

    /// Like [`transmit`](QuicEndpoint::transmit), for at most `most` datagrams at once: those that so many calls of it
    /// would return. The send quantum of the controller bounds them too. (The stack reports a train to a controller of
    /// its own as one departure, so that such a controller may decide otherwise after trains.)
    pub fn transmit_train(&mut self, now: Instant, most: NonZeroUsize) -> Option<Train> {
        // Until then a datagram may hold packets of several spaces.
        let most = if self.is_confirmed {
            most
        } else {
            NonZeroUsize::MIN
        };
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        self.shared.take_asked();
        let time = self.shared.clock.real(now);
        let transmit = connection.poll_transmit(time, most, &mut self.buffer);
        let Some(transmit) = transmit else {
            if !self.shared.take_asked() && !connection.is_handshaking() {
                self.shared.flow().on_nothing_to_send(now);
            }
            self.refresh();
            return None;
        };
        let size = transmit.segment_size.unwrap_or(transmit.size);
        let unconfirmed = (!self.is_confirmed).then_some(&self.buffer[..]);
        self.last_number = self.shared.note_sent(now, unconfirmed);
        self.discard_initial_after(Role::Client, &self.buffer);
        self.sent += transmit.size.div_ceil(size) as u64;
        let train = Train {
            ecn: if transmit.ecn.is_some() {
                self.codepoint
            } else {
                Ecn::NotEct
            },
            data: BytesMut::from(&self.buffer[..transmit.size]),
            size,
        };
        self.process(now);
        Some(train)
    }

    /// Packet number of the last datagram of [`transmit`](QuicEndpoint::transmit), if it holds an ack-eliciting packet
    /// of the application space: one of those that [`take_packets`](QuicEndpoint::take_packets) returns.
    pub fn last_number(&self) -> Option<u64> {
        self.last_number
    }

    /// When to call [`expire`](QuicEndpoint::expire) and [`transmit`](QuicEndpoint::transmit) again,
    /// if no datagram arrives before.
    pub fn next(&self) -> Instant {
        if self.closed {
            return Instant::NEVER;
        }
        let timeout = self.connection.as_ref().and_then(|c| c.1.poll_timeout());
        timeout.map_or(Instant::NEVER, |time| {
            let time = self.shared.clock.virtual_time(time);
            // The stack's pacer counts in bytes and waits in nanoseconds: it requests a wait of zero if the
            // rate earns the missing bytes in less than half a nanosecond, and repeats it while no time passes.
            let earliest = self.expired + GRANULARITY;
            let is_repeated = time <= self.expired;
            (if is_repeated { earliest } else { time }) + self.lateness
        })
    }

    /// Handles every timer that is due.
    pub fn expire(&mut self, now: Instant) {
        self.expired = now;
        if self.is_forsaken(now) {
            self.give_up();
            return;
        }
        let time = self.shared.clock.real(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(time);
        }
        // The high half of a product is uniform below `most + 1` without a division.
        let most = u128::from(self.wakeup_noise.as_nanos()) + 1;
        let drawn = (u128::from(self.noise.next_u64()) * most) >> 64;
        self.lateness = Duration::from_nanos(drawn as u64);
        self.process(now);
    }

    /// Ends a connection without a word, like one that was idle for too long (RFC 9000 section 10.1).
    fn give_up(&mut self) {
        self.connection = None;
        self.closed = true;
        self.failure = Some(ConnectionError::TimedOut);
        self.events.push_back(AppEvent::Closed);
    }

    /// The next event for the application.
    pub fn poll_event(&mut self) -> Option<AppEvent> {
        self.events.pop_front()
    }
    /// Whether [`poll_event`](QuicEndpoint::poll_event) has an event.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }
    /// Why the connection failed, in words; `None` while it is open, and if an application has closed it.
    pub fn failure(&self) -> Option<String> {
        self.failure.as_ref().map(ConnectionError::to_string)
    }
    /// The role of this endpoint.
    pub fn role(&self) -> Role {
        self.role
    }
    /// The state of the path.
    pub fn path(&self) -> &PathState {
        &self.path
    }
    /// The current decision of the controller.
    pub fn control(&self) -> &Control {
        &self.control
    }
    /// Number of times that the controller was informed; consecutive departures count once.
    pub fn reports(&self) -> u64 {
        self.shared.flow().reports()
    }
    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Starts to record the fate of each packet.
    pub fn record_packets(&mut self) {
        self.shared.flow().packet_log().start();
    }
    /// Takes what was recorded since the last call.
    pub fn take_packets(&mut self, take: &mut dyn FnMut(PacketEvent)) {
        self.shared.flow().packet_log().take().for_each(take);
    }
    /// The state and the variables of the controller, for traces.
    pub fn observe(&self, out: &mut dyn Observer) {
        self.shared.flow().observe(out);
    }
    /// The rate at which media should be encoded; `None` before the first RTT sample.
    pub fn media_rate(&self) -> Option<Rate> {
        self.shared.flow().media_rate()
    }
    /// The current pacing rate: the controller's, or the stack's 5/4 of window over smoothed RTT (RFC 9002
    /// section 7.7) unless `TransportConfig::pacing` is off; `None` before the first RTT sample.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.control.pacing.or_else(|| {
            (self.is_paced && self.path.has_rtt())
                .then(|| Rate::over(self.control.window, self.path.smoothed_rtt).mul_div(5, 4))
        })
    }
}

/// The codepoint that the stack counts. It sends ECT(0) only and disables ECN when the peer counts ECT(1) (RFC
/// 9000 section 13.4.2.1), so ECT(1) packets of a controller are counted as ECT(0).
fn counted_as(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 | Ecn::Ect1 => Some(EcnCodepoint::Ect0),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}
