//! An attack on a server over the loopback interface, drawn from a seed.
//!
//! [`assail`] sends what off-path attackers can send (`datagrams.rs`: noise, false headers, changed and repeated
//! first packets, first packets with any frames under the right keys) and acts as clients that misbehave after their handshake
//! (`rogue.rs`). Then it checks the server: it has not panicked, has sent no address more than three times
//! what came from there (RFC 9000 section 8.1), has answered only large datagrams with Version Negotiation (section
//! 5.2.2), and serves the next client.

mod datagrams;
mod rogue;

use datagrams::Stranger;
use rand_core::{Rng as _, SeedableRng as _};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use thalweg_control::{Registry, Rng};
use thalweg_quic_sockets::{
    Credentials, Fingerprint, Limits, Order, RequestHandle, Server, ServerConfig, Totals, Workload,
    get,
};
use thalweg_units::{Bytes, Duration};

/// Source addresses of the attackers.
const STRANGERS: u8 = 12;
/// One in this many cases is a client that completes its handshake.
const ROGUE_EVERY: usize = 100;
/// Datagrams between two reads of the answers.
const BATCH: usize = 16;
/// UDP payload of the smallest datagram that opens a connection (RFC 9000 section 14.1).
const SMALLEST_OPENING: usize = 1200;

/// The result of an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Datagrams of attackers.
    pub(crate) datagrams: u64,
    /// Their bytes, and the bytes of all answers to them.
    pub(crate) sent: u64,
    /// See `sent`.
    pub(crate) answered: u64,
    /// Version Negotiation packets among the answers.
    pub(crate) negotiated: u64,
    /// Clients that completed their handshake and then misbehaved.
    pub(crate) rogues: u64,
    /// The counters of the server.
    pub(crate) totals: Totals,
}

/// Limits that an attack reaches soon. Half-open connections time out fast, so that it can continue.
const LIMITS: Limits = Limits {
    connections: 24,
    half_open: 8,
    retry_above: 4,
    patience: Duration::from_millis(200),
    idle: Duration::from_millis(300),
};

/// How often an honest client tries, and how long it rests before it tries again.
const ATTEMPTS: u32 = 10;
const REST: std::time::Duration = std::time::Duration::from_secs(1);

/// Attacks a new server with `cases` datagrams or clients; the same seed draws the same. It takes about
/// 50 us per case, plus a second.
///
/// # Errors
/// What the server got wrong, in words.
pub(crate) fn assail(seed: u64, cases: usize) -> Result<Account, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let credentials = Credentials::make().map_err(|error| words(&error))?;
    let fingerprint = credentials.fingerprint();
    let mut server = Server::bind(ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials,
        controller: "c4".parse().map_err(|error| words(&error))?,
        offered: Some(Registry::standard()),
        limits: LIMITS,
        trace: seed.is_multiple_of(2),
    })
    .map_err(|error| words(&error))?;
    let address = server.address();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve(&stop, None, false, &mut |_| {}));
        let attacked = attack(seed, cases, address, fingerprint);
        // Half-open connections must not block others for longer than the handshake timeout.
        let order = honest(address, fingerprint)?;
        let served = patiently(|| get(&order, &RequestHandle::default()));
        stop.store(true, Ordering::Relaxed);
        let totals = serving
            .join()
            .map_err(|_| "the server has panicked".to_owned())?
            .map_err(|error| words(&error))?;
        let mut account = attacked?;
        account.totals = totals;
        match served {
            Ok(summary) if summary.moved == Bytes::new(100_000) => Ok(account),
            Ok(summary) => Err(format!(
                "only {} of 100 kB arrived afterwards",
                summary.moved
            )),
            Err(error) => Err(format!(
                "an honest client is not served afterwards: {error}"
            )),
        }
    })
}

/// The answer to one of a few attempts: a client that a busy machine delays beyond the server's timeouts says
/// nothing about the server.
fn patiently<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 1..ATTEMPTS {
        if let Ok(answer) = attempt() {
            return Ok(answer);
        }
        thread::sleep(REST);
    }
    attempt()
}

fn honest(address: SocketAddr, fingerprint: Fingerprint) -> Result<Order, String> {
    let controller = "cubic".parse();
    Ok(Order {
        host: address.ip().to_string(),
        port: address.port(),
        fingerprint,
        workload: Workload::Download(Bytes::new(100_000)),
        controller: controller.map_err(|error: thalweg_control::SpecError| error.to_string())?,
        server_controller: None,
        patience: Duration::from_secs(5),
        idle: Duration::from_secs(5),
        trace: false,
    })
}

/// Whether this is a Version Negotiation packet (RFC 9000 section 17.2.1): a long header of version 0.
fn is_version_negotiation(packet: &[u8]) -> bool {
    matches!(packet, [first, 0, 0, 0, 0, ..] if first & 0x80 != 0)
}

/// One address of an attacker.
struct Source {
    socket: UdpSocket,
    sent: u64,
    answered: u64,
    /// Datagrams that were large enough to open a connection.
    large: u64,
    negotiated: u64,
}

fn attack(
    seed: u64,
    cases: usize,
    address: SocketAddr,
    fingerprint: Fingerprint,
) -> Result<Account, String> {
    let failed = |error: io::Error| error.to_string();
    let mut rng = Rng::seed_from_u64(seed);
    let mut sources = Vec::new();
    for host in 1..=STRANGERS {
        let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, host), 0)).map_err(failed)?;
        socket.connect(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        sources.push(Source {
            socket,
            sent: 0,
            answered: 0,
            large: 0,
            negotiated: 0,
        });
    }
    let mut stranger = Stranger::new(address, fingerprint)?;
    let mut account = Account::default();
    for case in 0..cases {
        if case % ROGUE_EVERY == ROGUE_EVERY - 1 {
            account.rogues += u64::from(rogue::visit(&mut rng, address, fingerprint)?);
            continue;
        }
        let source = &mut sources[(rng.next_u64() % u64::from(STRANGERS)) as usize];
        let datagram = stranger.draw(&mut rng);
        // If the socket is full, the datagram is not sent.
        if source.socket.send(&datagram).is_ok() {
            account.datagrams += 1;
            source.sent += datagram.len() as u64;
            source.large += u64::from(datagram.len() >= SMALLEST_OPENING);
        }
        if case % BATCH == 0 {
            sources
                .iter_mut()
                .try_for_each(|source| source.listen(&mut stranger))?;
            thread::yield_now();
        }
    }
    // The server retransmits handshake packets until its timeout.
    thread::sleep(std::time::Duration::from_nanos(LIMITS.patience.as_nanos()) * 2);
    for source in &mut sources {
        source.listen(&mut stranger)?;
        account.sent += source.sent;
        account.answered += source.answered;
        account.negotiated += source.negotiated;
    }
    Ok(account)
}

impl Source {
    /// Receives all answers, keeps some for later datagrams, and checks their total size.
    fn listen(&mut self, stranger: &mut Stranger) -> Result<(), String> {
        let mut buffer = [0; 2048];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            let answer = &buffer[..length];
            self.answered += length as u64;
            self.negotiated += u64::from(is_version_negotiation(answer));
            stranger.learn(answer);
        }
        if self.answered > 3 * self.sent {
            return Err(format!(
                "{} B answer {} B of an address that is not validated; allowed: three times as many",
                self.answered, self.sent
            ));
        }
        if self.negotiated > self.large {
            return Err(format!(
                "{} Version Negotiation packets answer {} datagrams of {SMALLEST_OPENING} B or more",
                self.negotiated, self.large
            ));
        }
        Ok(())
    }
}
