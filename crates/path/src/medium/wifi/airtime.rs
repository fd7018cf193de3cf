//! How long frames and acknowledgements take.

use super::config::{Timing, WifiConfig};
use thalweg_units::{Bytes, Duration, Rate};

const NANOS: u64 = 1_000_000_000;
/// An acknowledgement, and one of an aggregate (IEEE 802.11-2020, 9.3.1.4 and 9.3.1.8), in bytes.
const ACK: u64 = 14;
const BLOCK_ACK: u64 = 32;

/// The arithmetic of airtime.
#[derive(Clone, Debug)]
pub(super) struct Airtime {
    pub(super) timing: Timing,
    /// How long a sender waits for an acknowledgement: the short space, a slot, and the start of a frame (10.3.2.11).
    pub(super) timeout: Duration,
    /// How much longer the space after a frame is that cannot be read: by the short space and an acknowledgement at the
    /// lowest rate (EIFS, 10.3.2.3.7).
    pub(super) extension: Duration,
    /// Up to which airtime an access takes further packets.
    limit: Duration,
    fallback: Option<u32>,
}

impl Airtime {
    pub(super) fn new(config: &WifiConfig) -> Self {
        let timing = config.phy.timing();
        let lowest = Rate::from_bits_per_sec(timing.basic[0]);
        Airtime {
            timeout: timing.sifs + timing.slot + timing.start,
            extension: acknowledgement(&timing, false, lowest),
            timing,
            limit: config.airtime,
            fallback: config.fallback,
        }
    }

    /// Bits in the air of a packet: on the link it has `size`.
    pub(super) fn bits(&self, size: Bytes) -> u64 {
        const DELIMITER: u64 = 4;
        let frame = size.as_u64() + self.timing.header;
        let frame = match self.timing.aggregates {
            true => DELIMITER + frame.next_multiple_of(4),
            false => frame,
        };
        frame.saturating_mul(8)
    }

    /// How long a frame with so many bits of packets takes.
    pub(super) fn frame(&self, bits: u64, rate: Rate) -> Duration {
        let symbols = symbols(
            bits.saturating_add(self.timing.service),
            rate,
            self.timing.symbol,
        );
        self.timing.preamble + self.timing.symbol * symbols
    }

    /// From how many bits on an access takes no other packet.
    pub(super) fn room(&self, rate: Rate) -> u64 {
        let payload = self.limit - self.timing.preamble;
        let bits = u128::from(payload.as_nanos()) * u128::from(rate.as_bits_per_sec());
        u64::try_from(bits / u128::from(NANOS)).unwrap_or(u64::MAX)
    }

    /// The rate of a frame that has failed so often.
    pub(super) fn rate(&self, link: Rate, failures: u32) -> Rate {
        let halvings = self.fallback.map_or(0, |after| failures / after);
        let lowest = self.timing.basic[0].min(link.as_bits_per_sec());
        let halved = link.as_bits_per_sec().checked_shr(halvings).unwrap_or(0);
        Rate::from_bits_per_sec(halved.max(lowest))
    }

    /// The short space and the acknowledgement of a frame at `rate`: at the highest basic rate that is not above it (10.6.6.5.2).
    pub(super) fn acknowledgement(&self, is_aggregate: bool, rate: Rate) -> Duration {
        acknowledgement(&self.timing, is_aggregate, rate)
    }
}

fn acknowledgement(timing: &Timing, is_aggregate: bool, rate: Rate) -> Duration {
    let basic = timing.basic;
    let below = basic
        .iter()
        .rev()
        .find(|basic| **basic <= rate.as_bits_per_sec());
    let rate = Rate::from_bits_per_sec(*below.unwrap_or(&basic[0]));
    let bits = 8 * if is_aggregate { BLOCK_ACK } else { ACK } + timing.service;
    let symbol = timing.legacy_symbol;
    timing.sifs + timing.legacy + symbol * symbols(bits, rate, symbol)
}

/// How many symbols of this length carry so many bits; a rate of zero, which no frame has, counts as the lowest.
fn symbols(bits: u64, rate: Rate, symbol: Duration) -> u64 {
    let each = u128::from(rate.as_bits_per_sec().max(1)) * u128::from(symbol.as_nanos());
    let work = u128::from(bits) * u128::from(NANOS);
    u64::try_from(work.div_ceil(each)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::config::Phy;
    use super::*;

    fn airtime(phy: Phy) -> Airtime {
        Airtime::new(&WifiConfig::new(phy))
    }

    fn mbps(rate: u64) -> Rate {
        Rate::from_bits_per_sec(rate * 1_000_000)
    }

    fn micros(airtime: Duration) -> f64 {
        airtime.as_nanos() as f64 / 1000.0
    }

    #[test]
    fn frames_take_what_the_standard_computes() {
        let ofdm = airtime(Phy::A);
        // 1536 bytes and 22 bits are 12 310: 57 symbols of 216 bits.
        let bits = ofdm.bits(Bytes::new(1500));
        assert_eq!(bits, 8 * 1536);
        assert_eq!(micros(ofdm.frame(bits, mbps(54))), 20.0 + 57.0 * 4.0);
        // 134 bits: two symbols of 96 at 24 Mbps, six of 24 at 6 Mbps. A block acknowledgement has 278.
        assert_eq!(micros(ofdm.acknowledgement(false, mbps(54))), 16.0 + 28.0);
        assert_eq!(micros(ofdm.acknowledgement(false, mbps(9))), 16.0 + 44.0);
        assert_eq!(micros(ofdm.acknowledgement(true, mbps(24))), 16.0 + 32.0);
        // Table 17-21: slot and start of a frame; an acknowledgement at 6 Mbps.
        assert_eq!(micros(ofdm.timeout), 16.0 + 9.0 + 20.0);
        assert_eq!(micros(ofdm.extension), 16.0 + 44.0);
        assert_eq!(micros(airtime(Phy::G).timeout), 10.0 + 9.0 + 20.0);
        let dsss = airtime(Phy::B);
        // 12 288 bits at 11 Mbps take 1117.1 us.
        let bits = dsss.bits(Bytes::new(1500));
        assert_eq!(micros(dsss.frame(bits, mbps(11))), 192.0 + 1118.0);
        assert_eq!(
            micros(dsss.acknowledgement(false, mbps(1))),
            10.0 + 192.0 + 112.0
        );
        // 1540 bytes of header, packet and padding, and a delimiter.
        assert_eq!(airtime(Phy::Ac).bits(Bytes::new(1500)), 8 * 1544);
    }

    #[test]
    fn a_rate_falls_by_halves_and_not_below_the_lowest() {
        let mut config = WifiConfig::new(Phy::A);
        config.fallback = Some(2);
        let airtime = Airtime::new(&config);
        let rates = [0, 1, 2, 4, 6, 100].map(|failures| airtime.rate(mbps(48), failures));
        assert_eq!(rates, [48, 48, 24, 12, 6, 6].map(mbps));
        assert_eq!(airtime.rate(mbps(2), 100), mbps(2));
    }
}
