//! The rate from losses (draft-ietf-rmcat-gcc-02 section 6).

use crate::realtime::Rates;
use thalweg_units::{Duration, Instant};

/// Shares of losses above which the rate falls, and below which it grows.
const MANY: f64 = 0.1;
const FEW: f64 = 0.02;
/// Growth, and what is added before, in bits per second.
const GROWTH: f64 = 1.05;
const STEP: f64 = 1_000.0;
/// What a response takes longer than a round trip (GCC draft section 5.5).
const RESPONSE: Duration = Duration::from_millis(100);

/// The controller of losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossBased {
    rates: Rates,
    /// As_hat, in bits per second.
    rate: f64,
    arrived: u64,
    lost: u64,
    judged: Instant,
}

impl LossBased {
    pub(super) fn new(rates: Rates, now: Instant) -> Self {
        LossBased {
            rates,
            rate: rates.start.as_bits_per_sec() as f64,
            arrived: 0,
            lost: 0,
            judged: now,
        }
    }

    /// As_hat.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn reduce_to(&mut self, rate: f64) {
        self.rate = self.rates.limit(self.rate.min(rate));
    }

    pub(super) fn on_arrivals(&mut self, packets: u64) {
        self.arrived += packets;
    }

    pub(super) fn on_lost(&mut self) {
        self.lost += 1;
    }

    /// Judges the losses once in a response time.
    pub(super) fn update(&mut self, rtt: Duration, now: Instant) {
        let packets = self.arrived + self.lost;
        if packets == 0 || now - self.judged < rtt + RESPONSE {
            return;
        }
        self.judged = now;
        let loss = self.lost as f64 / packets as f64;
        (self.arrived, self.lost) = (0, 0);
        self.rate = self.rates.limit(if loss > MANY {
            self.rate * (1.0 - 0.5 * loss)
        } else if loss < FEW {
            GROWTH * (self.rate + STEP)
        } else {
            self.rate
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    #[test]
    fn many_losses_reduce_the_rate_few_let_it_grow_and_others_leave_it() {
        let rates = Rates {
            min: Rate::from_bits_per_sec(100_000),
            max: Rate::from_bits_per_sec(1_000_000),
            start: Rate::from_bits_per_sec(100_000),
            besides: Rate::ZERO,
        };
        for (lost, expected) in [
            (0, 1.05 * 501_000.0),
            (1, 1.05 * 501_000.0),
            (5, 500_000.0),
            (20, 450_000.0),
        ] {
            let mut loss = LossBased::new(rates, Instant::START);
            loss.rate = 500_000.0;
            loss.on_arrivals(100 - lost);
            (0..lost).for_each(|_| loss.on_lost());
            let rtt = Duration::from_millis(100);
            loss.update(rtt, Instant::START + Duration::from_millis(199));
            assert_eq!(loss.rate(), 500_000.0, "too early");
            loss.update(rtt, Instant::START + Duration::from_millis(200));
            assert!(
                (loss.rate() - expected).abs() < 1.0,
                "{lost}: {}",
                loss.rate()
            );
        }
    }
}
