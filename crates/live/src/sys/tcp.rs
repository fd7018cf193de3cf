//! The kernel's TCP: choosing a congestion control and reading the state of a connection (tcp(7)).
#![allow(unsafe_code)]

use super::check;
use std::fs;
use std::io;
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The beginning of `struct tcp_info` of linux/tcp.h. Older kernels leave fields zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub(crate) struct TcpInfo {
    pub(crate) state: u8,
    /// 0 open, 1 disorder, 2 window reduced, 3 recovery, 4 loss.
    pub(crate) ca_state: u8,
    flags: [u8; 6],
    rto: u32,
    ato: u32,
    /// Bytes of a full segment, without headers.
    pub(crate) snd_mss: u32,
    rcv_mss: u32,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retrans: u32,
    fackets: u32,
    times: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    /// Smoothed RTT in microseconds.
    pub(crate) rtt: u32,
    rttvar: u32,
    pub(crate) snd_ssthresh: u32,
    /// Congestion window in segments.
    pub(crate) snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    /// Segments retransmitted so far.
    pub(crate) total_retrans: u32,
    /// Bytes per second; all ones if there is none.
    pub(crate) pacing_rate: u64,
    max_pacing_rate: u64,
    pub(crate) bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    /// Least RTT in microseconds; all ones if there is none.
    pub(crate) min_rtt: u32,
    data_segs_in: u32,
    /// Segments with data sent so far.
    pub(crate) data_segs_out: u32,
    /// Bytes per second.
    pub(crate) delivery_rate: u64,
    limited: [u64; 3],
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    /// Duplicates that the receiver reported: spurious retransmissions (RFC 2883).
    pub(crate) dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    /// Retransmission timeouts so far.
    pub(crate) total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

/// Sets the congestion control of a socket. Connections inherit it from a listening socket.
pub(crate) fn set_congestion(socket: impl AsFd, name: &str) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the text lives until the call returns.
    unsafe {
        check(libc::setsockopt(
            fd,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        ))?;
    }
    Ok(())
}

/// Whether this kernel has a congestion control, or can load it; using it may still need privileges.
///
/// # Errors
/// If no socket can be created.
pub(crate) fn has_congestion(name: &str) -> io::Result<bool> {
    let socket = socket()?;
    let refused = set_congestion(&socket, name).err();
    Ok(refused.and_then(|error| error.raw_os_error()) != Some(libc::ENOENT))
}

/// The congestion controls that this kernel has loaded.
pub(crate) fn congestion_controls() -> Vec<String> {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = known.unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// The state of a connection.
pub(crate) fn info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut info = TcpInfo::default();
    let mut size = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, and any bytes are a valid `TcpInfo`.
    unsafe {
        check(libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        ))?;
    }
    Ok(info)
}

/// Starts a non-blocking connect from a given address, optionally with a given congestion control.
pub(crate) fn connect(
    from: SocketAddrV4,
    to: SocketAddrV4,
    congestion: Option<&str>,
) -> io::Result<TcpStream> {
    let socket = socket()?;
    if let Some(name) = congestion {
        set_congestion(&socket, name)?;
    }
    let (from, to) = (socket_address(from), socket_address(to));
    let size = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the addresses live until the calls return.
    let result = unsafe {
        let fd = socket.as_raw_fd();
        check(libc::bind(fd, (&raw const from).cast(), size))?;
        check(libc::connect(fd, (&raw const to).cast(), size))
    };
    match result {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket.into()),
    }
}

fn socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers; the new descriptor has no other owner.
    unsafe {
        Ok(OwnedFd::from_raw_fd(check(libc::socket(
            libc::AF_INET,
            kind,
            0,
        ))?))
    }
}

fn socket_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    }
}
