//! One end of a QUIC connection: a UDP socket with one peer.

use crate::sys;
use bytes::BytesMut;
use noq_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddrV4, UdpSocket};
use thalweg_sim::Datagram;
use thalweg_units::Ecn;

/// Socket buffer in each direction, for a process that is scheduled late: 64 ms at 1 Gbit/s, counting the
/// kernel's overhead of each packet.
const ROOM: i32 = 8 << 20;
/// Buffer of one receive call: the kernel may coalesce several datagrams.
const MESSAGE: usize = 1 << 16;
/// Datagrams before other connections are served.
const TURN: usize = 64;

/// A non-blocking socket. Its ECN codepoints are those of the packets; nothing is fragmented.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) socket: UdpSocket,
    state: UdpSocketState,
    peer: SocketAddrV4,
}

impl Udp {
    /// A socket in the network of the process, from one address to another.
    pub(crate) fn connect(from: SocketAddrV4, peer: SocketAddrV4) -> io::Result<Udp> {
        let socket = UdpSocket::bind(from)?;
        socket.connect(peer)?;
        let state = UdpSocketState::new((&socket).into())?;
        // Best effort: overflows are counted and reported.
        let _ = sys::udp::set_buffers(&socket, ROOM);
        Ok(Udp {
            socket,
            state,
            peer,
        })
    }

    /// Sends; returns whether the socket accepted it. A datagram that is too large for the host, or that it cannot
    /// send for another reason (for example the other end has gone), counts as sent and lost.
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

    /// Passes on what has arrived; `room` is the buffer.
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
                // The other end has gone; its connection will time out.
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
                    // The stack ignores it.
                    number: 0,
                    ecn,
                    data: BytesMut::from(data),
                });
            }
        }
    }

    /// Datagrams dropped because the receive buffer was full.
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
