//! Hosts: network namespaces whose only way out is a TUN device in the hands of the emulator.
//!
//! Nothing here has a name. A namespace lives as long as this process holds its descriptor or a process is
//! in it, a device as long as this process holds its file. Programs run below a first process in a process
//! namespace of their own, which the kernel kills with this process, and which takes all others there with
//! it. So when this process ends, even by `kill -9`, the kernel removes everything.
//!
//! Addresses are those of documentation (RFC 5737, RFC 3849), which nobody else has:
//! left hosts `192.0.2.N` and `2001:db8:1::N`, right hosts `198.51.100.N` and `2001:db8:2::N`, from 1 on.

use crate::emulator::frame::MTU;
use crate::emulator::{Port, Side};
use crate::sys::interface::Interface;
use crate::sys::process::{self, Child, Pid, Status};
use crate::sys::{namespace, signals, tun};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The most hosts of a side: the last byte of an address numbers them.
pub(crate) const MOST: u8 = 200;

/// The name of the device in each namespace.
const DEVICE: &str = "path";

/// Packets that a device keeps for the emulator: 60 ms at 1 Gbit/s. What the emulator takes late is late,
/// what the device drops is lost; both are reported.
const QUEUE: u16 = 5000;

/// One host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) side: Side,
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
    /// Whether it has IPv6: some kernels do not.
    pub(crate) has_v6: bool,
    network: File,
}

/// Takes the right to make namespaces: that of root, or else that of a user namespace.
///
/// # Errors
/// A message for the user.
pub(crate) fn take_rights() -> Result<(), String> {
    if namespace::is_root() {
        return Ok(());
    }
    namespace::new_user().map_err(|error| {
        format!(
            "this needs a network of its own, and the host grants this user none ({error}); accepted: root, \
             or user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, \
             kernel.apparmor_restrict_unprivileged_userns=0)"
        )
    })
}

impl Host {
    /// Makes host `number` of a side, from 1 on, and the emulator's end of its device. The calling process
    /// is in the network namespace of the new host afterwards.
    pub(crate) fn new(side: Side, number: u8) -> Result<(Host, Port), String> {
        let (v4, v6) = addresses(side, number);
        let fail = |what: &str, error: io::Error| format!("{what}: {error}");
        let network = namespace::new_network().map_err(|error| {
            fail(
                "no network namespace can be made (accepted: root, or user namespaces)",
                error,
            )
        })?;
        let device = tun::open(DEVICE).map_err(|error| {
            fail(
                "no TUN device can be made (accepted: /dev/net/tun, readable and writable)",
                error,
            )
        })?;
        let set_up = || -> io::Result<bool> {
            // Without these the host would speak to neighbours that it does not have.
            for (key, value) in [("addr_gen_mode", "1"), ("accept_ra", "0")] {
                let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{DEVICE}/{key}"), value);
            }
            namespace::allow_ping();
            Interface::named("lo")?.up()?;
            let interface = Interface::named(DEVICE)?;
            // Only root may; for others the device keeps the 500 packets of every device.
            let _ = interface.set_queue(QUEUE);
            interface.set_mtu(MTU as u16)?;
            interface.up()?;
            interface.set_v4(v4)?;
            Ok(interface.set_v6(v6).is_ok())
        };
        let has_v6 = set_up().map_err(|error| fail("the TUN device cannot be set up", error))?;
        let addresses = vec![IpAddr::V4(v4), IpAddr::V6(v6)];
        let host = Host {
            side,
            v4,
            v6,
            has_v6,
            network,
        };
        let port = Port {
            device,
            side,
            addresses,
        };
        Ok((host, port))
    }

    /// Brings the calling process into this host.
    pub(crate) fn enter(&self) -> io::Result<()> {
        namespace::enter_network(&self.network)
    }

    /// Starts a process that is the first of its process namespace in this host and runs `body`.
    pub(crate) fn start(&self, body: impl FnOnce() -> Status) -> io::Result<Pid> {
        process::spawn(Child::First, || {
            process::be_visible();
            if let Err(error) = self.enter() {
                eprintln!("error: the host cannot be entered: {error}");
                return 70;
            }
            namespace::own_proc();
            body()
        })
    }

    /// Starts a command in this host, with variables that name the hosts. The status is that of the
    /// command; what it leaves in the background ends with it.
    pub(crate) fn start_command(
        &self,
        command: &[OsString],
        variables: &[(String, String)],
    ) -> io::Result<Pid> {
        self.start(|| {
            let Ok(child) = process::spawn(Child::Plain, || {
                signals::restore();
                exec(command, variables)
            }) else {
                return 70;
            };
            loop {
                match process::wait_any() {
                    Ok((pid, status)) if pid == child => return status,
                    Ok(_) => {}
                    Err(_) => return 70,
                }
            }
        })
    }

    /// Packets that the device dropped so far: those that the host sent and the emulator did not read in
    /// time, and those that the emulator wrote and the host did not take.
    pub(crate) fn dropped(&self) -> [u64; 2] {
        let read = || -> io::Result<String> {
            self.enter()?;
            fs::read_to_string("/proc/thread-self/net/dev")
        };
        dropped_in(&read().unwrap_or_default())
    }
}

/// Addresses of host `number` of a side.
fn addresses(side: Side, number: u8) -> (Ipv4Addr, Ipv6Addr) {
    let last = u16::from(number);
    match side {
        Side::Left => (
            Ipv4Addr::new(192, 0, 2, number),
            Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, last),
        ),
        Side::Right => (
            Ipv4Addr::new(198, 51, 100, number),
            Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, last),
        ),
    }
}

/// Sent and received packets dropped, of the text of /proc/net/dev: after the name of the device come eight
/// numbers of what was received and eight of what was sent, the fourth of each are drops.
fn dropped_in(text: &str) -> [u64; 2] {
    let line = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
    let numbers: Vec<u64> = line
        .unwrap_or_default()
        .split_whitespace()
        .map(|number| number.parse().unwrap_or(0))
        .collect();
    [11, 3].map(|at| numbers.get(at).copied().unwrap_or(0))
}

/// Becomes the command; returns only if that fails, with the status that shells use.
fn exec(command: &[OsString], variables: &[(String, String)]) -> Status {
    let Some((program, arguments)) = command.split_first() else {
        return 127;
    };
    let error = Command::new(program)
        .args(arguments)
        .envs(variables.iter().cloned())
        .exec();
    eprintln!("error: {}: {error}", program.to_string_lossy());
    match error.kind() {
        io::ErrorKind::NotFound => 127,
        _ => 126,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_read_from_the_table_of_devices() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
                    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop\n    \
                    lo:       0       0    0    9    0     0          0         0        0       0    0    9    0     0       0          0\n  \
                    path:  840      10    0    3    0     0          0         0      840      10    0    5    0     0       0          0\n";
        assert_eq!(dropped_in(text), [5, 3]);
        assert_eq!(dropped_in(""), [0, 0]);
    }

    #[test]
    fn no_two_hosts_share_an_address() {
        let mut all = Vec::new();
        for side in [Side::Left, Side::Right] {
            for number in 1..=MOST {
                let (v4, v6) = addresses(side, number);
                all.extend([IpAddr::V4(v4), IpAddr::V6(v6)]);
            }
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
