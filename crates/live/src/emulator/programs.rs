//! Which connection of which program a packet belongs to. Programs choose ports and protocols themselves, so the hosts
//! tell: program 0 has the second host of each side, program 1 the third. Its connections, in each direction, are
//! numbered as they appear, so that queues tell them apart as they tell the connections of other flows.
//!
//! # Limits
//! Queues tell 64 connections and directions of a program apart; further ones share their numbers.

use super::headers::Headers;

/// Numbers of a program.
pub(crate) const CONNECTIONS: usize = 64;

/// The programs of a trial.
#[derive(Debug)]
pub(crate) struct Programs {
    /// Hosts of a side.
    hosts: usize,
    /// The first number of the first program.
    first: usize,
    /// Hashes of the connections of each program, in the order of their first packets.
    known: Vec<Vec<u64>>,
}

impl Programs {
    /// `count` programs, the first of which has the numbers from `first` on.
    pub(crate) fn new(count: usize, first: usize) -> Programs {
        Programs {
            hosts: count + 1,
            first,
            known: vec![Vec::new(); count],
        }
    }

    /// The number of the connection of a packet that the host at this device has sent; `None` if it is of no program.
    pub(super) fn number(&mut self, device: usize, headers: &Headers) -> Option<u64> {
        let program = (device % self.hosts).checked_sub(1)?;
        let hash = headers.hash();
        let known = &mut self.known[program];
        let number = match known.iter().position(|one| *one == hash) {
            Some(number) => number,
            None if known.len() < CONNECTIONS => {
                known.push(hash);
                known.len() - 1
            }
            None => (hash % CONNECTIONS as u64) as usize,
        };
        Some((self.first + program * CONNECTIONS + number) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super_packet::{Offload, SuperPacket};
    use super::*;
    use thalweg_path::Packet;

    /// A TCP segment of 192.0.2.2 with 40 bytes of headers and 100 of data.
    fn packet(port: u16) -> SuperPacket {
        let mut bytes = Offload::default().write().to_vec();
        bytes.extend([0x45, 0, 0, 140, 0, 7, 0, 0, 64, 6, 0, 0]);
        bytes.extend([192, 0, 2, 2, 198, 51, 100, 2]);
        bytes.extend(port.to_be_bytes());
        bytes.extend([0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0; 100]);
        SuperPacket::read(bytes.into()).expect("a packet")
    }

    #[test]
    fn connections_of_a_program_are_numbered_by_its_hosts_as_they_appear() {
        // Two programs after 5 planned connections: hosts 0 to 2 are on the left, 3 to 5 on the right.
        let mut programs = Programs::new(2, 5);
        let mut number = |device, port| programs.number(device, &packet(port).headers);
        assert_eq!(number(0, 1000), None, "the first host is of no program");
        assert_eq!(number(3, 1000), None);
        assert_eq!(number(1, 1000), Some(5));
        assert_eq!(number(1, 1001), Some(6));
        assert_eq!(number(1, 1000), Some(5));
        let second = 5 + CONNECTIONS as u64;
        assert_eq!(number(2, 1000), Some(second));
        assert_eq!(number(5, 1001), Some(second + 1), "its other host");
        // More than there are numbers for share the numbers of the program.
        for port in 2000..2200 {
            let shared = number(1, port).expect("a number");
            assert!((5..second).contains(&shared), "{shared}");
        }
        assert_eq!(number(1, 1001), Some(6));
    }

    #[test]
    fn payload_is_what_stands_above_the_transport() {
        let packet = packet(1000);
        assert_eq!((packet.length_of(0), packet.payload_of(0)), (140, 100));
        let frame = super::super::frame::Frame::all_of(packet, 7, 0, 0).next();
        let frame = frame.expect("one");
        assert_eq!(
            (frame.size().as_u64(), frame.payload().as_u64()),
            (140, 100)
        );
        let (mut head, mut room) = (Vec::new(), vec![1, 2]);
        frame.copy_to(24, &mut head, &mut room);
        assert_eq!(room.len(), 2 + 24);
        assert_eq!(room[2..6], [0x45, 0, 0, 140]);
    }
}
