//! Hosts: network namespaces whose only way out is a TUN device held by the emulator.
//!
//! Nothing here has a name. A namespace exists while this process holds its descriptor or a process is
//! in it, a device while this process holds its file. Programs run in their own process namespace, whose
//! first process the kernel kills together with this process, and with it all others there. So when this
//! process ends, even by `kill -9`, the kernel removes everything.
//!
//! Addresses are those reserved for documentation (RFC 5737, RFC 3849):
//! left hosts `192.0.2.N` and `2001:db8:1::N`, right hosts `198.51.100.N` and `2001:db8:2::N`, from 1 on.

use crate::emulator::frame::MTU;
use crate::emulator::{Port, Side};
use crate::sys::interface::Interface;
use crate::sys::process::{self, Child, Process, Status};
use crate::sys::{namespace, scheduler, signals, tun};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use thalweg_units::Bytes;

/// Most hosts of a side: the last byte of an address numbers them.
pub(crate) const MOST: u8 = 200;

/// The name of the device in each namespace.
const DEVICE: &str = "path";

/// Packets that a device queues for the emulator: 60 ms at 1 Gbit/s. The report counts drops here and
/// late reads.
const QUEUE: u16 = 5000;

/// One host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) side: Side,
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
    /// Whether it has IPv6: some kernels have not.
    pub(crate) has_v6: bool,
    /// The most bytes of IP packets that it hands to its device at once; `None`: one packet.
    pub(crate) burst: Option<Bytes>,
    network: File,
}

/// Acquires the right to create namespaces: as root, otherwise in a user namespace.
///
/// # Errors
/// A message for the user.
pub(crate) fn take_rights() -> Result<(), String> {
    if namespace::is_root() {
        return Ok(());
    }
    namespace::new_user().map_err(|error| {
        format!(
            "cannot create a user namespace: {error}; real time requires \
             root, or user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, \
             kernel.apparmor_restrict_unprivileged_userns=0)"
        )
    })
}

impl Host {
    /// Creates host `number` of a side, from 1 on, and the emulator's end of its device, to which the host hands at most
    /// `burst` at once. Leaves the calling process in the network namespace of the new host.
    pub(crate) fn new(
        side: Side,
        number: u8,
        burst: Option<Bytes>,
    ) -> Result<(Host, Port), String> {
        let (v4, v6) = addresses(side, number);
        let fail = |what: &str, error: io::Error| format!("{what}: {error}");
        let network = namespace::new_network().map_err(|error| {
            fail(
                "cannot create a network namespace, which requires root or user namespaces",
                error,
            )
        })?;
        let device = tun::open(DEVICE).map_err(|error| {
            fail(
                "cannot create a TUN device, which requires /dev/net/tun, readable and writable",
                error,
            )
        })?;
        let set_up = || -> io::Result<bool> {
            // Without these the host would send neighbour discovery.
            for (key, value) in [("addr_gen_mode", "1"), ("accept_ra", "0")] {
                let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{DEVICE}/{key}"), value);
            }
            namespace::allow_ping();
            Interface::named("lo")?.up()?;
            let interface = Interface::named(DEVICE)?;
            // Only root may; for others the device keeps its default of 500 packets.
            let _ = interface.set_queue(QUEUE);
            interface.set_mtu(MTU as u16)?;
            interface.up()?;
            interface.set_v4(v4)?;
            Ok(interface.set_v6(v6).is_ok())
        };
        let has_v6 = set_up().map_err(|error| fail("cannot set up the TUN device", error))?;
        // Best effort: without it, the host hands over single packets.
        let burst = burst.filter(|burst| {
            let interface = Interface::named(DEVICE);
            let limited = interface.and_then(|it| it.set_largest_packet(burst.as_u64() as u32));
            limited.and_then(|()| tun::offload(&device)).is_ok()
        });
        let addresses = vec![IpAddr::V4(v4), IpAddr::V6(v6)];
        let host = Host {
            side,
            v4,
            v6,
            has_v6,
            burst,
            network,
        };
        let port = Port {
            device,
            side,
            addresses,
        };
        Ok((host, port))
    }

    /// Moves the calling process into this host.
    pub(crate) fn enter(&self) -> io::Result<()> {
        namespace::enter_network(&self.network)
    }

    /// Starts a process in this host, the first of its process namespace, that runs `body`.
    pub(crate) fn start(&self, body: impl FnOnce() -> Status) -> io::Result<Process> {
        process::spawn(Child::First, || {
            process::be_visible();
            if let Err(error) = self.enter() {
                eprintln!("error: cannot enter the host: {error}");
                return 70;
            }
            namespace::own_proc();
            body()
        })
    }

    /// Starts a command in this host, with variables that name the hosts. The status is the status of the
    /// command; its background processes end with it.
    pub(crate) fn start_command(
        &self,
        command: &[OsString],
        variables: &[(String, String)],
    ) -> io::Result<Process> {
        self.start_in(command, variables, None)
    }

    /// Starts a command in the background: it reads nothing, and what it says goes to `output`.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(crate) fn start_in_background(
        &self,
        command: &[OsString],
        variables: &[(String, String)],
        output: &File,
    ) -> io::Result<Process> {
        let (mut refused, refusal) = process::pipe()?;
        let output = output.try_clone()?;
        let background = Background {
            output,
            refusal: Some(refusal),
            gate: None,
        };
        let process = self.start_in(command, variables, Some(background))?;
        // The other end is closed when the command has begun.
        let mut reason = String::new();
        refused.read_to_string(&mut reason)?;
        if reason.is_empty() {
            return Ok(process);
        }
        process::wait_for(process.pid)?;
        Err(io::Error::other(reason))
    }

    fn start_in(
        &self,
        command: &[OsString],
        variables: &[(String, String)],
        background: Option<Background>,
    ) -> io::Result<Process> {
        self.start(move || {
            let Ok(child) = process::spawn(Child::Plain, || {
                signals::restore();
                scheduler::be_usual();
                exec(command, variables, background.as_ref())
            }) else {
                return 70;
            };
            drop(background);
            loop {
                match process::wait_any() {
                    Ok((pid, status)) if pid == child.pid => return status,
                    Ok(_) => {}
                    Err(_) => return 70,
                }
            }
        })
    }

    /// Prepares a command in the background, which starts when it is told to. Its status is 125 if it never is.
    pub(crate) fn hold_in_background(
        &self,
        command: &[OsString],
        variables: &[(String, String)],
        output: &File,
    ) -> io::Result<Held> {
        let (waits, gate) = process::pipe()?;
        let background = Background {
            output: output.try_clone()?,
            refusal: None,
            gate: Some(waits),
        };
        let process = self.start_in(command, variables, Some(background))?;
        Ok(Held { process, gate })
    }

    /// The environment of a command on this host: its addresses, and the addresses of another.
    pub(crate) fn variables(&self, other: &Host) -> Vec<(String, String)> {
        let mut variables = vec![
            ("THALWEG_ADDRESS".to_owned(), self.v4.to_string()),
            ("THALWEG_PEER".to_owned(), other.v4.to_string()),
        ];
        if self.has_v6 && other.has_v6 {
            variables.push(("THALWEG_ADDRESS6".to_owned(), self.v6.to_string()));
            variables.push(("THALWEG_PEER6".to_owned(), other.v6.to_string()));
        }
        variables
    }

    /// Whether a socket of this host waits at a port: one that listens, of TCP, or any, of UDP.
    pub(crate) fn has_socket(&self, protocol: &str, port: u16) -> io::Result<bool> {
        self.enter()?;
        for family in ["", "6"] {
            // A kernel without IPv6 has no such file.
            let table = fs::read_to_string(format!("/proc/thread-self/net/{protocol}{family}"));
            if waits_at(&table.unwrap_or_default(), protocol, port) {
                return Ok(true);
            }
        }
        Ok(false)
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

/// Dropped packets, sent and received, from the text of /proc/net/dev: after the name of the device, eight
/// numbers for received and eight for sent packets; the fourth of each counts drops.
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

/// Whether the text of /proc/net/tcp, or of its likes, has a socket that waits at a port. After the number of the socket
/// come its address and port, the address and port of the other side, and its state (proc_pid_net(5)): 0A listens, 07 is open
/// and has no other side.
fn waits_at(text: &str, protocol: &str, port: u16) -> bool {
    let state = if protocol == "tcp" { "0A" } else { "07" };
    text.lines().skip(1).any(|line| {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        let [_, own, _, is] = words[..] else {
            return false;
        };
        let at = own.rsplit(':').next();
        is == state && at.is_some_and(|at| u16::from_str_radix(at, 16) == Ok(port))
    })
}

/// A command that is ready to start.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) process: Process,
    gate: File,
}

impl Held {
    /// Starts it.
    pub(crate) fn start(&mut self) -> io::Result<()> {
        self.gate.write_all(&[1])
    }
}

/// A command in the background.
#[derive(Debug)]
struct Background {
    /// Where its output goes.
    output: File,
    /// Where it is told why it cannot be started.
    refusal: Option<File>,
    /// What it waits for.
    gate: Option<File>,
}

/// Becomes the command; returns only if that fails, with the status that shells use.
fn exec(
    command: &[OsString],
    variables: &[(String, String)],
    background: Option<&Background>,
) -> Status {
    let Some((program, arguments)) = command.split_first() else {
        return 127;
    };
    let gate = background.and_then(|background| background.gate.as_ref());
    if let Some(mut gate) = gate
        && gate.read_exact(&mut [0]).is_err()
    {
        return 125;
    }
    let mut started = Command::new(program);
    started.args(arguments).envs(variables.iter().cloned());
    if let Some(Background { output, .. }) = background {
        let [Ok(out), Ok(err)] = [output.try_clone(), output.try_clone()] else {
            return 70;
        };
        started.stdin(Stdio::null()).stdout(out).stderr(err);
        // Ctrl-C in the terminal is for the command, and not for its peer.
        started.process_group(0);
    }
    let error = started.exec();
    let reason = format!("{}: {error}", program.to_string_lossy());
    match background {
        Some(background) => {
            if let Some(mut refusal) = background.refusal.as_ref() {
                let _ = refusal.write_all(reason.as_bytes());
            }
        }
        None => eprintln!("error: {reason}"),
    }
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
    fn a_socket_that_waits_is_told_from_one_that_is_connected() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                    0: 00000000:0050 00000000:0000 0A 00000000:00000000\n   \
                    1: 020200C0:01BB 016433C6:9C40 01 00000000:00000000\n";
        assert!(waits_at(text, "tcp", 80));
        assert!(!waits_at(text, "tcp", 443));
        assert!(!waits_at(text, "tcp", 8080));
        assert!(!waits_at(text, "udp", 80));
        assert!(waits_at(&text.replace(" 0A ", " 07 "), "udp", 80));
        assert!(!waits_at("", "tcp", 80));
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
