//! How much a host may hand to its device at once.
//!
//! # Model
//! A host that sends a super packet sends a burst that no interface would have sent, because an interface needs time
//! for each packet. So a super packet is no longer than what the link transmits in 0.1 ms at its least capacity: the
//! send quantum of a paced sender has the same purpose (RFC 9002 section 7.7), and timers of hosts are no finer. The
//! kernel and the QUIC stack both keep to it.
//!
//! # Limits
//! Two packets of 1500 bytes take 0.1 ms at 240 Mbps: slower links, and those whose capacity is a trace or has
//! noise, get single packets.

use super::frame::MTU;
use thalweg_path::LinkConfig;
use thalweg_units::{Bytes, Duration};

/// How long a link transmits a burst at most.
pub(super) const LONGEST: Duration = Duration::from_micros(100);

/// The most bytes of IP packets in a burst into this link; `None` if these are fewer than two packets.
pub(crate) fn largest(link: &LinkConfig) -> Option<Bytes> {
    if link.trace.is_some() || link.noise.is_some() {
        return None;
    }
    let changes = link.changes.iter().filter_map(|change| change.rate);
    // A suspended link transmits nothing of it, however long.
    let rates = changes.chain([link.rate]).filter(|rate| !rate.is_zero());
    let bytes = rates.min()?.bytes_in(LONGEST);
    let two = Bytes::new(2 * MTU as u64);
    let most = Bytes::new(u16::MAX.into());
    (bytes >= two).then(|| bytes.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_path::Change;
    use thalweg_units::Rate;

    fn at(mbps: u64) -> LinkConfig {
        LinkConfig::new(Rate::from_bits_per_sec(mbps * 1_000_000), Duration::ZERO)
    }

    #[test]
    fn a_burst_takes_a_tenth_of_a_millisecond_or_is_none() {
        // 1 Gbps x 0.1 ms = 12500 bytes. 240 Mbps x 0.1 ms = 3000 bytes, two packets.
        assert_eq!(largest(&at(1000)), Some(Bytes::new(12_500)));
        assert_eq!(largest(&at(240)), Some(Bytes::new(3000)));
        assert_eq!(largest(&at(239)), None);
        assert_eq!(largest(&at(0)), None);
        // An IP packet has at most 65535 bytes: 5.24 Gbps.
        assert_eq!(largest(&at(5000)), Some(Bytes::new(62_500)));
        assert_eq!(largest(&at(40_000)), Some(Bytes::new(65_535)));
    }

    #[test]
    fn the_least_capacity_counts_but_not_a_suspension() {
        let mut link = at(1000);
        let change = |mbps: u64| Change {
            at: Duration::from_secs(1),
            rate: Some(Rate::from_bits_per_sec(mbps * 1_000_000)),
            ..Change::default()
        };
        link.changes = vec![change(0), change(480)];
        assert_eq!(largest(&link), Some(Bytes::new(6000)));
        link.changes.push(change(20));
        assert_eq!(largest(&link), None);
    }
}
