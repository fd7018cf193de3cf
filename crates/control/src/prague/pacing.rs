//! Pacing: a window each smoothed RTT, twice that in slow start.
//!
//! Prague draft section 2.5, for the requirement of RFC 9331 section 4.3 to avoid bursts, which a
//! queue of a millisecond would mark. Slow start needs twice the rate, as it sends two packets for each
//! that is acknowledged, until half of a known threshold is reached. Bursts last 250 microseconds at
//! most, but may hold two packets, so that a sender with a coarse timer keeps up.
//!
//! # Windows below two packets
//! A transport cannot have less than a packet in flight, nor detect losses by ACKs with less than two. So
//! its window stays at two packets, and only the pacing rate has the fraction: half a
//! packet is a packet every other round trip (RFC 9331 section 4.3, on small RTTs).

use thalweg_units::{Bytes, Duration, Rate};

/// Longest burst.
const BURST: Duration = Duration::from_micros(250);
/// Packets that may leave in one burst whatever the rate.
const BURST_PACKETS: u64 = 2;

/// Pacing rate for a window and a slow start threshold in bytes; never zero.
pub(super) fn rate(window: f64, ssthresh: f64, smoothed_rtt: Duration) -> Rate {
    let rate = Rate::over(Bytes::new(window as u64), smoothed_rtt);
    let factor = if window < ssthresh / 2.0 { 2 } else { 1 };
    rate.mul_div(factor, 1).max(Rate::from_bits_per_sec(1))
}

/// The largest burst at that rate.
pub(super) fn quantum(rate: Option<Rate>, mtu: Bytes) -> Bytes {
    rate.map_or(Bytes::ZERO, |rate| rate.bytes_in(BURST))
        .max(mtu * BURST_PACKETS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(20);

    #[test]
    fn a_window_leaves_in_a_round_trip_and_in_half_of_one_in_slow_start() {
        // 50 000 bytes in 20 ms = 2.5 MB/s
        let steady = rate(50_000.0, 50_000.0, RTT);
        assert_eq!(steady, Rate::from_bytes_per_sec(2_500_000));
        let starting = rate(50_000.0, f64::INFINITY, RTT);
        assert_eq!(starting, Rate::from_bytes_per_sec(5_000_000));
        let approaching = rate(50_000.0, 100_000.0, RTT);
        assert_eq!(approaching, steady, "from half the threshold on");
    }

    #[test]
    fn half_a_packet_leaves_in_a_round_trip_when_the_window_is_half_a_packet() {
        // 500 bytes in 20 ms = 25 kB/s, so a packet of 1000 bytes every 40 ms
        let rate = rate(500.0, 500.0, RTT);
        assert_eq!(rate.time_for(Bytes::new(1_000)), RTT * 2);
    }

    #[test]
    fn bursts_last_a_quarter_of_a_millisecond_or_hold_two_packets() {
        let mtu = Bytes::new(1_000);
        // 1 Gb/s * 250 us = 31 250 bytes; 10 Mb/s * 250 us = 312 bytes
        let burst = |mbps: u64| quantum(Some(Rate::from_bits_per_sec(mbps * 1_000_000)), mtu);
        assert_eq!(burst(1_000), Bytes::new(31_250));
        assert_eq!(burst(10), mtu * 2);
        assert_eq!(quantum(None, mtu), mtu * 2);
    }

    #[test]
    fn the_rate_is_never_zero() {
        assert!(!rate(62.5, 62.5, Duration::MAX).is_zero());
        assert!(!rate(62.5, 62.5, Duration::ZERO).is_zero());
    }
}
