//! The arrival-time filter: a Kalman filter of the change of the queue's delay (draft-ietf-rmcat-gcc-02 section 5.3).

use super::groups::Change;

/// q: variance of the state's noise (GCC draft section 5.6, as all of these).
const STATE_NOISE: f64 = 1e-3;
/// e(0): the first error.
const FIRST_ERROR: f64 = 0.1;
/// chi: the draft has 0.1 to 0.001.
const CHI: f64 = 0.01;
/// Groups of which the shortest time between departures counts: the K of section 5.3, which has no number there.
const RATE_OVER: usize = 60;

/// The estimate, in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// m(i).
    estimate: f64,
    /// e(i).
    error: f64,
    /// The variance of v.
    noise: f64,
    /// Times between departures, the last ones.
    departures: [f64; RATE_OVER],
    groups: usize,
}

impl Filter {
    pub(super) fn new() -> Self {
        Filter {
            estimate: 0.0,
            error: FIRST_ERROR,
            noise: 1.0,
            departures: [f64::INFINITY; RATE_OVER],
            groups: 0,
        }
    }

    /// m(i), in milliseconds a group.
    pub(super) fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Groups so far.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    pub(super) fn add(&mut self, change: &Change) {
        self.departures[self.groups % RATE_OVER] = change.departures.max(0.001);
        self.groups += 1;
        // f_max, in groups a millisecond
        let shortest = self
            .departures
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let most = 1.0 / shortest;
        let innovation = change.delay - self.estimate;
        // An outlier counts as three deviations (section 5.3).
        let bound = 3.0 * libm::sqrt(self.noise);
        let bounded = innovation.clamp(-bound, bound);
        let alpha = libm::pow(1.0 - CHI, 30.0 / (1_000.0 * most));
        self.noise = (alpha * self.noise + (1.0 - alpha) * bounded * bounded).max(1.0);
        let uncertain = self.error + STATE_NOISE;
        let gain = uncertain / (self.noise + uncertain);
        self.estimate += innovation * gain;
        self.error = (1.0 - gain) * uncertain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Instant;

    fn change(delay: f64) -> Change {
        Change {
            delay,
            departures: 30.0,
            arrived: Instant::START,
        }
    }

    #[test]
    fn the_estimate_comes_to_a_constant_change_and_back() {
        let mut filter = Filter::new();
        (0..200).for_each(|_| filter.add(&change(2.0)));
        assert!(
            (1.9..=2.0).contains(&filter.estimate()),
            "{}",
            filter.estimate()
        );
        (0..200).for_each(|_| filter.add(&change(0.0)));
        assert!(
            (0.0..=0.1).contains(&filter.estimate()),
            "{}",
            filter.estimate()
        );
    }

    #[test]
    fn the_first_step_is_that_of_the_formulas() {
        let mut filter = Filter::new();
        filter.add(&change(2.0));
        // z = 2; f_max = 1/30 a ms, alpha = 0.99^0.9, noise = max(alpha + (1 - alpha) * 4, 1)
        let alpha = libm::pow(0.99, 0.9);
        let noise = alpha + (1.0 - alpha) * 4.0;
        let gain = 0.101 / (noise + 0.101);
        assert!((filter.estimate() - 2.0 * gain).abs() < 1e-12);
        assert!((filter.error - (1.0 - gain) * 0.101).abs() < 1e-12);
    }
}
