//! Running maximum over a sliding window, with three samples of memory.
//!
//! The filter of Kathleen Nichols, which draft-ietf-ccwg-bbr-06 section 5.5.5 refers to. Time is any
//! non-decreasing counter (round trips here). The result is exact right after a new
//! maximum, and never above the true maximum of the window; it may be below it by as much as the signal
//! fell between the remembered samples.

/// Maximum of the samples whose time lies within a window of the newest.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMax {
    /// The best sample, the best after it, and the best after that.
    best: [Sample; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    value: u64,
    time: u64,
}

impl WindowedMax {
    /// The maximum; zero before the first sample.
    pub fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Takes a sample and drops what is `window` or more older; returns the maximum.
    pub fn update(&mut self, value: u64, time: u64, window: u64) -> u64 {
        let sample = Sample { value, time };
        if value >= self.best[0].value || time.saturating_sub(self.best[2].time) >= window {
            // A new maximum, or all samples are outside the window.
            self.best = [sample; 3];
            return value;
        }
        if value >= self.best[1].value {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if value >= self.best[2].value {
            self.best[2] = sample;
        }
        let age = time.saturating_sub(self.best[0].time);
        if age >= window {
            self.best = [self.best[1], self.best[2], sample];
            if time.saturating_sub(self.best[0].time) >= window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].time == self.best[0].time && age >= window.div_ceil(4) {
            // A quarter of the window passed without a second choice: take one from here on.
            (self.best[1], self.best[2]) = (sample, sample);
        } else if self.best[2].time == self.best[1].time && age >= window.div_ceil(2) {
            self.best[2] = sample;
        }
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_is_forgotten_when_it_leaves_the_window() {
        let mut filter = WindowedMax::default();
        assert_eq!(filter.update(100, 0, 10), 100);
        for time in 1..10 {
            assert_eq!(filter.update(50, time, 10), 100, "round {time}");
        }
        assert_eq!(filter.update(50, 10, 10), 50);
    }

    #[test]
    fn a_window_of_one_remembers_the_current_round_only() {
        let mut filter = WindowedMax::default();
        filter.update(7, 3, 1);
        assert_eq!(filter.update(5, 3, 1), 7);
        assert_eq!(filter.update(5, 4, 1), 5);
    }

    proptest! {
        #[test]
        fn the_result_lies_between_the_newest_sample_and_the_true_maximum(
            samples in prop::collection::vec((0u64..1000, 0u64..4), 1..200), window in 1u64..20,
        ) {
            let mut filter = WindowedMax::default();
            let mut seen: Vec<(u64, u64)> = Vec::new();
            let mut time = 0;
            for (value, step) in samples {
                time += step;
                seen.push((value, time));
                let result = filter.update(value, time, window);
                let truth = seen.iter().filter(|(_, t)| time - t < window).map(|(v, _)| *v).max();
                prop_assert!(value <= result && Some(result) <= truth);
            }
        }
    }
}
