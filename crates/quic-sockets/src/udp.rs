//! A UDP socket: many datagrams per system call if the kernel supports it (GSO, GRO, `recvmmsg`).

use bytes::BytesMut;
use noq_proto::{EcnCodepoint, FourTuple, Transmit};
use noq_udp::{RecvMeta, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Buffer of each direction of a socket; the kernel may grant less (`net.core.rmem_max`). The
/// default of Linux, 208 KiB, overflows at a gigabit per second if the reader is late by 1.5 ms.
const SOCKET_BUFFER: usize = 8 << 20;
/// Messages per receive call. Each may be a train of datagrams coalesced by the kernel.
const MESSAGES: usize = 8;
/// Buffer for one message: the largest of UDP.
const MESSAGE: usize = 1 << 16;

/// A socket that does not block.
#[derive(Debug)]
pub(super) struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<u8>,
}

/// A received message.
pub(super) struct Received {
    /// Source, and which of our addresses is the destination.
    pub(super) path: FourTuple,
    pub(super) ecn: Option<EcnCodepoint>,
    /// One datagram, or several of `stride` bytes of which the last may be shorter.
    pub(super) data: BytesMut,
    pub(super) stride: usize,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Readable,
    ReadableOrWritable,
}

impl Udp {
    /// A new socket at an address; with port 0, at a free port.
    pub(super) fn bind(address: SocketAddr) -> io::Result<Udp> {
        let socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new((&socket).into())?;
        // The kernel clamps to its limit.
        state.set_recv_buffer_size((&socket).into(), SOCKET_BUFFER)?;
        state.set_send_buffer_size((&socket).into(), SOCKET_BUFFER)?;
        Ok(Udp {
            socket,
            state,
            buffers: vec![0; MESSAGES * MESSAGE],
        })
    }

    /// Connects to one peer: the kernel then reports closed ports.
    pub(super) fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)
    }

    pub(super) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Datagrams that one call can send.
    pub(super) fn max_segments(&self) -> NonZeroUsize {
        self.state.max_gso_segments()
    }

    /// Receives with one call, and returns the number of messages.
    pub(super) fn receive(&mut self, mut take: impl FnMut(Received)) -> io::Result<usize> {
        let mut metas = [RecvMeta::default(); MESSAGES];
        let mut chunks = self.buffers.chunks_exact_mut(MESSAGE);
        let mut slices: [IoSliceMut<'_>; MESSAGES] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        let socket = (&self.socket).into();
        let count = match self.state.recv(socket, &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if is_for_later(&error) => return Ok(0),
            Err(error) => return Err(error),
        };
        for (meta, slice) in metas.iter().zip(&slices).take(count) {
            take(Received {
                path: FourTuple::new(meta.addr, meta.dst_ip),
                ecn: meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
                data: BytesMut::from(&slice[..meta.len]),
                stride: meta.stride.max(1),
            });
        }
        Ok(count)
    }

    /// Sends; returns whether the socket accepted it. A path MTU probe that is too large for the
    /// interface counts as sent and lost.
    pub(super) fn send(&self, transmit: &Transmit, data: &[u8]) -> io::Result<bool> {
        let ecn = transmit
            .ecn
            .and_then(|ecn| noq_udp::EcnCodepoint::from_bits(ecn as u8));
        let message = noq_udp::Transmit {
            destination: transmit.destination,
            ecn,
            contents: &data[..transmit.size],
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        match self.state.try_send((&self.socket).into(), &message) {
            Ok(()) => Ok(true),
            Err(error) if is_for_later(&error) => Ok(false),
            Err(error) if is_too_large(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Waits until the socket is ready, at most for `patience`. A signal also ends the wait.
    pub(super) fn wait(&self, readiness: Readiness, patience: Duration) -> io::Result<()> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, readiness == Readiness::ReadableOrWritable);
        let timeout = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&self.socket, flags)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error())
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
