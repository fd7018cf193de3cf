//! The window as a function of time in one congestion avoidance stage (RFC 9438 sections 4.2 to 4.5).
//!
//! Windows are bytes and times are seconds, both real numbers: the algorithm is defined on them. The RFC
//! counts windows in segments; its constant C becomes C times the packet size here.
//!
//! # Linux
//! `net/ipv4/tcp_cubic.c` deviates, and with [`Shape::linux`] this does too:
//! - W_est keeps its alpha (`bictcp_update`, "TCP Friendly"), where section 4.3 has 1 once W_est is back at the window before
//!   the reduction. At 1 % of loss that is the difference between Reno's window and more.
//! - The target is the curve one minimum RTT ahead (`delay_min`), not one smoothed RTT (section 4.2).
//! - While no reduction has found a maximum, the window grows by at least a packet for 20 (`cnt` is at most 20), also on
//!   the plateau on which section 4.10 begins.
//!
//! Not followed: times in jiffies, at most one update in 1/32 s, and beta as 717/1024.

use crate::PathState;
use thalweg_units::{Bytes, Duration, Instant};

/// What a designer may turn of the curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// C, aggressiveness in segments per cubic second (RFC 9438 section 5).
    pub(crate) c: f64,
    /// beta_cubic, what remains of the window after a reduction (RFC 9438 section 4.6).
    pub(crate) beta: f64,
    /// Whether the curve is the one of Linux.
    pub(crate) linux: bool,
}

/// Acknowledged packets for each packet of growth in Linux, at most, until a reduction has found a maximum.
const LINUX_UNKNOWN: f64 = 20.0;

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
    /// Whether a reduction has found the plateau.
    is_known: bool,
}

impl Curve {
    /// A stage that starts at `window` and has its plateau at `w_max`; with `w_max` at or below the
    /// window, the stage starts on the plateau (K = 0). A reduction has found it, or `is_known` is false.
    pub(crate) fn new(
        shape: Shape,
        now: Instant,
        (window, w_max, is_known): (f64, f64, bool),
        mtu: Bytes,
    ) -> Self {
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
            is_known,
        }
    }

    /// How far ahead the target lies.
    pub(crate) fn lookahead(&self, path: &PathState) -> Duration {
        match self.shape.linux {
            true => path.min_rtt,
            false => path.smoothed_rtt,
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
        let alpha = match self.w_est >= prior && !self.shape.linux {
            true => 1.0,
            false => self.shape.alpha(),
        };
        self.w_est += alpha * share * self.packet;
        let least = match self.shape.linux && !self.is_known {
            true => window + acked.as_u64() as f64 / LINUX_UNKNOWN,
            false => window,
        };
        if self.cubic_window(t) < self.w_est {
            // Reno-friendly region. The window may have got ahead of W_est in the other region.
            return self.w_est.max(least);
        }
        // Sections 4.4 and 4.5. One ACK never raises the window above the target.
        let target = self
            .cubic_window(t + rtt.as_secs_f64())
            .clamp(window, MAX_TARGET * window);
        (window + (target - window) * share.min(1.0)).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1_000);
    const RFC: Shape = Shape {
        c: 0.4,
        beta: 0.7,
        linux: false,
    };

    fn after_loss_at(packets: f64) -> Curve {
        Curve::new(
            RFC,
            Instant::START,
            (RFC.beta * packets * 1_000.0, packets * 1_000.0, true),
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
        let curve = Curve::new(RFC, Instant::START, (50_000.0, 50_000.0, false), MTU);
        assert_eq!((curve.k, curve.w_max), (0.0, 50_000.0));
        let lower = Curve::new(RFC, Instant::START, (50_000.0, 20_000.0, false), MTU);
        assert_eq!((lower.k, lower.w_max), (0.0, 50_000.0));
    }

    #[test]
    fn the_target_is_at_most_half_above_the_window() {
        let mut curve = Curve::new(RFC, Instant::START, (10_000.0, 10_000.0, true), MTU);
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

    /// The same window of 20 packets by the RFC and by Linux, `rounds` of `rtt` later.
    fn both_after(rounds: u64, rtt: Duration, is_known: bool) -> [f64; 2] {
        [false, true].map(|linux| {
            let shape = Shape { linux, ..RFC };
            let windows = (
                14_000.0,
                if is_known { 20_000.0 } else { 14_000.0 },
                is_known,
            );
            let mut curve = Curve::new(shape, Instant::START, windows, MTU);
            (1..=rounds).fold(14_000.0, |window: f64, round| {
                let acked = Bytes::new(window as u64);
                curve.grow(Instant::START + rtt * round, rtt, acked, window, 20_000.0)
            })
        })
    }

    #[test]
    fn linux_keeps_the_alpha_of_w_est_beyond_the_window_before_the_reduction() {
        // RFC 9438 section 4.3, where the curve is far below: 14 packets and 0.5294 in each of 12 rounds, 20.35 packets
        // of 20; then one in each of 20 rounds, or 0.5294 still.
        let [rfc, linux] =
            both_after(32, Duration::from_millis(1), true).map(|window| window / 1e3);
        assert!((40.0..40.5).contains(&rfc), "{rfc}");
        assert!((30.8..31.1).contains(&linux), "{linux}");
    }

    #[test]
    fn linux_grows_by_a_packet_for_twenty_until_a_loss_has_found_a_maximum() {
        // On the plateau of section 4.10 the curve gains 0.4 * 0.3^3 = 0.01 packets and W_est 10 * 0.53 = 5.3 in ten rounds of
        // 30 ms; Linux gains a twentieth in each: 14 * 1.05^10 = 22.8.
        let [rfc, linux] =
            both_after(10, Duration::from_millis(30), false).map(|window| window / 1e3);
        assert!((19.0..19.4).contains(&rfc), "{rfc}");
        assert!((22.5..23.0).contains(&linux), "{linux}");
    }

    #[test]
    fn the_target_of_linux_lies_a_minimum_rtt_ahead() {
        let mut path = PathState::new(MTU, Instant::START);
        path.min_rtt = Duration::from_millis(20);
        path.smoothed_rtt = Duration::from_millis(90);
        let ahead = |linux| {
            let shape = Shape { linux, ..RFC };
            let windows = (14_000.0, 20_000.0, true);
            Curve::new(shape, Instant::START, windows, MTU).lookahead(&path)
        };
        assert_eq!(
            [ahead(false), ahead(true)],
            [path.smoothed_rtt, path.min_rtt]
        );
    }

    #[test]
    fn paused_time_does_not_count() {
        let mut curve = after_loss_at(100.0);
        curve.pause(Duration::from_secs(7));
        assert_eq!(curve.elapsed(Instant::START + Duration::from_secs(9)), 2.0);
    }
}
