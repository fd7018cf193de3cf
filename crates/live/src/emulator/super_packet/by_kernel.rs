//! What the kernel makes of what the emulator writes: a router whose second interface has no offload, so that the kernel
//! cuts every super packet and finishes every checksum itself. Without root it is skipped.

use super::long_way::{Made, segmented};
use super::tests::{fates, made};
use super::*;
use crate::emulator::Side;
use crate::host::Host;
use crate::sys::interface::Interface;
use crate::sys::{namespace, tun};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fs::{self, File};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::time::Duration;

/// The interface that packets enter by; they leave by the interface of the host, its default route.
const ENTRY: &str = "entry";

struct Router {
    entry: File,
    exit: File,
    _host: Host,
}

impl Router {
    /// A router in a namespace of its own, which the calling thread enters.
    fn new() -> Router {
        let (host, port) = Host::new(Side::Right, 200, None).expect("a host");
        let entry = tun::open(ENTRY).expect("a device");
        let interface = Interface::named(ENTRY).expect("a socket");
        interface.up().expect("an interface");
        for (key, value) in [
            ("ipv4/ip_forward", "1"),
            ("ipv4/conf/all/rp_filter", "0"),
            ("ipv4/conf/entry/rp_filter", "0"),
            ("ipv6/conf/all/forwarding", "1"),
        ] {
            fs::write(format!("/proc/sys/net/{key}"), value).expect("a setting");
        }
        Router {
            entry,
            exit: port.device,
            _host: host,
        }
    }

    /// The next `count` packets that leave for the network of the right hosts.
    fn leaving(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut room = vec![0; MOST];
        let mut packets = Vec::new();
        for _ in 0..200 {
            match self.exit.read(&mut room) {
                Ok(length) => {
                    let [offload, packet] =
                        [&room[..Offload::LENGTH], &room[Offload::LENGTH..length]];
                    assert_eq!(offload[1], 0, "it is cut");
                    let destination = Headers::read(packet).expect("headers").destination;
                    if !destination.is_multicast() {
                        packets.push(packet.to_vec());
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && packets.len() < count => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(_) => break,
            }
        }
        packets
    }
}

/// A packet after one more hop.
fn forwarded(mut packet: Vec<u8>) -> Vec<u8> {
    match packet[0] >> 4 {
        4 => {
            packet[8] -= 1;
            let length = 4 * usize::from(packet[0] & 0xf);
            packet[10..12].fill(0);
            let sum = fold(sum(&packet[..length]));
            packet[10..12].copy_from_slice(&(!sum).to_be_bytes());
        }
        _ => packet[7] -= 1,
    }
    packet
}

/// A packet whose TCP checksum of zero is 0: the kernel may write the other zero of ones' complement, 0xffff
/// (RFC 1071), which differs only in UDP.
fn with_one_zero(mut packet: Vec<u8>, headers: &Headers) -> Vec<u8> {
    const TCP: u8 = 6;
    let checksum = headers.transport + 16..headers.transport + 18;
    if headers.protocol == TCP && packet[checksum.clone()] == [0xff; 2] {
        packet[checksum].fill(0);
    }
    packet
}

fn route(router: &mut Router, made: Made, fates: &[Option<Ecn>], splits: u32) {
    let made = Made {
        // From hosts other than the router, in packets of at most 1500 bytes; whole extension headers.
        hosts: [9, 7],
        segment: made.segment.min(1300),
        ip_options: made.ip_options.min(1),
        ..made
    };
    let read = made.bytes();
    let long = segmented(&read);
    let packet = SuperPacket::read(Bytes::from(read)).expect("a packet");
    let mut head = Vec::new();
    let mut from = 0;
    while from < long.len() {
        let fate = fates[from % fates.len()];
        let ends = |at: &usize| splits >> (at % 32) & 1 == 1;
        let until = (from + 1..long.len()).find(ends).unwrap_or(long.len());
        if let Some(ecn) = fate {
            let rest = packet.run(from..until, ecn, &mut head);
            let parts = [IoSlice::new(&head), IoSlice::new(rest)];
            let written = router.entry.write_vectored(&parts).expect("to write");
            assert_eq!(written, head.len() + rest.len());
            let expected: Vec<Vec<u8>> = (long[from..until].iter().cloned())
                .map(|mut segment| {
                    write_ecn(&mut segment, ecn);
                    forwarded(segment)
                })
                .collect();
            let left = router.leaving(expected.len());
            assert_eq!(left.len(), expected.len(), "{:?}", packet.headers);
            for (segment, wanted) in left.into_iter().zip(expected) {
                let one_zero = |segment| with_one_zero(segment, &packet.headers);
                let (segment, wanted) = (one_zero(segment), one_zero(wanted));
                assert_eq!(segment, wanted, "{:?}", packet.headers);
            }
        }
        from = until;
    }
}

#[test]
fn the_kernel_cuts_what_is_left_of_a_super_packet_as_it_would_have_cut_all_of_it() {
    if !namespace::is_root() || !fs::exists("/dev/net/tun").unwrap_or(false) {
        eprintln!("skipped: a network namespace with devices needs root and /dev/net/tun");
        return;
    }
    // In a thread of its own, which stays in the namespace.
    let tested = std::thread::spawn(|| {
        let mut router = Router::new();
        let mut runner = TestRunner::new(ProptestConfig {
            cases: 200,
            max_shrink_iters: 200,
            ..ProptestConfig::default()
        });
        let router = std::cell::RefCell::new(&mut router);
        let cases = (made(), fates(), any::<u32>());
        runner.run(&cases, |(made, fates, splits)| {
            route(&mut router.borrow_mut(), made, &fates, splits);
            Ok(())
        })
    });
    tested.join().expect("no panic").expect("all cases");
}
