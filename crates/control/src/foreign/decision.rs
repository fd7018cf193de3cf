//! A decision in the numbers of other languages.

use crate::Control;
use thalweg_units::{Bytes, Rate};

/// A larger number of bytes, or of bits per second, decides nothing that this one does not.
const MOST: f64 = (1u64 << 60) as f64;

/// What attributes of a controller say, none of them negative or NaN.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// Congestion window in bytes.
    pub window: f64,
    /// Pacing rate in bits per second; `None` leaves pacing to the transport.
    pub pacing: Option<f64>,
    /// The most bytes in one burst; `None` for the initial window.
    pub quantum: Option<f64>,
    /// Whether the start-up phase is over.
    pub startup_done: bool,
}

impl Decision {
    /// What the transport applies: whole bytes and bits per second, rounded down.
    pub fn control(self, initial_window: Bytes) -> Control {
        let whole = |number: f64| number.min(MOST) as u64;
        Control {
            window: Bytes::new(whole(self.window)),
            // A rate of zero would never send anything.
            pacing: self
                .pacing
                .map(|rate| Rate::from_bits_per_sec(whole(rate).max(1))),
            quantum: self
                .quantum
                .map_or(initial_window, |bytes| Bytes::new(whole(bytes))),
            startup_done: self.startup_done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_down_and_limited_and_what_is_left_out_has_its_default() {
        let initial = Bytes::new(14_720);
        let decision = Decision {
            window: 1500.9,
            pacing: Some(0.0),
            quantum: None,
            startup_done: true,
        };
        let control = decision.control(initial);
        assert_eq!(control.window, Bytes::new(1500));
        assert_eq!(control.pacing, Some(Rate::from_bits_per_sec(1)));
        assert_eq!((control.quantum, control.startup_done), (initial, true));
        let largest = Decision {
            window: f64::MAX,
            ..decision
        };
        assert_eq!(largest.control(initial).window, Bytes::new(1 << 60));
    }
}
