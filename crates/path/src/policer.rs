//! A token-bucket policer before the queue: drops or marks packets beyond a rate and a burst.
//!
//! # Model
//! The bucket holds `burst` bytes at the start and gains tokens at `rate`, up to `burst`. A packet that
//! finds tokens for its whole size consumes them and conforms; any other consumes none (the single-rate meter
//! of RFC 2697 section 3, with one bucket). There is no queue in a policer: it shapes nothing.
//!
//! Tokens are counted in nanobits, so no fraction of a byte is lost between packets.

use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use crate::transmission_time::NANOBITS_PER_BYTE;
use thalweg_units::{Bytes, Instant, Rate};

/// A token-bucket policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicerConfig {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// The most tokens there can be. A packet larger than this never conforms.
    pub burst: Bytes,
    /// Whether ECN-capable packets that do not conform are marked CE and let through, instead of dropped.
    pub mark: bool,
}

/// The bucket.
#[derive(Debug)]
pub(crate) struct Policer {
    config: PolicerConfig,
    /// Nanobits that may pass at `since`.
    tokens: u128,
    since: Instant,
}

impl Policer {
    pub(crate) fn new(config: PolicerConfig) -> Self {
        Policer {
            config,
            tokens: work(config.burst),
            since: Instant::START,
        }
    }

    /// The packet on its way to the queue, marked or not; none if it is dropped.
    #[inline(never)]
    pub(crate) fn pass(&mut self, mut packet: Queued, port: &mut Port) -> Option<Queued> {
        let span = u128::from((port.now() - self.since).as_nanos());
        let gained = span * u128::from(self.config.rate.as_bits_per_sec());
        self.tokens = (self.tokens + gained).min(work(self.config.burst));
        self.since = port.now();
        if let Some(left) = self.tokens.checked_sub(work(packet.size)) {
            self.tokens = left;
        } else if self.config.mark && packet.ecn.is_capable() {
            port.mark(&mut packet);
        } else {
            port.drop(packet, DropCause::Policed);
            return None;
        }
        Some(packet)
    }
}

fn work(size: Bytes) -> u128 {
    u128::from(size.as_u64()) * u128::from(NANOBITS_PER_BYTE)
}

#[cfg(test)]
mod tests {
    use crate::test_packet::{TestPacket, at, drain, ms, send};
    use crate::{DropCause, Link, LinkConfig, PolicerConfig};
    use thalweg_units::{Bytes, Duration, Ecn, Rate};

    /// A link of 80 Mbps behind a policer of 8 Mbps, 1000 bytes per millisecond, and 3000 bytes.
    fn link(mark: bool) -> Link<TestPacket> {
        let mut config = LinkConfig::new(Rate::from_bits_per_sec(80_000_000), Duration::ZERO);
        config.policer = Some(PolicerConfig {
            rate: Rate::from_bits_per_sec(8_000_000),
            burst: Bytes::new(3000),
            mark,
        });
        Link::new(&config, 1, 1)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut link = link(false);
        link.record_drops(true);
        // 3000 bytes at once; then one packet per millisecond.
        send(&mut link, at(0), 0, Ecn::Ect0, 5);
        send(&mut link, at(1), 0, Ecn::Ect0, 2);
        // Ten milliseconds fill the bucket, and no more than that.
        send(&mut link, at(20), 0, Ecn::Ect0, 5);
        let passed: Vec<_> = drain(&mut link)
            .iter()
            .map(|(packet, _)| packet.number)
            .collect();
        assert_eq!(passed, [0, 1, 2, 5, 7, 8, 9]);
        let drops = link.take_drops();
        assert_eq!(drops.len(), 5);
        assert!(drops.iter().all(|drop| drop.cause == DropCause::Policed));
        assert_eq!(link.stats().dropped.packets, 5);
    }

    #[test]
    fn a_long_excess_passes_at_the_rate_to_the_byte() {
        let mut link = link(false);
        for step in 0..1000 {
            // Three times the rate, in odd sizes and at odd times.
            link.push(
                at(0) + Duration::from_nanos(step * 333_331),
                TestPacket::new(step, 997),
            );
        }
        drain(&mut link);
        // Until the last packet: 3000 + 999 * 333 331 ns * 1 byte/us = 335 997 bytes.
        let passed = link.stats().delivered.bytes.as_u64();
        assert!((335_000..=335_997).contains(&passed), "{passed}");
    }

    #[test]
    fn excess_is_marked_if_asked_for_and_possible() {
        let mut link = link(true);
        send(&mut link, at(0), 0, Ecn::Ect1, 4);
        send(&mut link, at(0), 0, Ecn::NotEct, 1);
        // Marked packets take no tokens: a millisecond later one packet conforms.
        send(&mut link, at(0) + ms(1), 0, Ecn::Ect0, 1);
        let seen: Vec<_> = drain(&mut link)
            .iter()
            .map(|(packet, _)| packet.ecn)
            .collect();
        assert_eq!(seen, [Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::Ce, Ecn::Ect0]);
        assert_eq!(
            (link.stats().marked.packets, link.stats().dropped.packets),
            (1, 1)
        );
    }
}
