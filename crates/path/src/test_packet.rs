//! The packet of tests, fuzz targets and benchmarks.

use crate::{Link, Packet};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// A packet that remembers when it was sent, and carries as much in memory as a benchmark needs.
#[derive(Clone, Debug, Default)]
pub struct TestPacket<P = ()> {
    /// Its packet number.
    pub number: u64,
    /// Its size on the link in bytes.
    pub size: u64,
    /// Its flow.
    pub flow: u64,
    /// Its codepoint.
    pub ecn: Ecn,
    /// When it was sent; no link looks at it.
    pub sent: Instant,
    /// What it carries; no link looks at it.
    pub payload: P,
}

impl TestPacket {
    /// A packet of flow 0, not ECN-capable, sent at the start.
    pub fn new(number: u64, size: u64) -> Self {
        TestPacket {
            number,
            size,
            ..TestPacket::default()
        }
    }

    /// The same packet of another flow: three flows in a row have each a codepoint of their own.
    pub fn of_flow(self, flow: u64) -> Self {
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][(flow % 3) as usize];
        TestPacket { flow, ecn, ..self }
    }
}

impl<P> Packet for TestPacket<P> {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        assert!(
            ecn != Ecn::Ce || self.ecn.is_capable(),
            "a link marks CE only what is ECN-capable, and clears the rest"
        );
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn number(&self) -> u64 {
        self.number
    }
}

/// A span of `n` milliseconds.
pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
/// The time `n` milliseconds after the start.
pub fn at(n: u64) -> Instant {
    Instant::START + ms(n)
}

/// Pushes packets of 1000 bytes, numbered on from those that the link has been offered.
pub fn send(link: &mut Link<TestPacket>, now: Instant, flow: u64, ecn: Ecn, count: u64) {
    for _ in 0..count {
        let number = link.stats().offered.packets;
        let packet = TestPacket {
            flow,
            ecn,
            ..TestPacket::new(number, 1000)
        };
        link.push(now, packet);
    }
}

/// Everything that arrives, with the time of its arrival.
pub fn drain(link: &mut Link<TestPacket>) -> Vec<(TestPacket, Instant)> {
    let mut all = Vec::new();
    while let Some(now) = link.next() {
        if let Some(packet) = link.pop(now) {
            all.push((packet, now));
        }
    }
    all
}
