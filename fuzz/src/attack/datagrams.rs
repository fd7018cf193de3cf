//! Datagrams of off-path attackers, without a handshake.

use noq_proto::{ClientConfig, Endpoint, EndpointConfig};
use rand_core::Rng as _;
use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use thalweg_control::Rng;
use thalweg_quic_sockets::{Fingerprint, SERVER_NAME, client_crypto};

/// First datagrams of real handshakes that are kept.
const OPENINGS: usize = 8;
/// Answers of the server that are kept, to send back.
const ANSWERS: usize = 32;
/// Largest UDP payload that is sent.
const LARGEST: usize = 1500;

/// Draws datagrams.
pub(super) struct Stranger {
    openings: Vec<Vec<u8>>,
    answers: Vec<Vec<u8>>,
    /// Connection IDs of the last first packet under the right keys, and the packet numbers that it has used.
    last: Option<([u8; 8], u64)>,
}

impl Stranger {
    pub(super) fn new(address: SocketAddr, fingerprint: Fingerprint) -> Result<Self, String> {
        let opening = || opening(address, fingerprint);
        Ok(Stranger {
            openings: (0..OPENINGS).map(|_| opening()).collect::<Result<_, _>>()?,
            answers: Vec::new(),
            last: None,
        })
    }

    /// Keeps an answer of the server.
    pub(super) fn learn(&mut self, answer: &[u8]) {
        if self.answers.len() == ANSWERS {
            self.answers.remove(0);
        }
        self.answers.push(answer.to_vec());
    }

    pub(super) fn draw(&mut self, rng: &mut Rng) -> Vec<u8> {
        let opening = self.openings[below(rng, OPENINGS)].clone();
        match below(rng, 8) {
            0 => noise(rng),
            1 => long_header(rng),
            2 => opening,
            3 => changed(rng, opening),
            4 => coalesced(rng, opening),
            5 if !self.answers.is_empty() => {
                let answer = self.answers[below(rng, self.answers.len())].clone();
                changed(rng, answer)
            }
            _ => self.sealed(rng),
        }
    }

    /// A first packet with any frames under the keys that follow from its connection ID (RFC 9001 section 5.2),
    /// or the next packet of the last of them.
    fn sealed(&mut self, rng: &mut Rng) -> Vec<u8> {
        let next = self.last.filter(|_| below(rng, 2) == 0);
        let (id, number) = next.unwrap_or_else(|| (rng.next_u64().to_be_bytes(), 0));
        self.last = Some((id, number + 1));
        let mut payload = frames(rng);
        // Most have the size that a server requires.
        if below(rng, 8) > 0 {
            payload.resize(payload.len().max(1_180 - HEADER), 0);
        }
        seal(id, number, payload).unwrap_or_default()
    }
}

/// The first datagram of a handshake of the stack.
fn opening(address: SocketAddr, fingerprint: Fingerprint) -> Result<Vec<u8>, String> {
    let crypto = client_crypto(fingerprint).map_err(|error| error.to_string())?;
    let mut stack = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
    let now = Instant::now();
    let connected = stack.connect(now, ClientConfig::new(crypto), address, SERVER_NAME);
    let (_, mut connection) = connected.map_err(|error| error.to_string())?;
    let mut datagram = Vec::new();
    let made = connection.poll_transmit(now, NonZeroUsize::MIN, &mut datagram);
    made.map(|_| datagram)
        .ok_or_else(|| "the stack begins no handshake".to_owned())
}

pub(super) fn below(rng: &mut Rng, end: usize) -> usize {
    (rng.next_u64() % end.max(1) as u64) as usize
}

pub(super) fn bytes(rng: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// A length, often at a bound of the protocol.
fn length(rng: &mut Rng) -> usize {
    let bounds = [0, 1, 20, 21, 22, 38, 42, 43, 1199, 1200, 1201, 1472];
    match below(rng, 2) {
        0 => bounds[below(rng, bounds.len())],
        _ => below(rng, LARGEST),
    }
}

fn noise(rng: &mut Rng) -> Vec<u8> {
    let length = length(rng);
    bytes(rng, length)
}

/// A long header with any type, version, and lengths of connection IDs and token (RFC 9000 section 17.2).
fn long_header(rng: &mut Rng) -> Vec<u8> {
    let versions = [
        0,
        1,
        0x6b33_43cf,
        0x0a1a_2a3a,
        0xff00_001d,
        rng.next_u64() as u32,
    ];
    let mut datagram = vec![0x80 | rng.next_u64() as u8];
    datagram.extend(versions[below(rng, versions.len())].to_be_bytes());
    for _ in 0..2 {
        let told = [0, 8, 20, 21, 255, rng.next_u64() as u8][below(rng, 6)];
        let true_length = if below(rng, 4) > 0 {
            usize::from(told)
        } else {
            below(rng, 30)
        };
        datagram.push(told);
        datagram.extend(bytes(rng, true_length));
    }
    for _ in 0..2 {
        datagram.extend(varint(any_number(rng)));
    }
    let rest = length(rng);
    datagram.extend(bytes(rng, rest));
    datagram.truncate(LARGEST);
    datagram
}

/// Changes some bytes, and sometimes truncates or extends the datagram.
fn changed(rng: &mut Rng, mut datagram: Vec<u8>) -> Vec<u8> {
    if datagram.is_empty() {
        return datagram;
    }
    for _ in 0..below(rng, 8) {
        let end = if below(rng, 2) == 0 {
            40.min(datagram.len())
        } else {
            datagram.len()
        };
        let position = below(rng, end);
        datagram[position] = rng.next_u64() as u8;
    }
    match below(rng, 4) {
        0 => datagram.truncate(below(rng, datagram.len())),
        1 => {
            let more = below(rng, 100);
            datagram.extend(bytes(rng, more));
        }
        _ => {}
    }
    datagram
}

/// Two packets in one datagram (RFC 9000 section 12.2).
fn coalesced(rng: &mut Rng, mut datagram: Vec<u8>) -> Vec<u8> {
    let second = if below(rng, 2) == 0 {
        long_header(rng)
    } else {
        noise(rng)
    };
    if below(rng, 2) == 0 {
        datagram.truncate(below(rng, datagram.len()));
    }
    datagram.extend(second);
    datagram.truncate(LARGEST);
    datagram
}

/// Up to eight frames: mostly those that an Initial packet may hold (RFC 9000 section 12.4), with any fields.
fn frames(rng: &mut Rng) -> Vec<u8> {
    let mut payload = Vec::new();
    for _ in 0..below(rng, 8) {
        // PADDING, PING, ACK, ACK with ECN counts, CRYPTO, CONNECTION_CLOSE, or any other.
        let types = [0, 1, 2, 3, 6, 6, 6, 0x1c, any_number(rng)];
        let kind = types[below(rng, types.len())];
        payload.extend(varint(kind));
        match kind {
            2 | 3 => {
                let ranges = below(rng, 5) as u64;
                let head = [any_number(rng), any_number(rng), ranges, any_number(rng)];
                payload.extend(head.into_iter().flat_map(varint));
                let rest = 2 * ranges + if kind == 3 { 3 } else { 0 };
                payload.extend((0..rest).flat_map(|_| varint(any_number(rng))));
            }
            6 => {
                let told = below(rng, 300);
                payload.extend(varint(any_number(rng)));
                payload.extend(varint(told as u64));
                payload.extend(bytes(rng, told));
            }
            _ => {
                let rest = below(rng, 20);
                payload.extend(bytes(rng, rest));
            }
        }
    }
    payload.truncate(1_100);
    payload
}

/// A number of any size of a variable-length integer, small ones more often.
pub(super) fn any_number(rng: &mut Rng) -> u64 {
    let bits = below(rng, 63) as u32;
    let most = (1u64 << bits) - 1;
    [rng.next_u64() & most, most, 0, 1][below(rng, 4)]
}

/// RFC 9000 section 16.
fn varint(value: u64) -> Vec<u8> {
    match value {
        0..0x40 => vec![value as u8],
        0x40..0x4000 => (value as u16 | 0x4000).to_be_bytes().to_vec(),
        0x4000..0x4000_0000 => (value as u32 | 0x8000_0000).to_be_bytes().to_vec(),
        _ => (value | 0xc000_0000_0000_0000).to_be_bytes().to_vec(),
    }
}

/// Flags, version, connection IDs of eight bytes, no token, length and packet number.
const HEADER: usize = 1 + 4 + 2 * 9 + 1 + 2 + 4;
/// AEAD tag (RFC 9001 section 5.3).
const TAG: usize = 16;

/// An Initial packet of version 1 under its keys (RFC 9001 sections 5.2 to 5.4). Both connection IDs are `id`.
fn seal(id: [u8; 8], number: u64, mut payload: Vec<u8>) -> Option<Vec<u8>> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13()?;
    let keys = Keys::initial(Version::V1, suite, suite.quic?, &id, Side::Client);
    // The sample of header protection starts four bytes after the start of the packet number (section 5.4.2).
    payload.resize(payload.len().max(4), 0);
    let length = (4 + payload.len() + TAG) as u16 | 0x4000;
    let mut packet = vec![0xc3, 0, 0, 0, 1];
    for _ in 0..2 {
        packet.push(8);
        packet.extend(id);
    }
    packet.push(0);
    packet.extend(length.to_be_bytes());
    packet.extend((number as u32).to_be_bytes());
    let tag = keys
        .local
        .packet
        .encrypt_in_place(number, &packet, &mut payload)
        .ok()?;
    payload.extend(tag.as_ref());
    let (flags, rest) = packet.split_first_mut()?;
    let at = rest.len() - 4;
    let sample = payload.get(..keys.local.header.sample_len())?;
    keys.local
        .header
        .encrypt_in_place(sample, flags, &mut rest[at..])
        .ok()?;
    packet.extend(payload);
    Some(packet)
}
