//! Devices that are pairs of sockets, packets to send through them, and an emulator between two of them.

use super::super::super_packet::Offload;
use super::super::*;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::thread;

fn device() -> (Port, UnixDatagram) {
    let (inside, outside) = UnixDatagram::pair().expect("a pair of sockets");
    inside.set_nonblocking(true).expect("an option");
    let port = Port {
        device: File::from(OwnedFd::from(inside)),
        side: Side::Left,
        addresses: Vec::new(),
    };
    (port, outside)
}

/// An IPv4 packet of `size` bytes with a number, from the left to the right or back, after an offload header that asks
/// for nothing.
pub(super) fn packet(side: Side, size: usize, number: u32) -> Vec<u8> {
    let mut packet = vec![0; size];
    packet[0] = 0x45;
    packet[9] = 17;
    let (left, right) = ([192, 0, 2, 1], [198, 51, 100, 1]);
    let (source, destination) = match side {
        Side::Left => (left, right),
        Side::Right => (right, left),
    };
    packet[12..16].copy_from_slice(&source);
    packet[16..20].copy_from_slice(&destination);
    packet[24..28].copy_from_slice(&number.to_be_bytes());
    [&Offload::default().write()[..], &packet].concat()
}

/// Stops the emulator when its owner ends, by a panic too: a test that fails does not hang.
struct StopAtEnd(UnixDatagram);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        // An emulator that has failed does not listen.
        let _ = self.0.send(b"end");
    }
}

/// Runs an emulator over two pairs of sockets, while `traffic` sends and receives outside.
pub(super) fn run_with<T: Send + 'static>(
    links: [&LinkConfig; 2],
    traffic: impl FnOnce(&UnixDatagram, &UnixDatagram) -> T + Send + 'static,
) -> (Emulator, T) {
    let (left, outer_left) = device();
    let (right, outer_right) = device();
    let ports = vec![
        Port {
            addresses: vec![IpAddr::from([192, 0, 2, 1])],
            ..left
        },
        Port {
            side: Side::Right,
            addresses: vec![IpAddr::from([198, 51, 100, 1])],
            ..right
        },
    ];
    let setup = Setup {
        links,
        seeds: [1, 2],
        bound: Duration::from_millis(1),
        flows: 0..0,
        of_programs: 0,
        sample: None,
    };
    let mut emulator = Emulator::new(Clock::start(), &setup, ports).expect("an emulator");
    let (stop, stopped) = UnixDatagram::pair().expect("a pair of sockets");
    emulator.also_wait_for(&stopped, 7).expect("to wait");
    let stop = StopAtEnd(stop);
    let worker = thread::spawn(move || {
        let _stop = stop;
        traffic(&outer_left, &outer_right)
    });
    let end = emulator.run(|number| Ok(ControlFlow::Break(number)));
    assert_eq!(end.expect("no error"), 7);
    (emulator, worker.join().expect("no panic"))
}
