//! What a packet costs the shaper and its flow: its bytes, and those that the link behind the shaper adds (`cake_calc_overhead`).
//!
//! Sizes are the sizes of IP packets, so `overhead` is as `tc-cake` counts it, on top of the network layer.

use crate::stats::Count;
use thalweg_units::{Bytes, Rate};

/// The cells or blocks that a link cuts its frames into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cells {
    /// None (`noatm`).
    #[default]
    None,
    /// Cells of 53 bytes, 48 of which carry a frame, the last one padded (`atm`).
    Atm,
    /// One byte more for each 64 bytes, or part of them (`ptm`).
    Ptm,
}

/// The frames of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes around each packet (`overhead`).
    pub overhead: Bytes,
    /// The least size of a frame, its overhead included (`mpu`).
    pub mpu: Bytes,
    /// What carries the frame.
    pub cells: Cells,
}

impl Framing {
    /// None: a packet costs its own bytes.
    pub const RAW: Framing = Framing {
        overhead: Bytes::ZERO,
        mpu: Bytes::ZERO,
        cells: Cells::None,
    };

    /// What a packet of this size costs.
    pub(super) fn cost(&self, size: Bytes) -> Bytes {
        let frame = (size + self.overhead).max(self.mpu).as_u64();
        Bytes::new(match self.cells {
            Cells::None => frame,
            Cells::Atm => frame.div_ceil(48) * 53,
            Cells::Ptm => frame + frame.div_ceil(64),
        })
    }

    /// The rate at which `waiting` packets leave a shaper of `rate`, if they are all of their mean size.
    pub(super) fn net(&self, rate: Rate, waiting: Count) -> Rate {
        if *self == Framing::RAW || waiting.packets == 0 {
            return rate;
        }
        let mean = waiting.bytes.as_u64() / waiting.packets;
        let cost = self.cost(Bytes::new(mean)).as_u64();
        rate.mul_div(mean, cost.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(overhead: u64, mpu: u64, cells: Cells) -> impl Fn(u64) -> u64 {
        let framing = Framing {
            overhead: Bytes::new(overhead),
            mpu: Bytes::new(mpu),
            cells,
        };
        move |size| framing.cost(Bytes::new(size)).as_u64()
    }

    #[test]
    fn the_presets_of_tc_cake_cost_what_their_links_add() {
        // `ethernet`: 14 of header, 4 of checksum, 8 of preamble, 12 of gap; no frame below 84 with them.
        let ethernet = costs(38, 84, Cells::None);
        assert_eq!([1500, 46, 40, 1].map(ethernet), [1538, 84, 84, 84]);
        // `docsis`.
        assert_eq!(
            [1500, 46, 40].map(costs(18, 64, Cells::None)),
            [1518, 64, 64]
        );
        // `pppoe-llcsnap`, the classic of ADSL: 1540 bytes are 32.08 cells, so 33 of 53 bytes.
        let adsl = costs(40, 0, Cells::Atm);
        assert_eq!([1500, 1496, 40, 8].map(adsl), [1749, 1696, 106, 53]);
        // `pppoe-ptm`, VDSL2: 1530 bytes have 23.9 blocks of 64.
        assert_eq!([1500, 34, 35].map(costs(30, 0, Cells::Ptm)), [1554, 65, 67]);
        assert_eq!([1500, 1].map(costs(0, 0, Cells::None)), [1500, 1]);
    }

    #[test]
    fn a_shaper_sends_less_than_its_rate_by_the_share_of_the_frames() {
        let adsl = Framing {
            overhead: Bytes::new(40),
            mpu: Bytes::ZERO,
            cells: Cells::Atm,
        };
        let waiting = |packets, size| Count {
            packets,
            bytes: Bytes::new(packets * size),
        };
        let rate = Rate::from_bits_per_sec(17_490_000);
        // 1500 of 1749 bytes.
        assert_eq!(
            adsl.net(rate, waiting(3, 1500)).as_bits_per_sec(),
            15_000_000
        );
        assert_eq!(adsl.net(rate, waiting(0, 0)), rate);
        assert_eq!(Framing::RAW.net(rate, waiting(3, 1500)), rate);
    }
}
