//! Packets for the tests of queue disciplines and policers.

use crate::{Link, Packet};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

#[derive(Clone, Debug)]
pub(crate) struct Probe {
    pub(crate) number: u64,
    pub(crate) size: u64,
    pub(crate) flow: u64,
    pub(crate) ecn: Ecn,
}
impl Packet for Probe {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
pub(crate) fn at(n: u64) -> Instant {
    Instant::START + ms(n)
}

/// Pushes packets of 1000 bytes, numbered on from those that the link has been offered.
pub(crate) fn send(link: &mut Link<Probe>, now: Instant, flow: u64, ecn: Ecn, count: u64) {
    for _ in 0..count {
        let number = link.stats().offered.packets;
        link.push(
            now,
            Probe {
                number,
                size: 1000,
                flow,
                ecn,
            },
        );
    }
}

/// Everything that arrives, with the time of its arrival.
pub(crate) fn drain(link: &mut Link<Probe>) -> Vec<(Probe, Instant)> {
    let mut all = Vec::new();
    while let Some(now) = link.next() {
        if let Some(probe) = link.pop(now) {
            all.push((probe, now));
        }
    }
    all
}
