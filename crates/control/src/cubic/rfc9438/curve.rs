//! The window as a function of time in one congestion avoidance stage (RFC 9438 sections 4.2 to 4.5).
//!
//! Windows are bytes and times are seconds, both real numbers: the algorithm is defined on them. The RFC
//! counts windows in segments; its constant C becomes C times the packet size here.

use thalweg_units::{Bytes, Duration, Instant};

/// What a designer may turn of the curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// C, aggressiveness in segments per cubic second (RFC 9438 section 5).
    pub(crate) c: f64,
    /// beta_cubic, what remains of the window after a reduction (RFC 9438 section 4.6).
    pub(crate) beta: f64,
}

impl Shape {
    /// Growth of W_est in segments per window, with which AIMD at `beta` has the average window of Reno
    /// (RFC 9438 section 4.3): 3 (1 - 0.7) / (1 + 0.7) = 0.5294.
    pub(crate) fn alpha(self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

/// The target is at most this multiple of the window (RFC 9438 section 4.2).
const MAX_TARGET: f64 = 1.5;

/// One congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Curve {
    /// Start of the stage, moved later by the time in which the window was not used.
    epoch: Instant,
    /// Seconds from the epoch to the plateau.
    pub(crate) k: f64,
    /// Height of the plateau.
    pub(crate) w_max: f64,
    /// Reno's window.
    pub(crate) w_est: f64,
    packet: f64,
    shape: Shape,
}

impl Curve {
    /// A stage that starts at `window` and has its plateau at `w_max`; with `w_max` at or below the
    /// window, the stage starts on the plateau (K = 0).
    pub(crate) fn new(shape: Shape, now: Instant, window: f64, w_max: f64, mtu: Bytes) -> Self {
        let packet = mtu.as_u64().max(1) as f64;
        let w_max = w_max.max(window);
        // RFC 9438 equation (2)
        let k = libm::cbrt((w_max - window) / packet / shape.c);
        Curve {
            epoch: now,
            k,
            w_max,
            w_est: window,
            packet,
            shape,
        }
    }

    /// W_cubic(t), RFC 9438 equation (1).
    pub(crate) fn cubic_window(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.w_max + self.shape.c * self.packet * x * x * x
    }

    /// Seconds of the stage during which the window could grow.
    fn elapsed(&self, now: Instant) -> f64 {
        now.since(self.epoch).as_secs_f64()
    }

    /// Subtracts `span` from the elapsed time (RFC 9438 section 5.8).
    pub(crate) fn pause(&mut self, span: Duration) {
        self.epoch += span;
    }

    /// The window that one window of `flight` bytes would earn, if it were the window.
    pub(crate) fn limit(&self, now: Instant, rtt: Duration, flight: f64) -> f64 {
        let least = flight + self.packet;
        let target = self.cubic_window(self.elapsed(now) + rtt.as_secs_f64());
        target.clamp(least, least.max(MAX_TARGET * flight))
    }

    /// The window after `acked` bytes were acknowledged; never less than `window`. W_est grows more
    /// slowly below `prior`, the window before the last reduction.
    pub(crate) fn grow(
        &mut self,
        now: Instant,
        rtt: Duration,
        acked: Bytes,
        window: f64,
        prior: f64,
    ) -> f64 {
        let t = self.elapsed(now);
        let share = acked.as_u64() as f64 / window;
        // RFC 9438 section 4.3: as Reno once W_est is back where the reduction was.
        let alpha = if self.w_est >= prior {
            1.0
        } else {
            self.shape.alpha()
        };
        self.w_est += alpha * share * self.packet;
        if self.cubic_window(t) < self.w_est {
            // Reno-friendly region. The window may have got ahead of W_est in the other region.
            return self.w_est.max(window);
        }
        // Sections 4.4 and 4.5. One ACK never raises the window above the target.
        let target = self
            .cubic_window(t + rtt.as_secs_f64())
            .clamp(window, MAX_TARGET * window);
        window + (target - window) * share.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1_000);
    const RFC: Shape = Shape { c: 0.4, beta: 0.7 };

    fn after_loss_at(packets: f64) -> Curve {
        Curve::new(
            RFC,
            Instant::START,
            RFC.beta * packets * 1_000.0,
            packets * 1_000.0,
            MTU,
        )
    }

    #[test]
    fn k_is_the_cube_root_of_the_reduction_over_c() {
        // K = cbrt(W_max * (1 - 0.7) / 0.4): 100 packets -> cbrt(75) = 4.2172 s
        assert!((after_loss_at(100.0).k - 4.217_163).abs() < 1e-6);
        // 10.6667 packets -> cbrt(8) = 2 s
        assert!((after_loss_at(32.0 / 3.0).k - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_curve_starts_at_the_reduced_window_and_is_back_after_k() {
        let curve = after_loss_at(100.0);
        assert!((curve.cubic_window(0.0) - 70_000.0).abs() < 1e-6);
        assert!((curve.cubic_window(curve.k) - 100_000.0).abs() < 1e-6);
        // Convex beyond: one second later 0.4 * 1^3 packets more.
        assert!((curve.cubic_window(curve.k + 1.0) - 100_400.0).abs() < 1e-6);
    }

    #[test]
    fn without_a_reduction_the_stage_starts_on_the_plateau() {
        let curve = Curve::new(RFC, Instant::START, 50_000.0, 50_000.0, MTU);
        assert_eq!((curve.k, curve.w_max), (0.0, 50_000.0));
        let lower = Curve::new(RFC, Instant::START, 50_000.0, 20_000.0, MTU);
        assert_eq!((lower.k, lower.w_max), (0.0, 50_000.0));
    }

    #[test]
    fn the_target_is_at_most_half_above_the_window() {
        let mut curve = Curve::new(RFC, Instant::START, 10_000.0, 10_000.0, MTU);
        // After 100 s the curve stands at 10 + 0.4 * 100^3 = 400 010 packets.
        let late = Instant::START + Duration::from_secs(100);
        let rtt = Duration::from_millis(100);
        let window = curve.grow(late, rtt, Bytes::new(10_000), 10_000.0, 10_000.0);
        assert_eq!(window, 15_000.0);
        let window = curve.grow(late, rtt, Bytes::new(50_000), 10_000.0, 10_000.0);
        assert_eq!(
            window, 15_000.0,
            "an ACK of several windows reaches the target, no more"
        );
    }

    #[test]
    fn paused_time_does_not_count() {
        let mut curve = after_loss_at(100.0);
        curve.pause(Duration::from_secs(7));
        assert_eq!(curve.elapsed(Instant::START + Duration::from_secs(9)), 2.0);
    }
}
