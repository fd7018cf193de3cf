//! A token-bucket policer: what comes faster than its rate, beyond a burst, is dropped at once.
//!
//! Tokens are bytes that may pass. They fill the bucket at the rate, up to the burst, and it is full at the
//! start. A packet that finds fewer tokens than its size is dropped and takes none. It stands before the queue.
//!
//! # Units
//! Tokens are counted in nanobits (bit/s times ns), so that none is lost to rounding.

use crate::serialisation::NANOBITS_PER_BYTE;
use thalweg_units::{Bytes, Instant, Rate};

/// What a policer lets pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicerConfig {
    /// In the long run.
    pub rate: Rate,
    /// At once.
    pub burst: Bytes,
}

#[derive(Debug)]
pub(crate) struct Policer {
    rate: u128,
    full: u128,
    tokens: u128,
    filled: Instant,
}

impl Policer {
    pub(crate) fn new(config: PolicerConfig) -> Self {
        let full = nanobits(config.burst);
        Policer {
            rate: u128::from(config.rate.as_bits_per_sec()),
            full,
            tokens: full,
            filled: Instant::START,
        }
    }

    /// Whether a packet that comes at `now` passes; if so, it is paid for.
    pub(crate) fn lets_pass(&mut self, now: Instant, size: Bytes) -> bool {
        let gained = self.rate * u128::from((now - self.filled).as_nanos());
        self.tokens = self.full.min(self.tokens + gained);
        self.filled = self.filled.max(now);
        let passes = self.tokens >= nanobits(size);
        if passes {
            self.tokens -= nanobits(size);
        }
        passes
    }
}

fn nanobits(size: Bytes) -> u128 {
    u128::from(size.as_u64()) * u128::from(NANOBITS_PER_BYTE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Duration;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut policer = Policer::new(PolicerConfig {
            rate: Rate::from_bits_per_sec(8_000_000),
            burst: Bytes::new(10_000),
        });
        let mut passed = Vec::new();
        // Packets of 1000 bytes, four each millisecond; one millisecond is worth 1000 bytes.
        for at in 0..10 {
            let now = Instant::START + Duration::from_millis(at);
            passed.push(
                (0..4)
                    .filter(|_| policer.lets_pass(now, Bytes::new(1000)))
                    .count(),
            );
        }
        // The bucket falls by three packets a millisecond: 10, 7, 4, then 1 + what is left.
        assert_eq!(passed, [4, 4, 4, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn the_bucket_never_holds_more_than_the_burst() {
        let mut policer = Policer::new(PolicerConfig {
            rate: Rate::from_bits_per_sec(8_000_000),
            burst: Bytes::new(2_000),
        });
        let late = Instant::START + Duration::from_secs(100);
        let passed = (0..5).filter(|_| policer.lets_pass(late, Bytes::new(1000)));
        assert_eq!(passed.count(), 2);
    }
}
