//! Which connection of which program a packet belongs to. Programs choose ports and protocols themselves, so the hosts
//! tell: program 0 has the second host of each side, program 1 the third. Its connections, in each direction, are
//! numbered as they appear, so that queues tell them apart as they tell those of other flows.
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
