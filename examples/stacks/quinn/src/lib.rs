//! quinn-proto as a stack of Thalweg.
//!
//! # Determinism
//! Sizes and times of all packets depend on the seed: connection IDs, packet number skips and the greased bit come from
//! it, the server's certificate and key are fixed, the key exchange (X25519) and signatures (Ed25519) have one length, and
//! there are no session tickets. Contents differ from run to run, since the key exchange draws from the system. The
//! controller `bbr` of quinn-proto draws from the system when it leaves its start: its trials do not repeat.
//!
//! # Limits
//! The options `ack_every` and `paced` have no effect: quinn-proto acknowledges every second packet, and always paces.

mod identity;
mod scaled;
mod seeded;

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ReadError, ServerConfig,
    Side, StreamEvent, StreamId, TransportConfig, ValidationTokenConfig, VarInt,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_stack_sdk::{
    Arrival, Departure, Options, Probes, Problem, Role, Room, Stack, Status, Written, export_stack,
};

/// Data that waits to be sent, at most; the rest stays with the application.
const SEND_WINDOW: u64 = 64 << 20;
/// Flow-control windows that never limit.
const WIDE: u32 = (1 << 30) - 1;
/// Bytes of any content.
static CONTENT: [u8; 1 << 20] = [0; 1 << 20];

/// One end of a connection.
struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    role: Role,
    /// What the clock of the system showed at time 0: times given to quinn-proto count from there.
    zero: Instant,
    /// RTT before the first sample.
    initial_rtt: Duration,
    is_established: bool,
    is_closed: bool,
    arrivals: VecDeque<Arrival>,
    /// Answers of the endpoint itself.
    answers: VecDeque<Vec<u8>>,
    buffer: Vec<u8>,
}

export_stack!(Quinn);

impl Quinn {
    fn at(&self, now: u64) -> Instant {
        self.zero + Duration::from_nanos(now)
    }

    /// Passes events between connection and endpoint, and takes what arrived.
    fn process(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            self.is_closed |= event.is_drained();
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let mut readable = Vec::new();
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.is_established = true,
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    readable.extend(std::iter::from_fn(|| connection.streams().accept(Dir::Bi)));
                }
                Event::Stream(StreamEvent::Readable { id }) => readable.push(id),
                _ => {}
            }
        }
        for id in readable {
            self.arrivals.extend(read(connection, id));
        }
    }
}

/// Consumes what can be read of a stream.
fn read(connection: &mut Connection, id: StreamId) -> Option<Arrival> {
    let mut stream = connection.recv_stream(id);
    let mut chunks = stream.read(true).ok()?;
    let (mut bytes, mut fin) = (0, false);
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
            Ok(None) => {
                fin = true;
                break;
            }
            Err(ReadError::Blocked | ReadError::Reset(_)) => break,
        }
    }
    let _ = chunks.finalize();
    (bytes > 0 || fin).then_some(Arrival {
        stream: id.index(),
        bytes,
        fin,
    })
}

/// The stream with a number: clients open all.
fn stream(number: u64) -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, number)
}

/// Addresses reserved for documentation (RFC 5737).
fn address(role: Role) -> SocketAddr {
    let host = match role {
        Role::Client => 1,
        Role::Server => 2,
    };
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, host), 4433))
}

/// A controller by its name, which may have an option: `cubic:window=1.02`.
fn controller(
    text: &str,
    window: u64,
) -> Result<Arc<dyn ControllerFactory + Send + Sync>, Problem> {
    let (name, option) = text.split_once(':').unwrap_or((text, "window=1"));
    let of: Arc<dyn ControllerFactory + Send + Sync> = match name {
        "cubic" => {
            let mut config = CubicConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "new-reno" => {
            let mut config = NewRenoConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        "bbr" => {
            let mut config = BbrConfig::default();
            config.initial_window(window);
            Arc::new(config)
        }
        _ => {
            return Err(format!(
                "\"{name}\" is not a controller of quinn-proto; accepted: {}",
                Quinn::CONTROLLERS
            ));
        }
    };
    if option == "window=1" {
        return Ok(of);
    }
    let factor = option
        .strip_prefix("window=")
        .and_then(|factor| factor.parse().ok());
    match factor.filter(|factor| (0.5..=2.0).contains(factor)) {
        Some(factor) => Ok(Arc::new(scaled::Scaled { of, factor })),
        None => Err(format!(
            "\"{option}\" is not an option of {name} of quinn-proto; accepted: window=FACTOR, from 0.5 to 2"
        )),
    }
}

fn transport(options: &Options<'_>) -> Result<TransportConfig, Problem> {
    let mtu = |bytes: u64| u16::try_from(bytes).unwrap_or(u16::MAX);
    let window = options
        .receive_window
        .and_then(|bytes| VarInt::from_u64(bytes).ok());
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(WIDE))
        .receive_window(window.unwrap_or(VarInt::MAX))
        .send_window(SEND_WINDOW)
        .max_concurrent_bidi_streams(VarInt::from_u32(1024))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .initial_mtu(mtu(options.initial_mtu))
        .allow_spin(false)
        .enable_segmentation_offload(false)
        .congestion_controller_factory(controller(options.controller, options.initial_window)?);
    let discovery = (options.max_mtu > options.initial_mtu).then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(mtu(options.max_mtu));
        discovery
    });
    config.mtu_discovery_config(discovery);
    if options.ack_frequency {
        let mut frequency = AckFrequencyConfig::default();
        frequency
            .ack_eliciting_threshold(VarInt::from_u32(options.ack_every.saturating_sub(1)))
            .max_ack_delay(Some(Duration::from_nanos(options.max_ack_delay_ns)));
        config.ack_frequency_config(Some(frequency));
    }
    Ok(config)
}

impl Stack for Quinn {
    const NAME: &'static str = "quinn-proto";
    const VERSION: &'static str = "0.11.19";
    const CONTROLLERS: &'static str = "cubic, new-reno, bbr";

    fn create(options: &Options<'_>, now: u64) -> Result<Self, Problem> {
        let config = Arc::new(transport(options)?);
        let identity = identity::identity()?;
        let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &options.seed);
        let mut endpoint = EndpointConfig::new(Arc::new(reset_key));
        let seed = options.seed;
        endpoint.rng_seed(Some(seed));
        endpoint.cid_generator(move || Box::new(seeded::Ids::new(&seed)));
        let server = (options.role == Role::Server).then(|| {
            let mut server = ServerConfig::with_crypto(identity.server.clone());
            let mut tokens = ValidationTokenConfig::default();
            tokens.sent(0);
            server
                .transport_config(Arc::clone(&config))
                .migration(false)
                .validation_token_config(tokens);
            Arc::new(server)
        });
        let mut quinn = Quinn {
            endpoint: Endpoint::new(Arc::new(endpoint), server, true, None),
            connection: None,
            role: options.role,
            zero: Instant::now(),
            initial_rtt: Duration::from_millis(333),
            is_established: false,
            is_closed: false,
            arrivals: VecDeque::new(),
            answers: VecDeque::new(),
            buffer: Vec::with_capacity(2048),
        };
        if options.role == Role::Client {
            let mut client = ClientConfig::new(identity.client.clone());
            let first = seeded::Ids::new(&options.connection).next();
            client
                .transport_config(config)
                .initial_dst_cid_provider(Arc::new(move || first));
            let (now, server) = (quinn.at(now), address(Role::Server));
            let opened = (quinn.endpoint).connect(now, client, server, identity::SERVER_NAME);
            quinn.connection = Some(opened.map_err(|error| error.to_string())?);
        }
        Ok(quinn)
    }

    fn datagram_in(&mut self, now: u64, ecn: u8, data: &[u8]) {
        let now = self.at(now);
        let from = match self.role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        self.buffer.clear();
        let ecn = EcnCodepoint::from_bits(ecn);
        let (data, from) = (BytesMut::from(data), address(from));
        let event = (self.endpoint).handle(now, from, None, ecn, data, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.buffer.clear();
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                match accepted {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(refused) => {
                        let answer = refused.response;
                        let size = answer.map_or(0, |answer| answer.size);
                        self.answers
                            .extend((size > 0).then(|| self.buffer[..size].to_vec()));
                    }
                }
            }
            Some(DatagramEvent::Response(answer)) => {
                self.answers.push_back(self.buffer[..answer.size].to_vec());
            }
            None => {}
        }
        self.process();
    }

    fn datagram_out(&mut self, now: u64, room: Room<'_>) -> Option<Departure> {
        let now = self.at(now);
        if let Some(answer) = self.answers.pop_front() {
            room[..answer.len()].copy_from_slice(&answer);
            let (length, ecn, not_before) = (answer.len(), 0, 0);
            return Some(Departure {
                length,
                ecn,
                not_before,
            });
        }
        let (_, connection) = self.connection.as_mut()?;
        self.buffer.clear();
        let sent = connection.poll_transmit(now, 1, &mut self.buffer)?;
        room[..sent.size].copy_from_slice(&self.buffer[..sent.size]);
        Some(Departure {
            length: sent.size,
            ecn: sent.ecn.map_or(0, |ecn| ecn as u8),
            not_before: 0,
        })
    }

    fn next(&mut self) -> Option<u64> {
        let (_, connection) = self.connection.as_mut()?;
        let timer = connection.poll_timeout()?;
        Some(timer.saturating_duration_since(self.zero).as_nanos() as u64)
    }

    fn expire(&mut self, now: u64) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.process();
    }

    fn open(&mut self, _now: u64) -> Option<u64> {
        let (_, connection) = self.connection.as_mut()?;
        connection.streams().open(Dir::Bi).map(|id| id.index())
    }

    fn write(&mut self, _now: u64, number: u64, bytes: u64, fin: bool) -> Written {
        let Some((_, connection)) = &mut self.connection else {
            return Written::Blocked;
        };
        let mut sender = connection.send_stream(stream(number));
        let mut taken = 0;
        while taken < bytes {
            let length = CONTENT
                .len()
                .min(usize::try_from(bytes - taken).unwrap_or(usize::MAX));
            let chunk = Bytes::from_static(&CONTENT[..length]);
            match sender.write_chunks(&mut [chunk]) {
                Ok(written) if written.bytes > 0 => taken += written.bytes as u64,
                _ => return Written::Taken(taken),
            }
        }
        if fin {
            // Fails only for a stream that has ended, of which nobody waits for more.
            let _ = sender.finish();
        }
        Written::Taken(taken)
    }

    fn read(&mut self, _now: u64) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn close(&mut self, now: u64) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.close(now, VarInt::from_u32(0), Bytes::new());
        }
        self.process();
    }

    fn status(&self) -> Status {
        match (self.is_closed, self.is_established) {
            (true, _) => Status::Closed,
            (false, true) => Status::Established,
            (false, false) => Status::Connecting,
        }
    }

    fn probe(&self) -> Option<Probes> {
        let (_, connection) = self.connection.as_ref()?;
        let rtt = connection.rtt();
        let has_sample = self.is_established && rtt != self.initial_rtt;
        Some(Probes {
            window: Some(connection.congestion_state().window()),
            smoothed_rtt_ns: has_sample.then_some(rtt.as_nanos() as u64),
            packets_lost: Some(connection.stats().path.lost_packets),
            ..Probes::default()
        })
    }
}
