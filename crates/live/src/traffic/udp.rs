//! One end of a QUIC connection: a UDP socket with one peer.
//!
//! A system call moves many datagrams: the kernel cuts a train that it sends, and joins datagrams that it receives
//! (`UDP_SEGMENT` and `UDP_GRO` of udp(7)).

use crate::emulator::frame::MTU;
use crate::sys;
use bytes::BytesMut;
use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddrV4, UdpSocket};
use std::num::NonZeroUsize;
use thalweg_sim::{Datagram, Train};
use thalweg_units::{Bytes, Ecn};

/// Socket buffer in each direction, for a process that is scheduled late: 0.1 s at 1 Gbit/s, of which the kernel counts
/// up to a page of 4 KiB for each packet.
const ROOM: i32 = 32 << 20;
/// Messages of one receive call, and the buffer of each: the kernel may coalesce several datagrams.
const MESSAGES: usize = 4;
const MESSAGE: usize = 1 << 16;
/// Bytes of an IP packet of the largest size.
const PACKET: u64 = MTU as u64;
/// Datagrams before other connections are served.
const TURN: usize = 64;

/// A non-blocking socket. Its ECN codepoints are the codepoints of the packets; nothing is fragmented.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) socket: UdpSocket,
    state: UdpSocketState,
    peer: SocketAddrV4,
    /// Datagrams of the largest size in the largest burst of its host.
    burst: NonZeroUsize,
}

impl Udp {
    /// A socket in the network of the process, from one address to another, that sends at most `burst` bytes of IP
    /// packets at once; `None`: one packet.
    pub(crate) fn connect(
        from: SocketAddrV4,
        peer: SocketAddrV4,
        burst: Option<Bytes>,
    ) -> io::Result<Udp> {
        let socket = UdpSocket::bind(from)?;
        socket.connect(peer)?;
        let state = UdpSocketState::new((&socket).into())?;
        // Best effort: overflows are counted and reported.
        let _ = sys::udp::set_buffers(&socket, ROOM);
        Ok(Udp {
            socket,
            state,
            peer,
            burst: packets_in(burst),
        })
    }

    /// The most datagrams that it sends at once.
    pub(crate) fn most(&self) -> NonZeroUsize {
        self.state.max_gso_segments().min(self.burst)
    }

    /// Sends; returns whether the socket accepted it. What is too large for the host, or what it cannot
    /// send for another reason (for example the other end has gone), counts as sent and lost.
    pub(crate) fn send(&self, train: &Train) -> bool {
        let transmit = Transmit {
            destination: self.peer.into(),
            ecn: EcnCodepoint::from_bits(train.ecn as u8),
            contents: &train.data,
            segment_size: (train.data.len() > train.size).then_some(train.size),
            src_ip: None,
        };
        match self.state.try_send((&self.socket).into(), &transmit) {
            Err(error) => !is_for_later(&error),
            Ok(()) => true,
        }
    }

    /// Passes on what has arrived; `room` is the buffer.
    pub(crate) fn receive(&self, room: &mut Vec<u8>, take: &mut dyn FnMut(Datagram)) {
        if room.len() < MESSAGES * MESSAGE {
            room.resize(MESSAGES * MESSAGE, 0);
        }
        let mut taken = 0;
        while taken < TURN {
            let mut metas = [RecvMeta::default(); MESSAGES];
            let mut rooms = room.chunks_exact_mut(MESSAGE);
            let mut slices: [IoSliceMut<'_>; MESSAGES] =
                std::array::from_fn(|_| IoSliceMut::new(rooms.next().unwrap_or_default()));
            let socket = (&self.socket).into();
            let count = match self.state.recv(socket, &mut slices, &mut metas) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The other end has gone; its connection will time out.
                Err(_) => 0,
            };
            if count == 0 {
                taken += 1;
                continue;
            }
            for (meta, message) in metas.iter().zip(&slices).take(count) {
                let ecn = meta
                    .ecn
                    .map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
                let mut rest = BytesMut::from(&message[..meta.len]);
                while !rest.is_empty() {
                    taken += 1;
                    let size = meta.stride.clamp(1, rest.len());
                    take(Datagram {
                        // The stack ignores it.
                        number: 0,
                        ecn,
                        data: rest.split_to(size),
                    });
                }
            }
            // Fewer than there was room for: nothing was left.
            if count < MESSAGES {
                return;
            }
        }
    }

    /// Datagrams dropped because the receive buffer was full.
    pub(crate) fn dropped(&self) -> u64 {
        sys::udp::dropped(&self.socket).unwrap_or(0)
    }
}

/// Packets of the largest size in a burst, which the kernel cuts itself from this length on.
fn packets_in(burst: Option<Bytes>) -> NonZeroUsize {
    let packets = burst.map_or(1, |burst| burst.as_u64().saturating_sub(1) / PACKET);
    NonZeroUsize::new(packets as usize).unwrap_or(NonZeroUsize::MIN)
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// Two sockets of the loopback, each other's peers.
    fn pair() -> [Udp; 2] {
        let free = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
            let port = socket.local_addr().expect("an address").port();
            SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
        };
        let (left, right) = (free(), free());
        let burst = Some(Bytes::new(60_000));
        [(left, right), (right, left)]
            .map(|(from, to)| Udp::connect(from, to, burst).expect("a socket"))
    }

    /// The next `count` datagrams.
    fn arrived(udp: &Udp, count: usize) -> Vec<(Ecn, Vec<u8>)> {
        let (mut room, mut got) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            udp.receive(&mut room, &mut |datagram| {
                got.push((datagram.ecn, datagram.data.to_vec()))
            });
            if got.len() >= count {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        got
    }

    #[test]
    fn datagrams_and_their_codepoints_arrive() {
        let [left, right] = pair();
        let sent = [
            (Ecn::NotEct, 3),
            (Ecn::Ect0, 1200),
            (Ecn::Ect1, 1440),
            (Ecn::Ce, 10),
        ];
        for (ecn, size) in sent {
            let data = BytesMut::zeroed(size);
            assert!(left.send(&Train { ecn, data, size }));
        }
        let got = arrived(&right, sent.len());
        let got: Vec<_> = got.iter().map(|(ecn, data)| (*ecn, data.len())).collect();
        assert_eq!(got, sent);
        assert_eq!(right.dropped(), 0);
    }

    #[test]
    fn a_train_arrives_as_the_datagrams_that_it_is_made_of() {
        let [left, right] = pair();
        // 39 packets of 1500 bytes are less than 60000.
        assert_eq!(
            left.most().get(),
            39.min(left.state.max_gso_segments().get())
        );
        for (length, size) in [(1440 * 7 + 5, 1440), (1200 * 8, 1200), (3, 1)] {
            let data: BytesMut = (0..length).map(|at| (at % 251) as u8).collect();
            let expected: Vec<Vec<u8>> = data.chunks(size).map(<[u8]>::to_vec).collect();
            assert!(left.send(&Train {
                ecn: Ecn::Ect1,
                data,
                size
            }));
            let got = arrived(&right, expected.len());
            assert!(got.iter().all(|(ecn, _)| *ecn == Ecn::Ect1));
            let got: Vec<Vec<u8>> = got.into_iter().map(|(_, data)| data).collect();
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn a_host_without_bursts_sends_one_packet_at_once() {
        for (burst, packets) in [
            (None, 1),
            (Some(3000), 1),
            (Some(3001), 2),
            (Some(12_500), 8),
        ] {
            assert_eq!(packets_in(burst.map(Bytes::new)).get(), packets);
        }
    }
}
