//! quiche, with BoringSSL, as a stack of Thalweg.
//!
//! # Determinism
//! quiche reads the clock itself; `outside.rs` is its clock, and the source of its random numbers and of the keys of TLS.
//! Sizes, times and contents of all packets repeat.
//!
//! # Limits
//! The options `ack_every`, `ack_frequency` and `paced` have no effect: quiche acknowledges when it sends, at once
//! after each call, and does not pace CUBIC and Reno in this version. It knows no ECN. All packets have `max_mtu`. A
//! packet that the BBR of quiche wants to send later is asked for then.

mod identity;
mod options;
mod outside;

use quiche::{Config, Connection, ConnectionId, RecvInfo};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;
use thalweg_stack_sdk::{
    Arrival, Departure, Options, Probes, Problem, Role, Room, Stack, Status, Written, export_stack,
};

/// A flow-control window that never limits.
const WIDE: u64 = 1 << 50;
/// Data that was written and not sent, at most, as far as it can be known: what quiche takes beyond its window, while its
/// pacer holds packets back or a probe is due, has no other bound.
const SEND_BUFFER: u64 = 4 << 20;
/// Most streams of a connection.
const STREAMS: u64 = 1 << 20;
/// Bytes of any content.
static CONTENT: [u8; 1 << 16] = [0; 1 << 16];

/// One end of a connection.
struct Quiche {
    config: Config,
    connection: Option<Connection>,
    role: Role,
    /// The state of its random numbers.
    random: u64,
    /// What the clock showed at time 0.
    zero: Instant,
    /// Factor of the pacing rate, and when the last packet was sent.
    pacing: f64,
    sent: Instant,
    /// Until when the pacer of quiche holds the next packet back.
    held: Option<Instant>,
    /// Bytes written to streams.
    written: u64,
    opened: u64,
    arrivals: VecDeque<Arrival>,
    buffer: Vec<u8>,
}

export_stack!(Quiche);

impl Quiche {
    /// Does something at a time, with the random numbers of this end.
    fn during<T>(&mut self, now: u64, act: impl FnOnce(&mut Self) -> T) -> T {
        outside::set_now(now);
        outside::replace_random(self.random);
        let result = act(self);
        self.random = outside::replace_random(0);
        result
    }

    /// Takes what has arrived in order.
    fn take(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        while let Some(id) = connection.stream_readable_next() {
            let (mut bytes, mut fin) = (0, false);
            while let Ok((length, is_last)) = connection.stream_recv(id, &mut self.buffer) {
                bytes += length as u64;
                fin |= is_last;
                if fin {
                    break;
                }
            }
            self.arrivals.extend((bytes > 0 || fin).then_some(Arrival {
                stream: id / 4,
                bytes,
                fin,
            }));
        }
    }

    fn since_zero(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.zero).as_nanos() as u64
    }
}

/// Addresses reserved for documentation (RFC 5737).
fn address(role: Role) -> SocketAddr {
    let host = match role {
        Role::Client => 1,
        Role::Server => 2,
    };
    SocketAddr::from((Ipv4Addr::new(192, 0, 2, host), 4433))
}

/// The configuration, and the factor of the pacing rate.
fn config(options: &Options<'_>) -> Result<(Config, f64), Problem> {
    let problem = |error: quiche::Error| format!("quiche says {error}");
    let tls = identity::tls().map_err(|error| error.to_string())?;
    let version = quiche::PROTOCOL_VERSION;
    let mut config = Config::with_boring_ssl_ctx_builder(version, tls).map_err(problem)?;
    config
        .set_application_protos(&[b"thalweg"])
        .map_err(problem)?;
    config.verify_peer(false);
    config.grease(false);
    let pacing = options::apply(&mut config, options.controller)?;
    let window = options.receive_window.unwrap_or(WIDE);
    config.set_initial_max_data(window);
    config.set_max_connection_window(window);
    config.set_initial_max_stream_data_bidi_local(WIDE);
    config.set_initial_max_stream_data_bidi_remote(WIDE);
    config.set_max_stream_window(WIDE);
    config.set_initial_max_streams_bidi(STREAMS);
    config.set_max_idle_timeout(0);
    config.set_max_ack_delay(options.max_ack_delay_ns / 1_000_000);
    config.set_max_recv_udp_payload_size(usize::from(u16::MAX));
    let mtu = usize::try_from(options.max_mtu).unwrap_or(usize::MAX);
    config.set_max_send_udp_payload_size(mtu);
    let packets = options.initial_window / options.initial_mtu.max(1);
    config.set_initial_congestion_window_packets(usize::try_from(packets).unwrap_or(10).max(2));
    Ok((config, pacing))
}

impl Stack for Quiche {
    const NAME: &'static str = "quiche";
    const VERSION: &'static str = "0.30.0";
    const CONTROLLERS: &'static str = "cubic, reno, bbr2";

    fn create(options: &Options<'_>, now: u64) -> Result<Self, Problem> {
        let mut seed = [0; 8];
        seed.copy_from_slice(&options.seed[..8]);
        outside::set_now(0);
        let zero = Instant::now();
        let (config, pacing) = config(options)?;
        let mut quiche = Quiche {
            config,
            pacing,
            sent: zero,
            connection: None,
            role: options.role,
            random: u64::from_le_bytes(seed),
            zero,
            held: None,
            written: 0,
            opened: 0,
            arrivals: VecDeque::new(),
            buffer: vec![0; 1 << 16],
        };
        if options.role == Role::Client {
            let (here, there) = (address(Role::Client), address(Role::Server));
            let id = ConnectionId::from_ref(&options.seed[8..16]);
            let opened = quiche.during(now, |end| {
                let name = Some(identity::SERVER_NAME);
                quiche::connect(name, &id, here, there, &mut end.config)
            });
            quiche.connection = Some(opened.map_err(|error| format!("quiche says {error}"))?);
        }
        Ok(quiche)
    }

    fn datagram_in(&mut self, now: u64, _ecn: u8, data: &[u8]) {
        self.during(now, |end| {
            let here = end.role;
            let there = match here {
                Role::Client => Role::Server,
                Role::Server => Role::Client,
            };
            let (from, to) = (address(there), address(here));
            if end.connection.is_none() {
                let id = end.random.to_le_bytes();
                let id = ConnectionId::from_ref(&id);
                end.connection = quiche::accept(&id, None, to, from, &mut end.config).ok();
            }
            end.buffer[..data.len()].copy_from_slice(data);
            if let Some(connection) = &mut end.connection {
                // A packet that it refuses is dropped, as on a socket.
                let _ = connection.recv(&mut end.buffer[..data.len()], RecvInfo { from, to });
            }
            end.take();
        });
    }

    fn datagram_out(&mut self, now: u64, room: Room<'_>) -> Option<Departure> {
        self.during(now, |end| {
            let connection = end.connection.as_mut()?;
            let now = Instant::now();
            let release = connection.get_next_release_time();
            let release = release.and_then(|decision| decision.time(end.sent));
            let release = release.map(|time| end.sent + (time - end.sent).div_f64(end.pacing));
            end.held = release.filter(|time| *time > now);
            if end.held.is_some() {
                return None;
            }
            let (length, _) = connection.send(room).ok()?;
            end.sent = now;
            Some(Departure {
                length,
                ecn: 0,
                not_before: 0,
            })
        })
    }

    fn next(&mut self) -> Option<u64> {
        let timeout = self.connection.as_ref()?.timeout_instant();
        let next = timeout.into_iter().chain(self.held).min()?;
        Some(self.since_zero(next))
    }

    fn expire(&mut self, now: u64) {
        self.during(now, |end| {
            if let Some(connection) = &mut end.connection {
                connection.on_timeout();
            }
            end.take();
        });
    }

    fn open(&mut self, _now: u64) -> Option<u64> {
        let connection = self.connection.as_ref()?;
        // As many as the other end allows, less what is open.
        if connection.peer_streams_left_bidi() == 0 {
            return None;
        }
        self.opened += 1;
        Some(self.opened - 1)
    }

    fn write(&mut self, now: u64, number: u64, bytes: u64, fin: bool) -> Written {
        self.during(now, |end| {
            let Some(connection) = &mut end.connection else {
                return Written::Blocked;
            };
            let stats = connection.stats();
            let sent = stats.sent_bytes.saturating_sub(stats.lost_bytes);
            let room = (sent + SEND_BUFFER).saturating_sub(end.written);
            let mut taken = 0;
            loop {
                let left = bytes - taken;
                let length = left.min(room - taken).min(CONTENT.len() as u64) as usize;
                let is_last = fin && length as u64 == left;
                if length == 0 && !is_last {
                    return Written::Taken(taken);
                }
                match connection.stream_send(4 * number, &CONTENT[..length], is_last) {
                    Ok(sent) => {
                        taken += sent as u64;
                        end.written += sent as u64;
                    }
                    Err(_) if bytes == 0 => return Written::Blocked,
                    Err(_) => return Written::Taken(taken),
                }
                if taken == bytes {
                    return Written::Taken(taken);
                }
            }
        })
    }

    fn read(&mut self, _now: u64) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn close(&mut self, now: u64) {
        self.during(now, |end| {
            if let Some(connection) = &mut end.connection {
                // It fails if it is closed already.
                let _ = connection.close(true, 0, b"");
            }
        });
    }

    fn status(&self) -> Status {
        match &self.connection {
            Some(connection) if connection.is_closed() => Status::Closed,
            Some(connection) if connection.is_established() => Status::Established,
            _ => Status::Connecting,
        }
    }

    fn probe(&self) -> Option<Probes> {
        let path = self.connection.as_ref()?.path_stats().next()?;
        Some(Probes {
            window: Some(path.cwnd as u64),
            smoothed_rtt_ns: path.min_rtt.map(|_| path.rtt.as_nanos() as u64),
            packets_lost: Some(path.lost as u64),
            ..Probes::default()
        })
    }
}
