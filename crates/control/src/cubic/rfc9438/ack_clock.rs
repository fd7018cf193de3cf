//! Congestion avoidance of Cuback: CUBIC's window as a function of the data acknowledged, not of time
//! (draft-kazuho-ccwg-cuback-00 section 3).
//!
//! A(w) is how much has to be acknowledged, from the start of the stage, until the window is w: the inverse of the larger of
//! two growing windows is the smaller of their inverses. Like Reno, the window grows by one packet when the difference to
//! the next has been acknowledged. Windows are packets, data too; bandwidth is packets per second.

use super::Shape;
use thalweg_units::Bytes;

/// One stage. Only `pending` changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckClock {
    shape: Shape,
    /// Bytes of a packet.
    packet: f64,
    /// cwnd_epoch: the window at the start.
    epoch: f64,
    w_max: f64,
    /// cwnd_prior: the window before the reduction, at which W_est grows like Reno's (section 3.1).
    prior: f64,
    /// The rate of the bottleneck.
    bandwidth: f64,
    /// Data acknowledged since the window last grew.
    pending: f64,
}

impl AckClock {
    /// A stage that starts at `window` bytes with its plateau at `w_max`, over a bottleneck of `bandwidth` bytes per second.
    /// With `w_max` at or below the window it starts on the plateau.
    pub(crate) fn new(
        shape: Shape,
        (window, w_max, prior): (f64, f64, f64),
        bandwidth: f64,
        mtu: Bytes,
    ) -> Self {
        let packet = mtu.as_u64().max(1) as f64;
        AckClock {
            shape,
            packet,
            epoch: window / packet,
            w_max: w_max.max(window) / packet,
            prior: prior.max(window) / packet,
            bandwidth: bandwidth / packet,
            pending: 0.0,
        }
    }

    /// K in seconds.
    pub(crate) fn k(&self) -> f64 {
        libm::cbrt((self.w_max - self.epoch) / self.shape.c)
    }

    /// A_cubic(w).
    fn cubic(&self, window: f64) -> f64 {
        self.bandwidth * (self.k() + libm::cbrt((window - self.w_max) / self.shape.c))
    }

    /// A_reno(w).
    fn reno(&self, window: f64) -> f64 {
        let sum = |from: f64, to: f64| (to - from) * (to + from - 1.0) / 2.0;
        let slow = sum(self.epoch, window.min(self.prior)) / self.shape.alpha();
        slow + sum(self.prior, window.max(self.prior))
    }

    /// A(w).
    fn needed(&self, window: f64) -> f64 {
        self.cubic(window).min(self.reno(window))
    }

    /// D(w): what has to be acknowledged until the window has grown by a packet. At least two, so that it grows by half of
    /// itself in a round trip at most.
    fn step(&self, window: f64) -> f64 {
        (self.needed(window + 1.0) - self.needed(window)).max(2.0)
    }

    /// The window in bytes after `acked` bytes were acknowledged at `window`.
    pub(crate) fn grow(&mut self, acked: f64, window: f64) -> f64 {
        let mut packets = window / self.packet;
        self.pending += acked / self.packet;
        loop {
            let step = self.step(packets);
            if self.pending < step {
                // In packets and back, a window may lose a bit, and a byte with it: it never shrinks here.
                return (packets * self.packet).max(window);
            }
            self.pending -= step;
            packets += 1.0;
        }
    }

    /// The window that one window of `flight` bytes would earn, if it were the window.
    pub(crate) fn limit(&self, flight: f64) -> f64 {
        let fresh = AckClock {
            pending: 0.0,
            ..*self
        };
        { fresh }.grow(flight, flight).max(flight + self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: Shape = Shape {
        c: 0.4,
        beta: 0.7,
        linux: false,
    };

    #[test]
    fn a_window_that_does_not_grow_keeps_its_last_byte() {
        for mtu in [1252_u32, 1440, 1811, 7277] {
            for window in (2 * mtu..20_000).map(f64::from) {
                let mut clock =
                    AckClock::new(RFC, (window, window, window), 1e6, Bytes::new(mtu.into()));
                let grown = clock.grow(1.0, window);
                assert!((window..window + 0.5).contains(&grown), "{window} {grown}");
            }
        }
    }

    /// A stage with packets of one byte.
    fn stage(epoch: f64, prior: f64, bandwidth: f64) -> AckClock {
        AckClock::new(RFC, (epoch, prior, prior), bandwidth, Bytes::new(1))
    }

    #[test]
    fn the_first_vector_of_the_draft_follows_the_reno_friendly_window() {
        // Appendix B of the draft: its table, which has four places.
        let stage = stage(7.0, 10.0, 100.0);
        for (window, needed, step) in [
            (7.0, 0.0, 13.2222),
            (8.0, 13.2222, 15.1111),
            (9.0, 28.3333, 17.0),
            (10.0, 45.3333, 10.0),
            (11.0, 55.3333, 11.0),
            (12.0, 66.3333, 12.0),
        ] {
            assert!((stage.needed(window) - needed).abs() < 5e-5, "{window}");
            assert!((stage.step(window) - step).abs() < 1e-4, "{window}");
        }
    }

    #[test]
    fn the_second_vector_of_the_draft_follows_the_cubic_window() {
        let stage = stage(600.0, 1000.0, 10_000.0);
        assert!((stage.k() - 10.0).abs() < 1e-9);
        for (window, needed) in [
            (600.0, 0.0),
            (950.0, 50_000.0),
            (1000.0, 100_000.0),
            (1050.0, 150_000.0),
            (1400.0, 200_000.0),
        ] {
            assert!((stage.needed(window) - needed).abs() < 1e-6, "{window}");
        }
    }

    #[test]
    fn the_window_grows_by_what_the_vectors_say_however_acknowledgements_come() {
        for portion in [0.5, 1.0, 7.0, 66.4] {
            let (mut stage, mut window, mut acked) = (stage(7.0, 10.0, 100.0), 7.0, 0.0);
            while acked < 66.34 {
                window = stage.grow(portion, window);
                acked += portion;
            }
            assert_eq!(window, 12.0, "{portion}");
        }
    }

    #[test]
    fn it_grows_by_half_of_the_window_at_most() {
        // A bandwidth of nothing asks for no data at all.
        let mut steep = stage(100.0, 100.0, 1e-9);
        assert_eq!(steep.grow(100.0, 100.0), 150.0);
        assert_eq!(steep.limit(100.0), 150.0);
    }

    #[test]
    fn after_fast_convergence_the_reno_friendly_window_turns_at_the_window_before() {
        // Section 3.1: W_max = 85, cwnd_prior = 100, cwnd_epoch = 70. A_reno(101) - A_reno(100) = 100.
        let shape = (70.0, 85.0, 100.0);
        let stage = AckClock::new(RFC, shape, 1e9, Bytes::new(1));
        assert!((stage.step(100.0) - 100.0).abs() < 1e-6);
        assert!((stage.step(90.0) - 90.0 / RFC.alpha()).abs() < 1e-6);
    }
}
