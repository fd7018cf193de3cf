//! Clients that complete their handshake and then misbehave.

use super::datagrams::{any_number, below, bytes};
use bytes::{Bytes as Buffer, BytesMut};
use noq_proto::{
    ClientConfig, Connection, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, FourTuple,
    TransportConfig, VarInt,
};
use rand_core::Rng as _;
use serde_json::json;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_control::Rng;
use thalweg_quic_sockets::{Fingerprint, SERVER_NAME, Workload, client_crypto};
use thalweg_units::Bytes;

/// How long a client tries to connect, and how long it then stays.
const PATIENCE: Duration = Duration::from_millis(500);
const STAY: Duration = Duration::from_millis(40);
/// How long it listens before it acts again.
const STEP: Duration = Duration::from_millis(2);

/// Bytes of a request that is longer than servers read.
const TOO_LONG: usize = 1 << 17;

/// One connection; returns whether the handshake completed: a full server refuses clients.
pub(super) fn visit(
    rng: &mut Rng,
    address: SocketAddr,
    fingerprint: Fingerprint,
) -> Result<bool, String> {
    let failed = |error: io::Error| error.to_string();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    socket.connect(address).map_err(failed)?;
    socket.set_read_timeout(Some(STEP)).map_err(failed)?;
    let crypto = client_crypto(fingerprint).map_err(|error| error.to_string())?;
    let mut config = ClientConfig::new(crypto);
    config.transport_config(Arc::new(TransportConfig::default()));
    let mut stack = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    let begin = Instant::now();
    let (handle, mut connection) = stack
        .connect(begin, config, address, SERVER_NAME)
        .map_err(|error| error.to_string())?;
    let (mut buffer, mut datagram) = (Vec::new(), [0; 2048]);
    let mut is_connected = false;
    let mut end = begin + PATIENCE;
    while Instant::now() < end && !connection.is_drained() {
        let now = Instant::now();
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll() {
            if matches!(event, Event::Connected) {
                (is_connected, end) = (true, now + STAY);
            }
        }
        if is_connected {
            misbehave(rng, &mut connection, now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = stack.handle_event(handle, event) {
                connection.handle_event(event);
            }
        }
        buffer.clear();
        while let Some(made) = connection.poll_transmit(now, NonZeroUsize::MIN, &mut buffer) {
            let _ = socket.send(&buffer[..made.size]);
            buffer.clear();
        }
        if let Ok(length) = socket.recv(&mut datagram) {
            let path = FourTuple::new(address, None);
            let data = BytesMut::from(&datagram[..length]);
            let event = stack.handle(Instant::now(), path, None, data, &mut buffer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                connection.handle_event(event);
            }
        }
    }
    // It disappears without CONNECTION_CLOSE.
    Ok(is_connected)
}

fn misbehave(rng: &mut Rng, connection: &mut Connection, now: Instant) {
    match below(rng, 10) {
        0..4 => write(rng, connection, Dir::Bi),
        4 | 5 => write(rng, connection, Dir::Uni),
        6 => {
            let length = below(rng, 1200);
            let data = Buffer::from(bytes(rng, length));
            let _ = connection.datagrams().send(data, true);
        }
        7 => {
            connection.ping();
        }
        8 if below(rng, 8) == 0 => {
            let code = VarInt::from_u64(any_number(rng)).unwrap_or(VarInt::MAX);
            connection.close(now, code, Buffer::from(bytes(rng, 30)));
        }
        _ => {}
    }
}

/// Opens a stream and writes to it, roughly as a client should.
fn write(rng: &mut Rng, connection: &mut Connection, dir: Dir) {
    let Some(id) = connection.streams().open(dir) else {
        return;
    };
    let text = match below(rng, 4) {
        0 => bytes(rng, TOO_LONG),
        1 => {
            let length = below(rng, 200);
            bytes(rng, length)
        }
        2 => br#"{"workload":{"download":"18446744073709551615 B"},"controller":"c4:"}"#.to_vec(),
        _ => request(rng),
    };
    let cut = if below(rng, 4) == 0 {
        below(rng, text.len())
    } else {
        text.len()
    };
    let mut stream = connection.send_stream(id);
    let _ = stream.write(&text[..cut]);
    match below(rng, 4) {
        0 => {
            let _ = stream.reset(VarInt::from_u32(7));
        }
        1 => {}
        _ => {
            let _ = stream.finish();
        }
    }
}

/// A valid request of any size.
fn request(rng: &mut Rng) -> Vec<u8> {
    let amount = any_number(rng);
    let workload = match below(rng, 3) {
        0 => Workload::Download(Bytes::new(amount)),
        1 => Workload::Upload(Bytes::new(amount)),
        _ => Workload::Call(thalweg_units::Duration::from_nanos(amount)),
    };
    let names = [
        "c4",
        "bbr:variant=picoquic",
        "prague",
        "noq:bbr3",
        "",
        "c4:variant=v9",
    ];
    let controller = Some(names[below(rng, names.len())].to_owned());
    let controller = controller.filter(|_| rng.next_u64().is_multiple_of(2));
    let request = json!({"workload": workload, "controller": controller});
    request.to_string().into_bytes()
}
