//! The server: many connections on one socket, within limits.

use super::credentials::{Credentials, CredentialsError};
use super::peer::{Peer, Sender, Sending, counted_as};
use super::report::SenderReport;
use super::request::Workload;
use super::samples::Samples;
use super::service::Service;
use super::udp::{Readiness, Received, Udp};
use crate::header;
use bytes::BytesMut;
use noq_proto::crypto::rustls::QuicServerConfig;
use noq_proto::{
    ConnectionError, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, Incoming,
    Transmit, VarInt,
};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thalweg_control::ControllerSpec;
use thalweg_units::{Bytes, Duration};

/// How often the order to stop is looked for, at least.
const ATTENTION: std::time::Duration = std::time::Duration::from_millis(50);
/// How long a server that stops waits for its clients to have heard of it.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(300);
/// UDP payload of the smallest datagram that opens a connection (RFC 9000 section 14.1).
const SMALLEST_OPENING: usize = 1200;
/// Receptions before connections get their turn.
const RECEPTIONS: usize = 4;
/// Codes of CONNECTION_CLOSE (RFC 9000 section 20.2: ours to choose): no error, too slow, shutting down.
const SLOW: VarInt = VarInt::from_u32(1);
pub(super) const STOPPING: VarInt = VarInt::from_u32(2);

/// What a server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time, half-open ones included. Each can make the server hold 16 MiB.
    pub connections: usize,
    /// Connections whose handshake is not complete; others are not answered meanwhile.
    pub half_open: usize,
    /// Half-open connections beyond which clients must prove their address.
    pub retry_above: usize,
    /// Time for a handshake, and then for the request.
    pub patience: Duration,
    /// Silence after which a connection is forgotten.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 64,
            half_open: 32,
            retry_above: 8,
            patience: Duration::from_secs(5),
            idle: Duration::from_secs(10),
        }
    }
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where to listen; port 0 is any free port.
    pub address: SocketAddr,
    /// Who it is.
    pub credentials: Credentials,
    /// The controller of its senders.
    pub controller: ControllerSpec,
    /// Whether a request may name another.
    pub clients_choose: bool,
    /// What it allows.
    pub limits: Limits,
    /// Whether to record the time series of each connection.
    pub trace: bool,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be had.
    #[error("cannot listen at {0}: {1}")]
    Bind(SocketAddr, io::Error),
    /// The certificate cannot be used.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The system refuses to wait for the socket.
    #[error("the socket has failed: {0}")]
    Socket(#[from] io::Error),
}

/// What a server has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections whose handshake was begun.
    pub accepted: u64,
    /// Those that were served to their end.
    pub completed: u64,
    /// Those that asked for something and did not get all of it.
    pub failed: u64,
    /// Those that never asked for anything.
    pub abandoned: u64,
    /// Clients that were told to prove their address.
    pub retried: u64,
    /// Clients that were turned away, with or without an answer.
    pub refused: u64,
}

/// A connection that is over.
#[derive(Debug)]
pub struct Served {
    /// Of the client.
    pub address: SocketAddr,
    /// What it asked for.
    pub workload: Workload,
    /// Bytes of data that moved.
    pub moved: Bytes,
    /// From the request to the answer, or to the end without one.
    pub elapsed: Duration,
    /// What went wrong.
    pub error: Option<String>,
    /// What the sender of the server measured.
    pub sender: SenderReport,
    /// Its time series, if they were asked for.
    pub samples: Option<Samples>,
}

/// A server that listens.
pub struct Server {
    udp: Udp,
    address: SocketAddr,
    config: ServerConfig,
    crypto: Arc<QuicServerConfig>,
}

struct Client {
    address: SocketAddr,
    peer: Peer,
    service: Service,
    /// When the handshake, and then the request, must be in.
    deadline: Option<Instant>,
    is_established: bool,
    /// Whether something has happened that may let it send.
    is_awake: bool,
    sending: Sending,
    error: Option<String>,
    is_told: bool,
}

impl Server {
    /// Listens, and answers nobody yet.
    ///
    /// # Errors
    /// If the address is in use or not ours, or the certificate cannot be used.
    pub fn bind(config: ServerConfig) -> Result<Server, ServeError> {
        let crypto = config.credentials.server()?;
        let failed = |error| ServeError::Bind(config.address, error);
        let udp = Udp::bind(config.address).map_err(failed)?;
        let address = udp.local_address().map_err(failed)?;
        Ok(Server {
            udp,
            address,
            config,
            crypto,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is set, `duration` is over, or, with `once`, the first request is. Every
    /// connection that asked for something is told of when it is over.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn serve(
        &mut self,
        stop: &AtomicBool,
        duration: Option<Duration>,
        once: bool,
        on_served: &mut dyn FnMut(Served),
    ) -> Result<Totals, ServeError> {
        let template = self.template(&Sender::new(
            &self.config.controller,
            self.config.limits.idle,
            None,
        ));
        let stack = Endpoint::new(
            Arc::new(EndpointConfig::default()),
            Some(Arc::new(template)),
            true,
        );
        let mut serving = Serving {
            server: self,
            stack,
            clients: BTreeMap::new(),
            totals: Totals::default(),
            half_open: 0,
            is_stopping: false,
            on_served,
        };
        let end = duration.map(|duration| Instant::now() + std_span(duration));
        let mut buffer = Vec::with_capacity(1 << 16);
        loop {
            let now = Instant::now();
            // Looked at before the socket: what came before the order to stop is still taken in.
            let is_stopped = stop.load(Ordering::Relaxed);
            serving.receive(now, &mut buffer)?;
            serving.turn(Instant::now(), &mut buffer);
            let is_enough = once && serving.totals.completed + serving.totals.failed > 0;
            if is_stopped || end.is_some_and(|end| now >= end) || is_enough {
                break;
            }
            serving.wait(end)?;
        }
        serving.say_farewell(&mut buffer)?;
        Ok(serving.totals)
    }

    fn template(&self, sender: &Sender) -> noq_proto::ServerConfig {
        let mut config = noq_proto::ServerConfig::with_crypto(self.crypto.clone());
        config.transport_config(sender.transport.clone());
        config.migration(false);
        config
    }
}

struct Serving<'a> {
    server: &'a mut Server,
    stack: Endpoint,
    clients: BTreeMap<usize, Client>,
    totals: Totals,
    half_open: usize,
    is_stopping: bool,
    on_served: &'a mut dyn FnMut(Served),
}

impl Serving<'_> {
    fn receive(&mut self, now: Instant, buffer: &mut Vec<u8>) -> io::Result<()> {
        for _ in 0..RECEPTIONS {
            let mut trains: Vec<Received> = Vec::new();
            match self.server.udp.receive(|train| trains.push(train)) {
                Ok(0) => break,
                Ok(_) => {}
                // A client that is gone (ICMP); its connection will notice.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => continue,
                Err(error) => return Err(error),
            }
            for mut train in trains {
                while !train.data.is_empty() {
                    let length = train.stride.min(train.data.len());
                    let datagram = train.data.split_to(length);
                    self.take_in(now, &train, datagram, buffer);
                }
            }
        }
        Ok(())
    }

    fn take_in(&mut self, now: Instant, from: &Received, datagram: BytesMut, buffer: &mut Vec<u8>) {
        let received = datagram.len();
        let ecn = from.ecn.map(counted_as);
        buffer.clear();
        match self.stack.handle(now, from.path, ecn, datagram, buffer) {
            Some(DatagramEvent::ConnectionEvent(ConnectionHandle(handle), event)) => {
                if let Some(client) = self.clients.get_mut(&handle) {
                    client.peer.take_in(event);
                    client.is_awake = true;
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.admit(incoming, now, received, buffer);
            }
            Some(DatagramEvent::Response(transmit)) => self.respond(&transmit, received, buffer),
            None => {}
        }
    }

    /// Sends what answers a datagram without a connection: never more than three times its size (RFC 9000
    /// section 8.1), and no Version Negotiation to a datagram that could not open a connection (section 5.2.2;
    /// the stack looks at the version first). If the socket is full, the client will ask again.
    fn respond(&self, transmit: &Transmit, received: usize, data: &[u8]) {
        if received < SMALLEST_OPENING && header::is_version_negotiation(data) {
            return;
        }
        if transmit.size <= 3 * received {
            let _ = self.server.udp.send(transmit, data);
        }
    }

    /// Accepts a client, asks it to prove its address, or turns it away.
    fn admit(&mut self, incoming: Incoming, now: Instant, received: usize, buffer: &mut Vec<u8>) {
        let limits = self.server.config.limits;
        let is_proven = incoming.remote_address_validated();
        if self.half_open >= limits.retry_above && !is_proven && incoming.may_retry() {
            self.totals.retried += 1;
            if let Ok(transmit) = self.stack.retry(incoming, buffer) {
                self.respond(&transmit, received, buffer);
            }
            return;
        }
        if self.half_open >= limits.half_open {
            self.totals.refused += 1;
            return self.stack.ignore(incoming);
        }
        if self.clients.len() >= limits.connections || self.is_stopping {
            self.totals.refused += 1;
            let transmit = self.stack.refuse(incoming, buffer);
            return self.respond(&transmit, received, buffer);
        }
        let sender = Sender::new(&self.server.config.controller, limits.idle, None);
        let config = Arc::new(self.server.template(&sender));
        let address = incoming.remote_address();
        match self.stack.accept(incoming, now, buffer, Some(config)) {
            Ok((handle, connection)) => {
                self.totals.accepted += 1;
                self.half_open += 1;
                let mut peer = sender.bind(handle, connection);
                if self.server.config.trace {
                    peer.record();
                }
                let client = Client {
                    address,
                    peer,
                    service: Service::new(self.server.config.clients_choose),
                    deadline: Some(now + std_span(limits.patience)),
                    is_established: false,
                    is_awake: true,
                    sending: Sending::Done,
                    error: None,
                    is_told: false,
                };
                self.clients.insert(handle.0, client);
            }
            Err(error) => {
                self.totals.refused += 1;
                if let Some(transmit) = error.response {
                    self.respond(&transmit, received, buffer);
                }
            }
        }
    }

    /// Lets every connection act that has a reason to.
    fn turn(&mut self, now: Instant, buffer: &mut Vec<u8>) {
        let mut gone = Vec::new();
        for (handle, client) in &mut self.clients {
            if client
                .peer
                .connection
                .poll_timeout()
                .is_some_and(|at| at <= now)
            {
                client.peer.connection.handle_timeout(now);
                client.is_awake = true;
            }
            client.is_awake |= client.deadline.is_some_and(|at| at <= now)
                || client.service.next().is_some_and(|at| at <= now);
            if !client.is_awake && client.sending == Sending::Done {
                continue;
            }
            client.is_awake = false;
            let was_half_open = client.is_half_open();
            let is_drained = client.act(now, self.server, &mut self.stack, buffer);
            self.half_open -= usize::from(was_half_open && !client.is_half_open());
            if client.is_over() && !client.is_told {
                client.is_told = true;
                match client.result(now) {
                    Some(served) => {
                        let counter = match served.error {
                            None => &mut self.totals.completed,
                            Some(_) => &mut self.totals.failed,
                        };
                        *counter += 1;
                        (self.on_served)(served);
                    }
                    None => self.totals.abandoned += 1,
                }
            }
            if is_drained {
                gone.push(*handle);
            }
        }
        for handle in gone {
            self.clients.remove(&handle);
        }
    }

    fn wait(&self, end: Option<Instant>) -> io::Result<()> {
        let now = Instant::now();
        let mut next = now + ATTENTION;
        let mut readiness = Readiness::Readable;
        for client in self.clients.values() {
            match client.sending {
                Sending::More => return Ok(()),
                Sending::Full => readiness = Readiness::ReadableOrWritable,
                Sending::Done => {}
            }
            let times = [
                client.peer.connection.poll_timeout(),
                client.deadline,
                client.service.next(),
                end,
            ];
            next = times.into_iter().flatten().fold(next, Instant::min);
        }
        let patience = next.saturating_duration_since(now);
        self.server.udp.wait(readiness, patience)
    }

    /// Closes all connections, and waits shortly for their clients to have heard of it.
    fn say_farewell(&mut self, buffer: &mut Vec<u8>) -> Result<(), ServeError> {
        self.is_stopping = true;
        let now = Instant::now();
        for client in self.clients.values_mut() {
            if !client.is_over() {
                client.error = Some("the server was stopped".to_owned());
                let reason = bytes::Bytes::from_static(b"the server was stopped");
                client.peer.connection.close(now, STOPPING, reason);
                client.is_awake = true;
            }
        }
        let end = now + FAREWELL;
        self.turn(now, buffer);
        while Instant::now() < end && !self.clients.is_empty() {
            self.receive(Instant::now(), buffer)?;
            self.turn(Instant::now(), buffer);
            self.wait(Some(end))?;
        }
        Ok(())
    }
}

impl Client {
    fn is_half_open(&self) -> bool {
        !self.is_established && !self.is_over()
    }

    /// Whether the client will not be served any more.
    fn is_over(&self) -> bool {
        self.error.is_some() || self.peer.connection.is_closed()
    }

    /// Tells whether the connection can be forgotten.
    fn act(
        &mut self,
        now: Instant,
        server: &Server,
        stack: &mut Endpoint,
        buffer: &mut Vec<u8>,
    ) -> bool {
        if self.deadline.is_some_and(|at| at <= now) {
            self.deadline = None;
            let reason = bytes::Bytes::from_static(b"no request came in time");
            self.peer.connection.close(now, SLOW, reason);
        }
        loop {
            let mut is_idle = true;
            while let Some(event) = self.peer.connection.poll() {
                is_idle = false;
                self.on_event(&event, now, server.config.limits.patience);
            }
            if is_idle {
                break;
            }
        }
        if !self.is_over() {
            self.service.advance(&mut self.peer, now);
            if self.service.began.is_some() {
                self.deadline = None;
            }
        }
        // A client that cannot be reached is one that is silent.
        let sent = self.peer.transmit(now, &server.udp, buffer);
        self.sending = sent.unwrap_or(Sending::Done);
        self.peer.sample(now);
        self.peer.exchange(stack)
    }

    fn on_event(&mut self, event: &Event, now: Instant, patience: Duration) {
        match event {
            Event::Connected => {
                self.is_established = true;
                self.peer.shared.flow().establish();
                self.deadline = Some(now + std_span(patience));
            }
            Event::HandshakeConfirmed => self.peer.is_confirmed = true,
            Event::ConnectionLost { reason } => {
                self.deadline = None;
                self.error = match reason {
                    // All was moved and answered.
                    _ if self.service.ended.is_some() => None,
                    ConnectionError::TimedOut => Some("the client stopped answering".to_owned()),
                    reason => Some(reason.to_string()),
                };
            }
            event => self.service.on_event(event, &mut self.peer, now),
        }
    }

    /// What has become of the request; nothing if there was none.
    fn result(&mut self, now: Instant) -> Option<Served> {
        let (began, workload) = (self.service.began?, self.service.workload?);
        let ended = self.service.ended.unwrap_or(now);
        Some(Served {
            address: self.address,
            workload,
            moved: Bytes::new(self.service.moved()),
            elapsed: crate::clock::duration(ended.saturating_duration_since(began)),
            error: self.service.refused.take().or_else(|| self.error.take()),
            sender: SenderReport::of(&self.peer),
            samples: self.peer.samples.take(),
        })
    }
}

pub(super) fn std_span(span: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(span.as_nanos())
}
