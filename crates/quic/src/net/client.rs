//! The client: one connection, one request.

use super::credentials::{CredentialsError, client as tls};
use super::media::CallReport;
use super::peer::{Peer, Sender, Sending, counted_as};
use super::report::SenderReport;
use super::request::{Answer, MOST, Request, Workload};
use super::samples::Samples;
use super::server::{STOPPING, std_span};
use super::transfer::{Document, Reading, Transfer, write_document};
use super::udp::{Readiness, Received, Udp};
use crate::identity::SERVER_NAME;
use crate::pinned::Fingerprint;
use noq_proto::{
    ClientConfig, ConnectionError, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    StreamEvent, StreamId, TransportErrorCode, VarInt,
};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use thalweg_control::ControllerSpec;
use thalweg_units::{Bytes, Duration};

/// How often the order to stop is looked for, at least.
const ATTENTION: std::time::Duration = std::time::Duration::from_millis(50);
/// Silence after the host of the server has said that nothing listens there any more.
const DEAD: std::time::Duration = std::time::Duration::from_secs(2);
/// Silence after which to ask whether the server is there: one that downloads would not send otherwise, and its
/// host would have no occasion to say that the server is gone.
const KEEP_ALIVE: std::time::Duration = std::time::Duration::from_secs(1);
/// How long the last packet of a connection may take to leave.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(100);
/// And how often to try.
const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

/// What to ask of whom.
#[derive(Clone, Debug)]
pub struct Order {
    /// Name or address of the server.
    pub host: String,
    /// Its UDP port.
    pub port: u16,
    /// Which certificate it must have.
    pub fingerprint: Fingerprint,
    /// What is to be moved.
    pub workload: Workload,
    /// The controller of our own sender.
    pub controller: ControllerSpec,
    /// The controller that the server should use, if it lets us choose.
    pub server_controller: Option<ControllerSpec>,
    /// How long to wait for the handshake.
    pub patience: Duration,
    /// Silence after which the server counts as gone.
    pub idle: Duration,
    /// Whether to record the time series of our sender.
    pub trace: bool,
}

/// How far a request is; shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of data moved.
    pub moved: AtomicU64,
    /// Set to stop.
    pub stop: AtomicBool,
}

/// What came of a request.
#[derive(Debug)]
pub struct Summary {
    /// Address of the server.
    pub server: SocketAddr,
    /// Length of the handshake.
    pub handshake: Duration,
    /// From the request to the first byte of data, of a download.
    pub first_byte: Option<Duration>,
    /// From the request until the last byte is here (download), acknowledged (upload), or the call is over.
    pub elapsed: Duration,
    /// Bytes of data moved.
    pub moved: Bytes,
    /// What our own sender measured.
    pub client: SenderReport,
    /// What the sender of the server measured.
    pub sender: SenderReport,
    /// What we heard of a call, and what the server heard.
    pub calls: Option<(CallReport, CallReport)>,
    /// The time series of our sender, if they were asked for.
    pub samples: Option<Samples>,
}

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// The host has no address.
    #[error("{0} has no address: {1}")]
    Name(String, io::Error),
    /// No way leads to the server, or no socket.
    #[error("cannot reach {0}: {1}")]
    Unreachable(SocketAddr, io::Error),
    /// The host says that nobody is there.
    #[error("nothing listens at {0} (UDP)")]
    NothingListens(SocketAddr),
    /// The handshake was not answered.
    #[error("no answer from {0} within {1}")]
    NoAnswer(SocketAddr, Duration),
    /// Another server.
    #[error("the server at {address} has another certificate: its fingerprint is {seen}")]
    Fingerprint {
        /// Its address.
        address: SocketAddr,
        /// What it has.
        seen: Fingerprint,
    },
    /// The server takes no connection now.
    #[error("the server at {0} takes no more connections now")]
    Busy(SocketAddr),
    /// The server does not do that.
    #[error("the server at {0} refuses the request: {1}")]
    Refused(SocketAddr, String),
    /// What answers is not one of our servers.
    #[error("the server at {0} does not speak our protocol: {1}")]
    Foreign(SocketAddr, String),
    /// TLS cannot be set up.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The server is not there any more.
    #[error("the server at {0} stopped answering after {1} of data")]
    Vanished(SocketAddr, Bytes),
    /// The server has closed the connection.
    #[error("the server at {0} has ended the connection after {1} of data: {2}")]
    Ended(SocketAddr, Bytes, String),
    /// Asked to stop.
    #[error("interrupted after {0} of data")]
    Interrupted(Bytes),
}

impl GetError {
    /// Whether the request or its environment is at fault, before any data moved.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            GetError::Vanished(..) | GetError::Ended(..) | GetError::Interrupted(_)
        )
    }
}

/// Makes a request and moves its data.
///
/// # Errors
/// See [`GetError`].
pub fn get(order: &Order, progress: &Progress) -> Result<Summary, GetError> {
    let address = resolve(&order.host, order.port)?;
    let unreachable = |error| GetError::Unreachable(address, error);
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let udp = Udp::bind(any).map_err(unreachable)?;
    udp.connect(address).map_err(unreachable)?;
    let (crypto, other) = tls(order.fingerprint)?;
    let sender = Sender::new(&order.controller, order.idle, Some(KEEP_ALIVE));
    let mut config = ClientConfig::new(crypto);
    config.transport_config(sender.transport.clone());
    let mut stack = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    let begin = Instant::now();
    let connected = stack.connect(begin, config, address, SERVER_NAME);
    let (handle, connection) = connected.map_err(|error| unreachable(io::Error::other(error)))?;
    let mut peer = sender.bind(handle, connection);
    if order.trace {
        peer.record();
    }
    let session = Session {
        order,
        address,
        other,
        begin,
        connected: None,
        control: None,
        document: Document::default(),
        transfer: None,
        finished: None,
        answer: None,
        lost: None,
    };
    let mut client = Client {
        udp,
        stack,
        peer,
        session,
        heard: begin,
        is_refused: false,
    };
    client.run(progress)
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, GetError> {
    let failed = |error| GetError::Name(host.to_owned(), error);
    let mut addresses = (host, port).to_socket_addrs().map_err(failed)?;
    let none = || io::Error::from(io::ErrorKind::NotFound);
    addresses.next().ok_or_else(|| failed(none()))
}

/// The socket, the stack and the application of the client.
struct Client<'a> {
    udp: Udp,
    stack: Endpoint,
    peer: Peer,
    session: Session<'a>,
    /// When the server was last heard.
    heard: Instant,
    /// Whether its host has said since that nothing listens.
    is_refused: bool,
}

/// The application.
struct Session<'a> {
    order: &'a Order,
    address: SocketAddr,
    other: Arc<OnceLock<Fingerprint>>,
    begin: Instant,
    connected: Option<Instant>,
    control: Option<StreamId>,
    document: Document,
    transfer: Option<Transfer>,
    /// When the last byte of a download was in.
    finished: Option<Instant>,
    answer: Option<(Instant, Vec<u8>)>,
    lost: Option<ConnectionError>,
}

impl Client<'_> {
    fn run(&mut self, progress: &Progress) -> Result<Summary, GetError> {
        let mut buffer = Vec::with_capacity(1 << 16);
        loop {
            self.receive(&mut buffer)?;
            let now = Instant::now();
            let sending = self.act(now, &mut buffer)?;
            progress
                .moved
                .store(self.session.moved(), Ordering::Relaxed);
            if let Some(error) = self.session.failure() {
                return Err(error);
            }
            if let Some((ended, text)) = self.session.answer.take() {
                let summary = self.conclude(ended, &text);
                self.say_farewell(VarInt::from_u32(0), &mut buffer);
                return summary;
            }
            if progress.stop.load(Ordering::Relaxed) {
                self.say_farewell(STOPPING, &mut buffer);
                return Err(GetError::Interrupted(Bytes::new(self.session.moved())));
            }
            self.check_patience(now, &mut buffer)?;
            self.wait(sending)?;
        }
    }

    fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<(), GetError> {
        let mut trains: Vec<Received> = Vec::new();
        match self.udp.receive(|train| trains.push(train)) {
            Ok(_) => {}
            Err(error) => return self.complain(error),
        }
        let now = Instant::now();
        for mut train in trains {
            while !train.data.is_empty() {
                let length = train.stride.min(train.data.len());
                let datagram = train.data.split_to(length);
                let ecn = train.ecn.map(counted_as);
                buffer.clear();
                let event = self.stack.handle(now, train.path, ecn, datagram, buffer);
                if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                    self.peer.take_in(event);
                    (self.heard, self.is_refused) = (now, false);
                }
            }
        }
        Ok(())
    }

    /// What the socket reports: that nothing listens is believed at once during the handshake, and later if
    /// nothing else is heard (anybody might have sent it).
    fn complain(&mut self, error: io::Error) -> Result<(), GetError> {
        let address = self.session.address;
        match error.kind() {
            io::ErrorKind::ConnectionRefused if self.session.connected.is_some() => {
                self.is_refused = true;
                Ok(())
            }
            io::ErrorKind::ConnectionRefused => Err(GetError::NothingListens(address)),
            _ if self.session.connected.is_some() => Ok(()),
            _ => Err(GetError::Unreachable(address, error)),
        }
    }

    fn act(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Result<Sending, GetError> {
        if self
            .peer
            .connection
            .poll_timeout()
            .is_some_and(|at| at <= now)
        {
            self.peer.connection.handle_timeout(now);
        }
        while let Some(event) = self.peer.connection.poll() {
            self.session.on_event(&event, &mut self.peer, now);
        }
        self.session.advance(&mut self.peer, now);
        let sending = match self.peer.transmit(now, &self.udp, buffer) {
            Ok(sending) => sending,
            Err(error) => {
                self.complain(error)?;
                Sending::Done
            }
        };
        self.peer.sample(now);
        self.peer.exchange(&mut self.stack);
        Ok(sending)
    }

    fn check_patience(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Result<(), GetError> {
        let session = &self.session;
        let patience = session.order.patience;
        let error = match session.connected {
            None if now >= session.begin + std_span(patience) => {
                GetError::NoAnswer(session.address, patience)
            }
            Some(_) if self.is_refused && now >= self.heard + DEAD => session.vanished(),
            _ => return Ok(()),
        };
        self.say_farewell(VarInt::from_u32(0), buffer);
        Err(error)
    }

    fn wait(&self, sending: Sending) -> Result<(), GetError> {
        let readiness = match sending {
            Sending::More => return Ok(()),
            Sending::Done => Readiness::Readable,
            Sending::Full => Readiness::ReadableOrWritable,
        };
        let now = Instant::now();
        let call = self.session.transfer.as_ref().and_then(Transfer::next);
        let times = [self.peer.connection.poll_timeout(), call];
        let next = times
            .into_iter()
            .flatten()
            .fold(now + ATTENTION, Instant::min);
        let waited = self
            .udp
            .wait(readiness, next.saturating_duration_since(now));
        waited.map_err(|error| GetError::Unreachable(self.session.address, error))
    }

    /// Closes the connection. One packet tells the server; pacing may hold it back for a moment.
    fn say_farewell(&mut self, code: VarInt, buffer: &mut Vec<u8>) {
        let begin = Instant::now();
        self.peer.connection.close(begin, code, bytes::Bytes::new());
        let before = self.peer.sent;
        while begin.elapsed() < FAREWELL {
            let now = Instant::now();
            self.peer.connection.handle_timeout(now);
            let sending = self.peer.transmit(now, &self.udp, buffer);
            if sending.is_err() || self.peer.sent > before {
                return;
            }
            let _ = self.udp.wait(Readiness::Readable, MOMENT);
        }
    }

    fn conclude(&mut self, ended: Instant, text: &[u8]) -> Result<Summary, GetError> {
        let session = &self.session;
        let address = session.address;
        let foreign = |what: String| GetError::Foreign(address, what);
        let answer = serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
        let outcome = match answer {
            Answer::Refused(reason) => return Err(GetError::Refused(address, reason)),
            Answer::Done(outcome) => outcome,
        };
        let moved = session.moved();
        let is_whole = match session.order.workload {
            Workload::Download(bytes) => moved == bytes.as_u64() && session.finished.is_some(),
            Workload::Upload(bytes) => outcome.received == bytes.as_u64(),
            Workload::Call(_) => outcome.call.is_some(),
        };
        if !is_whole {
            return Err(foreign("it has not moved what was asked for".to_owned()));
        }
        let connected = session.connected.unwrap_or(session.begin);
        let since = |later: Instant, earlier| {
            crate::clock::duration(later.saturating_duration_since(earlier))
        };
        let (mut first_byte, mut calls) = (None, None);
        match &session.transfer {
            Some(Transfer::Receiving(inflow)) => {
                first_byte = inflow.first_byte.map(|at| since(at, connected));
            }
            Some(Transfer::Calling(ours)) => {
                calls = outcome.call.map(|theirs| (ours.report(), theirs))
            }
            _ => {}
        }
        Ok(Summary {
            server: address,
            handshake: since(connected, session.begin),
            first_byte,
            elapsed: since(session.finished.unwrap_or(ended), connected),
            moved: Bytes::new(moved),
            client: SenderReport::of(&self.peer),
            sender: outcome.sender,
            calls,
            samples: self.peer.samples.take(),
        })
    }
}

impl Session<'_> {
    fn moved(&self) -> u64 {
        let wanted = match self.order.workload {
            Workload::Download(bytes) | Workload::Upload(bytes) => bytes.as_u64(),
            Workload::Call(_) => 0,
        };
        self.transfer
            .as_ref()
            .map_or(0, |transfer| transfer.moved(wanted))
    }

    fn on_event(&mut self, event: &Event, peer: &mut Peer, now: Instant) {
        match event {
            Event::Connected => {
                self.connected = Some(now);
                peer.shared.flow().establish();
                self.ask(peer, now);
            }
            Event::HandshakeConfirmed => peer.is_confirmed = true,
            Event::ConnectionLost { reason } => self.lost = Some(reason.clone()),
            Event::Stream(StreamEvent::Readable { id }) if self.control == Some(*id) => {
                if let Reading::Complete(text) = self.document.read(*id, &mut peer.connection, MOST)
                {
                    self.answer = Some((now, text));
                }
            }
            _ => {}
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_event(event, &mut peer.connection, now);
            if matches!(transfer, Transfer::Receiving(_)) && transfer.is_done(now) {
                self.finished.get_or_insert(now);
            }
        }
    }

    fn ask(&mut self, peer: &mut Peer, now: Instant) {
        let request = Request {
            workload: self.order.workload,
            controller: self
                .order
                .server_controller
                .as_ref()
                .map(ToString::to_string),
        };
        self.control = peer.connection.streams().open(Dir::Bi);
        if let (Some(id), Ok(text)) = (self.control, serde_json::to_vec(&request)) {
            write_document(id, &text, &mut peer.connection);
        }
        self.transfer = Some(match self.order.workload {
            Workload::Download(_) => Transfer::receive(),
            Workload::Upload(bytes) => Transfer::send(bytes.as_u64()),
            Workload::Call(length) => Transfer::call(length, now),
        });
    }

    fn advance(&mut self, peer: &mut Peer, now: Instant) {
        if let Some(transfer) = &mut self.transfer {
            transfer.advance(&mut peer.connection, now);
        }
    }

    fn vanished(&self) -> GetError {
        GetError::Vanished(self.address, Bytes::new(self.moved()))
    }

    /// Why the connection was lost, if it was.
    fn failure(&self) -> Option<GetError> {
        let address = self.address;
        let reason = self.lost.as_ref()?;
        if let Some(seen) = self.other.get() {
            let seen = *seen;
            return Some(GetError::Fingerprint { address, seen });
        }
        let is_early = self.connected.is_none();
        Some(match reason {
            ConnectionError::TimedOut | ConnectionError::Reset if !is_early => self.vanished(),
            ConnectionError::TimedOut => GetError::NoAnswer(address, self.order.idle),
            ConnectionError::ConnectionClosed(close)
                if is_early && close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
            {
                GetError::Busy(address)
            }
            reason if is_early => GetError::Foreign(address, reason.to_string()),
            ConnectionError::ApplicationClosed(close) => {
                let words = String::from_utf8_lossy(&close.reason).into_owned();
                GetError::Ended(address, Bytes::new(self.moved()), words)
            }
            reason => GetError::Ended(address, Bytes::new(self.moved()), reason.to_string()),
        })
    }
}
