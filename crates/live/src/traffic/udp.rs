//! One end of a QUIC connection: a UDP socket that talks to one other.

use crate::sys;
use bytes::BytesMut;
use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddrV4, UdpSocket};
use thalweg_sim::Datagram;
use thalweg_units::Ecn;

/// Room in each direction, for a process that is away for a while: 64 ms at 1 Gbit/s, each packet counted with
/// what the kernel keeps beside it.
const ROOM: i32 = 8 << 20;
/// Room for what one call receives: the kernel may have put several datagrams together.
const MESSAGE: usize = 1 << 16;
/// Datagrams before others get their turn.
const TURN: usize = 64;

/// A socket that does not wait. Its ECN codepoints are those of the packets; nothing is fragmented.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) socket: UdpSocket,
    state: UdpSocketState,
    peer: SocketAddrV4,
}

impl Udp {
    /// A socket of the network that the process is in, from one address to another.
    pub(crate) fn connect(from: SocketAddrV4, peer: SocketAddrV4) -> io::Result<Udp> {
        let socket = UdpSocket::bind(from)?;
        socket.connect(peer)?;
        let state = UdpSocketState::new((&socket).into())?;
        // Best effort: what finds no room is counted, and reported.
        let _ = sys::udp::set_buffers(&socket, ROOM);
        Ok(Udp {
            socket,
            state,
            peer,
        })
    }

    /// Sends; tells whether the socket took it. A datagram that is too large for the host counts as sent and
    /// lost, and so does one that it cannot send for another reason: the other end is gone, for example.
    pub(crate) fn send(&self, datagram: &Datagram) -> bool {
        let transmit = Transmit {
            destination: self.peer.into(),
            ecn: EcnCodepoint::from_bits(datagram.ecn as u8),
            contents: &datagram.data,
            segment_size: None,
            src_ip: None,
        };
        match self.state.try_send((&self.socket).into(), &transmit) {
            Err(error) => !is_for_later(&error),
            Ok(()) => true,
        }
    }

    /// Hands over what has arrived; `room` is where it is received.
    pub(crate) fn receive(&self, room: &mut Vec<u8>, take: &mut dyn FnMut(Datagram)) {
        if room.len() < MESSAGE {
            room.resize(MESSAGE, 0);
        }
        let mut taken = 0;
        while taken < TURN {
            let mut metas = [RecvMeta::default()];
            let mut slices = [IoSliceMut::new(&mut room[..MESSAGE])];
            match self
                .state
                .recv((&self.socket).into(), &mut slices, &mut metas)
            {
                Ok(1..) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // That the other end is gone: its connection will notice.
                Ok(0) | Err(_) => {
                    taken += 1;
                    continue;
                }
            }
            let [meta] = metas;
            let ecn = meta
                .ecn
                .map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
            for data in room[..meta.len].chunks(meta.stride.max(1)) {
                taken += 1;
                take(Datagram {
                    // The stack does not look at it.
                    number: 0,
                    ecn,
                    data: BytesMut::from(data),
                });
            }
        }
    }

    /// Datagrams that came and found no room.
    pub(crate) fn dropped(&self) -> u64 {
        sys::udp::dropped(&self.socket).unwrap_or(0)
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn datagrams_and_their_codepoints_arrive() {
        let free = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
            let port = socket.local_addr().expect("an address").port();
            SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
        };
        let (left, right) = (free(), free());
        let (left, right) = (
            Udp::connect(left, right).expect("a socket"),
            Udp::connect(right, left).expect("a socket"),
        );
        let sent = [
            (Ecn::NotEct, 3),
            (Ecn::Ect0, 1200),
            (Ecn::Ect1, 1440),
            (Ecn::Ce, 10),
        ];
        for (ecn, size) in sent {
            let data = BytesMut::zeroed(size);
            assert!(left.send(&Datagram {
                number: 0,
                ecn,
                data
            }));
        }
        let (mut room, mut got) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            right.receive(&mut room, &mut |datagram| {
                got.push((datagram.ecn, datagram.data.len()))
            });
            if got.len() == sent.len() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(got, sent);
        assert_eq!(right.dropped(), 0);
    }
}
