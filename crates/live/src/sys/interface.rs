//! Addresses, routes and flags of network interfaces (netdevice(7), `ioctl` on a datagram socket).
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct in6_ifreq` of linux/ipv6.h.
#[repr(C)]
struct In6Ifreq {
    address: libc::in6_addr,
    prefix: u32,
    interface: libc::c_int,
}

/// `struct in6_rtmsg` of linux/ipv6_route.h.
#[repr(C)]
struct In6Route {
    destination: libc::in6_addr,
    source: libc::in6_addr,
    gateway: libc::in6_addr,
    kind: u32,
    destination_prefix: u16,
    source_prefix: u16,
    metric: u32,
    info: libc::c_ulong,
    flags: u32,
    interface: libc::c_int,
}

pub(super) fn set_name(request: &mut libc::ifreq, name: &str) {
    // The last byte stays zero: names of interfaces are shorter than their field.
    let room = request.ifr_name.len() - 1;
    for (slot, byte) in request.ifr_name.iter_mut().take(room).zip(name.bytes()) {
        *slot = byte as libc::c_char; // signed or not, by processor
    }
}

fn request(name: &str) -> libc::ifreq {
    // SAFETY: all-zero bytes are a valid `ifreq`.
    let mut request = unsafe { std::mem::zeroed() };
    set_name(&mut request, name);
    request
}

/// An interface of the network namespace of the creating thread.
pub(crate) struct Interface<'a> {
    name: &'a str,
    v4: UdpSocket,
}

impl<'a> Interface<'a> {
    pub(crate) fn named(name: &'a str) -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        Ok(Interface { name, v4 })
    }

    fn ioctl(&self, what: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: every request of this file takes a pointer to `ifreq`, which lives until the return.
        unsafe {
            check(libc::ioctl(
                self.v4.as_raw_fd(),
                what as _,
                &raw mut *request,
            ))?
        };
        Ok(())
    }

    /// Brings the interface up.
    pub(crate) fn up(&self) -> io::Result<()> {
        let mut request = request(self.name);
        self.ioctl(libc::SIOCGIFFLAGS, &mut request)?;
        // SAFETY: the call before has filled in the flags.
        unsafe {
            request.ifr_ifru.ifru_flags |= (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short
        };
        self.ioctl(libc::SIOCSIFFLAGS, &mut request)
    }

    /// Length of the kernel's queue for a reader, in packets.
    pub(crate) fn set_queue(&self, packets: u16) -> io::Result<()> {
        let mut request = request(self.name);
        request.ifr_ifru.ifru_metric = libc::c_int::from(packets);
        self.ioctl(libc::SIOCSIFTXQLEN, &mut request)
    }

    /// Sets the MTU.
    pub(crate) fn set_mtu(&self, bytes: u16) -> io::Result<()> {
        let mut request = request(self.name);
        request.ifr_ifru.ifru_mtu = libc::c_int::from(bytes);
        self.ioctl(libc::SIOCSIFMTU, &mut request)
    }

    /// Sets the size from which the kernel segments packets itself instead of leaving it to the device.
    pub(crate) fn set_largest_packet(&self, bytes: u32) -> io::Result<()> {
        super::netlink::set_largest_packet(self.index()?.unsigned_abs(), bytes)
    }

    fn index(&self) -> io::Result<libc::c_int> {
        let mut named = request(self.name);
        self.ioctl(libc::SIOCGIFINDEX, &mut named)?;
        // SAFETY: the call before has filled in the index.
        Ok(unsafe { named.ifr_ifru.ifru_ifindex })
    }

    /// Sets an IPv4 address and the IPv4 default route.
    pub(crate) fn set_v4(&self, address: Ipv4Addr) -> io::Result<()> {
        for (what, address) in [
            (libc::SIOCSIFADDR, address),
            (libc::SIOCSIFNETMASK, Ipv4Addr::BROADCAST),
        ] {
            let mut request = request(self.name);
            request.ifr_ifru.ifru_addr = socket_address(address);
            self.ioctl(what, &mut request)?;
        }
        let mut name: [libc::c_char; libc::IFNAMSIZ] = [0; libc::IFNAMSIZ];
        for (slot, byte) in name.iter_mut().zip(self.name.bytes()) {
            *slot = byte as libc::c_char; // signed or not, by processor
        }
        // SAFETY: all-zero bytes are a valid `rtentry`; the name outlives the call.
        unsafe {
            let mut route: libc::rtentry = std::mem::zeroed();
            route.rt_dst = socket_address(Ipv4Addr::UNSPECIFIED);
            route.rt_genmask = socket_address(Ipv4Addr::UNSPECIFIED);
            route.rt_flags = libc::RTF_UP;
            route.rt_dev = name.as_mut_ptr();
            check(libc::ioctl(
                self.v4.as_raw_fd(),
                libc::SIOCADDRT as _,
                &raw mut route,
            ))?;
        }
        Ok(())
    }

    /// The same for IPv6. Without neighbours the address needs no duplicate detection.
    pub(crate) fn set_v6(&self, address: Ipv6Addr) -> io::Result<()> {
        let none = libc::in6_addr { s6_addr: [0; 16] };
        let address = libc::in6_addr {
            s6_addr: address.octets(),
        };
        let interface = self.index()?;
        // SAFETY: both structures live until the calls return.
        unsafe {
            let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
            let socket = OwnedFd::from_raw_fd(check(libc::socket(libc::AF_INET6, kind, 0))?);
            let mut own = In6Ifreq {
                address,
                prefix: 128,
                interface,
            };
            check(libc::ioctl(
                socket.as_raw_fd(),
                libc::SIOCSIFADDR as _,
                &raw mut own,
            ))?;
            let mut route = In6Route {
                destination: none,
                source: none,
                gateway: none,
                kind: 0,
                destination_prefix: 0,
                source_prefix: 0,
                metric: 1,
                info: 0,
                flags: u32::from(libc::RTF_UP),
                interface,
            };
            check(libc::ioctl(
                socket.as_raw_fd(),
                libc::SIOCADDRT as _,
                &raw mut route,
            ))?;
        }
        Ok(())
    }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let v4 = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.octets()),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: both are 16 plain bytes, and the kernel reads the one as the other.
    unsafe { std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(v4) }
}
