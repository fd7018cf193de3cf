//! Bundles: packets of one flow that the transport hands to the network at once, to be split later (TSO, UDP GSO).
//!
//! The constants come from Linux (`net/ipv4/tcp_output.c` and Documentation/networking/ip-sysctl.rst).

use thalweg_control::{Control, PathState};
use thalweg_units::{Bytes, Duration, Rate};

/// The largest bundle: `GSO_LEGACY_MAX_SIZE`, as much as an IP packet holds.
pub const LARGEST_BUNDLE: Bytes = Bytes::new(65_536);
/// `sk_pacing_shift`: a bundle is what the pacing rate carries in 1/1024 s.
const PACING_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: half as much of the largest bundle is added with each 2^9 us of the minimum RTT.
const RTT_LOG: u32 = 9;
/// `tcp_min_tso_segs`.
const LEAST: u64 = 2;
/// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, percents of window over smoothed RTT.
const SLOW_START: u64 = 200;
const AVOIDANCE: u64 = 120;
/// `tcp_tso_win_divisor`: a third of the window leaves at once.
const WINDOW_DIVISOR: u64 = 3;
/// A bundle waits only so long after the last departure.
const RECENTLY: Duration = Duration::from_millis(1);

/// How many packets a host sends at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bundle {
    /// Each by itself.
    #[default]
    Single,
    /// So many.
    Packets(u32),
    /// So many bytes, at least a packet.
    Bytes(Bytes),
    /// As Linux does.
    Autosized,
}

impl Bundle {
    /// How many packets a bundle has by the decision of a controller, on its path.
    pub fn of(self, control: &Control, path: &PathState) -> u32 {
        let rate = sizing_rate(control, path.smoothed_rtt);
        // Nothing is known of a path without a sample.
        let min_rtt = match path.has_rtt() {
            true => path.min_rtt,
            false => Duration::ZERO,
        };
        self.packets(path.mtu, rate, min_rtt)
    }

    /// How many packets of `mtu` bytes a bundle has at a pacing rate, none for any, on a path with this minimum RTT.
    fn packets(self, mtu: Bytes, rate: Option<Rate>, min_rtt: Duration) -> u32 {
        let mtu = mtu.as_u64().max(1);
        let most = (LARGEST_BUNDLE.as_u64() / mtu).max(1);
        let packets = match self {
            Bundle::Single => 1,
            Bundle::Packets(packets) => u64::from(packets),
            Bundle::Bytes(bytes) => bytes.as_u64() / mtu,
            Bundle::Autosized => autosize(rate, min_rtt) / mtu,
        };
        let least = match self {
            Bundle::Autosized => LEAST.min(most),
            _ => 1,
        };
        packets.clamp(least, most) as u32
    }
}

/// `tcp_tso_autosize`, in bytes.
fn autosize(rate: Option<Rate>, min_rtt: Duration) -> u64 {
    let most = LARGEST_BUNDLE.as_u64();
    let of_rate = rate.map_or(most, |rate| (rate.as_bits_per_sec() / 8) >> PACING_SHIFT);
    let halvings = (min_rtt.as_nanos() / 1000) >> RTT_LOG;
    let of_rtt = match halvings {
        0..32 => most >> halvings,
        _ => 0,
    };
    of_rate.saturating_add(of_rtt)
}

/// The rate from which Linux takes the size of a bundle (`tcp_update_pacing_rate`), whether it paces or not: the rate of the
/// controller, or a multiple of window over smoothed RTT.
fn sizing_rate(control: &Control, smoothed_rtt: Duration) -> Option<Rate> {
    let percent = match control.startup_done {
        true => AVOIDANCE,
        false => SLOW_START,
    };
    control.pacing.or_else(|| {
        (!smoothed_rtt.is_zero())
            .then(|| Rate::over(control.window, smoothed_rtt).mul_div(percent, 100))
    })
}

/// What decides whether a bundle waits for more room in the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of a bundle, of the window, of what may be in flight in addition, and of what is to be sent.
    pub(crate) bundle: u64,
    pub(crate) window: u64,
    pub(crate) space: u64,
    pub(crate) data: u64,
    /// Since the last packet left, and since the oldest one in flight did.
    pub(crate) since_last: Duration,
    pub(crate) since_oldest: Duration,
    pub(crate) smoothed_rtt: Duration,
}

impl Room {
    /// `tcp_tso_should_defer`: an incomplete bundle waits for the acknowledgement that makes it complete, unless that is
    /// far or much of the window is free.
    pub(crate) fn is_too_small(&self) -> bool {
        self.space < self.bundle
            && self.space < self.data
            && self.space < self.window / WINDOW_DIVISOR
            && self.since_last <= RECENTLY
            && self.since_oldest >= self.smoothed_rtt / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1440);
    const FAR: Duration = Duration::from_millis(40);

    fn mbps(rate: u64) -> Option<Rate> {
        Some(Rate::from_bits_per_sec(rate * 1_000_000))
    }

    #[test]
    fn a_bundle_is_what_the_rate_carries_in_a_1024th_of_a_second_from_two_packets_to_64_kilobytes()
    {
        let packets = |rate| Bundle::Autosized.packets(MTU, rate, FAR);
        // 100 Mbps: 12.5 MB/s / 1024 = 12 207 bytes, 8 packets of 1440.
        assert_eq!(packets(mbps(100)), 8);
        // 10 Mbps: 1220 bytes, less than a packet: two.
        assert_eq!(packets(mbps(10)), 2);
        // 1 Gbps: 122 070 bytes, 65 536 at most: 45 packets. No rate is like an infinite one.
        assert_eq!((packets(mbps(1000)), packets(None)), (45, 45));
        // A packet of 60 kB is a bundle.
        assert_eq!(
            Bundle::Autosized.packets(Bytes::new(60_000), mbps(10), FAR),
            1
        );
    }

    #[test]
    fn near_hosts_send_larger_bundles_as_since_linux_5_18() {
        let packets =
            |micros| Bundle::Autosized.packets(MTU, mbps(10), Duration::from_micros(micros));
        // Below 512 us the whole 65 536 bytes come on top; 1024 us are two halvings: 16 384 + 1220 bytes, 12 packets.
        assert_eq!((packets(511), packets(1024)), (45, 12));
        // 8 ms are 15 halvings: 65 536 >> 15 is two bytes.
        assert_eq!(packets(8000), 2);
    }

    #[test]
    fn a_constant_bundle_has_its_packets_or_bytes_but_never_more_than_64_kilobytes() {
        let packets = |bundle: Bundle| bundle.packets(MTU, mbps(1000), FAR);
        assert_eq!(packets(Bundle::Single), 1);
        assert_eq!(packets(Bundle::Packets(7)), 7);
        assert_eq!(packets(Bundle::Packets(60)), 45);
        assert_eq!(packets(Bundle::Bytes(Bytes::new(10_000))), 6);
        assert_eq!(packets(Bundle::Bytes(Bytes::new(100))), 1);
    }

    #[test]
    fn the_size_follows_twice_the_rate_of_the_window_in_slow_start_and_six_fifths_of_it_later() {
        let mut control = Control {
            window: Bytes::new(100_000),
            pacing: None,
            quantum: Bytes::ZERO,
            startup_done: false,
        };
        let second = Duration::from_secs(1);
        let rate = |control: &Control| sizing_rate(control, second).map(Rate::as_bits_per_sec);
        assert_eq!(rate(&control), Some(1_600_000)); // 8 * 100 kB / 1 s * 2
        control.startup_done = true;
        assert_eq!(rate(&control), Some(960_000)); // * 1.2
        control.pacing = mbps(3);
        assert_eq!(rate(&control), Some(3_000_000));
        control.pacing = None;
        assert_eq!(sizing_rate(&control, Duration::ZERO), None);
    }

    #[test]
    fn an_incomplete_bundle_waits_for_an_acknowledgement_that_is_near_and_for_no_other() {
        let small = Room {
            bundle: 10_000,
            window: 60_000,
            space: 9_999,
            data: 1_000_000,
            since_last: Duration::from_millis(1),
            since_oldest: Duration::from_millis(20),
            smoothed_rtt: Duration::from_millis(40),
        };
        assert!(small.is_too_small());
        for enough in [
            Room {
                space: 10_000,
                ..small
            },
            Room {
                data: 9_999,
                ..small
            },
            Room {
                window: 29_997,
                ..small
            },
            Room {
                since_last: Duration::from_nanos(1_000_001),
                ..small
            },
            Room {
                since_oldest: Duration::from_nanos(19_999_999),
                ..small
            },
        ] {
            assert!(!enough.is_too_small(), "{enough:?}");
        }
    }
}
