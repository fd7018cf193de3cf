//! TCP of smoltcp as a stack of Thalweg.
//!
//! A datagram is an IPv4 packet without its header, which both ends know; links add the header of IP and UDP, so a packet counts
//! eight bytes more than it has. A connection carries one stream: the client ends its half with the request.
//!
//! # Determinism
//! Everything repeats: the initial sequence number comes from the seed, and there is no other randomness. smoltcp counts
//! time in microseconds: an event counts as of the microsecond that has begun.
//!
//! # Limits
//! Only the options for the controller, `max_mtu`, `max_ack_delay` and `receive_window` have an effect. A receiver sends one
//! range of SACK, which the sender ignores. No pacing, no ECN. Nagle's algorithm is on, as smoltcp has it. smoltcp tells
//! neither its window nor its RTT.

mod link;

use link::{HEADER, Link};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpCidr};
use thalweg_stack_sdk::{
    Arrival, Departure, Options, Problem, Role, Room, Stack, Status, Written, export_stack,
};

/// Bytes of a buffer: more than the bandwidth-delay product of 100 Mbps and 300 ms.
const BUFFER: usize = 4 << 20;
const PORT: u16 = 4433;
const CLIENT_PORT: u16 = 49_152;
/// Bytes of any content.
static CONTENT: [u8; 1 << 16] = [0; 1 << 16];

/// One end of a connection.
struct Smoltcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    link: Link,
    /// Time of the last call, nanoseconds.
    now: u64,
    is_open: bool,
    /// Whether all has been read, its end included.
    is_read: bool,
    was_connected: bool,
}

export_stack!(Smoltcp);

fn at(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}

impl Smoltcp {
    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    /// Lets smoltcp receive what has arrived and send what it may.
    fn poll(&mut self, now: u64) {
        self.now = now;
        self.interface.poll(at(now), &mut self.link, &mut self.sockets);
        self.was_connected |= self.sockets.get::<Socket<'_>>(self.socket).may_send();
    }
}

impl Stack for Smoltcp {
    const NAME: &'static str = "smoltcp";
    const VERSION: &'static str = "0.14.0";
    const CONTROLLERS: &'static str = "cubic, reno, none";
    const MAX_STREAMS: u32 = 1;

    fn create(options: &Options<'_>, now: u64) -> Result<Self, Problem> {
        let controller = match options.controller {
            "cubic" => CongestionControl::Cubic,
            "reno" => CongestionControl::Reno,
            "none" => CongestionControl::None,
            name => {
                return Err(format!(
                    "\"{name}\" is not a controller of smoltcp; accepted, without options: {}",
                    Smoltcp::CONTROLLERS
                ));
            }
        };
        let mut link = Link::new(options.role, options.max_mtu as usize);
        let mut config = Config::new(HardwareAddress::Ip);
        let mut seed = [0; 8];
        seed.copy_from_slice(&options.seed[..8]);
        config.random_seed = u64::from_le_bytes(seed);
        let mut interface = Interface::new(config, &mut link, at(now));
        interface.update_ip_addrs(|addresses| {
            // There is room for one.
            let _ = addresses.push(IpCidr::new(link::address(options.role).into(), 24));
        });
        let window = options.receive_window.map_or(BUFFER, |bytes| bytes as usize);
        let buffer = |bytes: usize| SocketBuffer::new(vec![0; bytes]);
        let mut socket = Socket::new(buffer(window), buffer(BUFFER));
        socket.set_congestion_control(controller);
        socket.set_ack_delay(Some(Duration::from_micros(options.max_ack_delay_ns / 1000)));
        match options.role {
            Role::Server => socket.listen(PORT).map_err(|error| error.to_string())?,
            Role::Client => {
                let server = (link::address(Role::Server), PORT);
                let connected = socket.connect(interface.context(), server, CLIENT_PORT);
                connected.map_err(|error| error.to_string())?;
            }
        }
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Ok(Smoltcp {
            interface,
            sockets,
            socket,
            link,
            now,
            is_open: false,
            is_read: false,
            was_connected: false,
        })
    }

    fn datagram_in(&mut self, now: u64, _ecn: u8, data: &[u8]) {
        self.link.arrive(data);
        self.poll(now);
    }

    fn datagram_out(&mut self, now: u64, room: Room<'_>) -> Option<Departure> {
        if self.link.is_idle() {
            self.poll(now);
        }
        let packet = self.link.depart()?;
        let length = packet.len() - HEADER;
        room[..length].copy_from_slice(&packet[HEADER..]);
        Some(Departure {
            length,
            ecn: 0,
            not_before: 0,
        })
    }

    fn next(&mut self) -> Option<u64> {
        let time = self.interface.poll_at(at(self.now), &self.sockets)?;
        Some(time.total_micros().max(0) as u64 * 1000)
    }

    fn expire(&mut self, now: u64) {
        self.poll(now);
    }

    fn open(&mut self, _now: u64) -> Option<u64> {
        let may_send = self.socket().may_send();
        (may_send && !std::mem::replace(&mut self.is_open, true)).then_some(0)
    }

    fn write(&mut self, _now: u64, _stream: u64, bytes: u64, fin: bool) -> Written {
        let socket = self.socket();
        if !socket.may_send() {
            return Written::Blocked;
        }
        let mut taken = 0;
        while taken < bytes {
            let length = CONTENT.len().min(usize::try_from(bytes - taken).unwrap_or(usize::MAX));
            match socket.send_slice(&CONTENT[..length]) {
                Ok(written) if written > 0 => taken += written as u64,
                _ => return Written::Taken(taken),
            }
        }
        if fin {
            socket.close();
        }
        Written::Taken(taken)
    }

    fn read(&mut self, _now: u64) -> Option<Arrival> {
        if self.is_read || !self.was_connected {
            return None;
        }
        let socket = self.socket();
        let mut bytes = 0;
        while let Ok(length @ 1..) = socket.recv(|data| (data.len(), data.len())) {
            bytes += length as u64;
        }
        // The other end has ended its half, and there is nothing before that any more.
        let fin = matches!(
            socket.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait | State::Closed
        );
        self.is_read = fin;
        (bytes > 0 || fin).then_some(Arrival {
            stream: 0,
            bytes,
            fin,
        })
    }

    fn close(&mut self, now: u64) {
        self.socket().close();
        self.now = now;
    }

    fn status(&self) -> Status {
        let state = self.sockets.get::<Socket<'_>>(self.socket).state();
        match state {
            State::Closed | State::TimeWait => Status::Closed,
            _ if self.was_connected => Status::Established,
            _ => Status::Connecting,
        }
    }
}
