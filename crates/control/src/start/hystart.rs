//! HyStart++ (RFC 9406): leave the initial slow start when the round-trip time grows.
//!
//! Each round trip keeps its smallest RTT sample. When that exceeds the one of the round before by an
//! eighth (at least 4 ms, at most 16 ms), slow start turns into conservative slow start (CSS), which
//! grows a quarter as fast. If the RTT falls again, the increase was jitter and slow start resumes;
//! after five rounds of CSS the flow enters congestion avoidance.
//!
//! A round ends when a packet sent during it is acknowledged (section 4.2 with packet numbers for
//! sequence numbers). `L`, the limit on growth by one ACK, is infinite, as section 4.3 recommends for
//! senders that pace, which every transport here does.
//!
//! # Limits
//! Only the initial slow start uses it (section 4.3 recommends that); the controller drops it afterwards.

use super::{SlowStart, Verdict};
use crate::event::Ack;
use crate::phase::{CONSERVATIVE_SLOW_START, SLOW_START};
use crate::{Context, PathState};
use thalweg_units::{Bytes, Duration};

/// Constants of RFC 9406 section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

/// No sample yet: the RFC's infinity.
const INFINITY: Duration = Duration::MAX;

/// State of HyStart++ during the initial slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    /// First packet number of the current round; `None` before the first ACK.
    round_end: Option<u64>,
    last_round_min_rtt: Duration,
    current_round_min_rtt: Duration,
    samples: u32,
    /// Present in CSS only.
    css: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline_min_rtt: Duration,
    rounds: u32,
}

impl HyStart {
    pub(crate) fn new() -> Self {
        HyStart {
            round_end: None,
            last_round_min_rtt: INFINITY,
            current_round_min_rtt: INFINITY,
            samples: 0,
            css: None,
        }
    }

    /// Whether growth is currently slowed down.
    pub(crate) fn is_conservative(&self) -> bool {
        self.css.is_some()
    }

    /// Processes the RTT sample of an ACK (RFC 9406 section 4.2). The growth; `None` when CSS is over.
    pub(crate) fn take(&mut self, ack: &Ack, path: &PathState) -> Option<Bytes> {
        if self.round_end.is_none_or(|end| ack.largest >= end) {
            if self.round_end.is_some() && self.round_ends_css() {
                return None;
            }
            self.begin_round(path.next_packet);
        }
        let divisor = if self.is_conservative() {
            CSS_GROWTH_DIVISOR
        } else {
            1
        };
        if let Some(rtt) = ack.rtt {
            self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            self.compare();
        }
        Some(ack.newly_acked / divisor)
    }

    fn begin_round(&mut self, next_packet: u64) {
        self.round_end = Some(next_packet);
        self.last_round_min_rtt = self.current_round_min_rtt;
        self.current_round_min_rtt = INFINITY;
        self.samples = 0;
    }

    /// Counts a round of CSS, including the one in which CSS began.
    fn round_ends_css(&mut self) -> bool {
        let Some(css) = &mut self.css else {
            return false;
        };
        css.rounds += 1;
        css.rounds >= CSS_ROUNDS
    }

    fn compare(&mut self) {
        let current = self.current_round_min_rtt;
        match self.css {
            None if self.last_round_min_rtt != INFINITY => {
                let eighth = self.last_round_min_rtt / MIN_RTT_DIVISOR;
                let threshold = eighth.clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if current >= self.last_round_min_rtt + threshold {
                    self.css = Some(Conservative {
                        baseline_min_rtt: current,
                        rounds: 0,
                    });
                }
            }
            Some(css) if current < css.baseline_min_rtt => self.css = None,
            _ => {}
        }
    }
}

impl SlowStart for HyStart {
    fn state(&self) -> &'static str {
        match self.is_conservative() {
            true => CONSERVATIVE_SLOW_START,
            false => SLOW_START,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _window: Bytes, cx: &Context<'_>) -> Verdict {
        match self.take(ack, cx.path) {
            Some(growth) => Verdict::Grow(growth),
            None => Verdict::Leave,
        }
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::{Flow, MTU};
    use thalweg_units::Duration;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Window growth in packets over one round in which every packet is acknowledged after `rtt`.
    fn growth(flow: &mut Flow, rtt: Duration) -> u64 {
        let before = flow.window();
        flow.round(rtt);
        (flow.window() - before).as_u64() / MTU.as_u64()
    }

    #[test]
    fn slow_start_doubles_while_the_rtt_is_steady() {
        let mut flow = Flow::new("cubic");
        for _ in 0..4 {
            let window = flow.window();
            flow.round(ms(40));
            assert_eq!(flow.window(), window * 2);
        }
        assert_eq!(flow.state(), "slow start");
    }

    #[test]
    fn the_threshold_is_an_eighth_of_the_rtt_between_4_and_16_milliseconds() {
        // RFC 9406 section 4.3: 20/8 = 2.5 -> 4; 80/8 = 10; 400/8 = 50 -> 16 (milliseconds)
        for (rtt, threshold) in [(20, 4), (80, 10), (400, 16)] {
            for (increase, state) in [
                (threshold - 1, "slow start"),
                (threshold, "conservative slow start"),
            ] {
                let mut flow = Flow::new("cubic");
                flow.round(ms(rtt));
                flow.round(ms(rtt));
                flow.round(ms(rtt + increase));
                assert_eq!(flow.state(), state, "{rtt} ms + {increase} ms");
            }
        }
    }

    #[test]
    fn eight_samples_of_a_round_are_needed() {
        let mut flow = Flow::new("cubic");
        flow.round(ms(40));
        flow.fill_window();
        flow.advance(ms(80));
        for _ in 0..7 {
            flow.ack_next();
        }
        assert_eq!(flow.state(), "slow start");
        flow.ack_next();
        assert_eq!(flow.state(), "conservative slow start");
    }

    #[test]
    fn conservative_slow_start_grows_a_quarter_for_five_rounds_and_then_avoids_congestion() {
        let mut flow = Flow::new("cubic");
        flow.round(ms(40)); // 10 -> 20 packets
        flow.round(ms(40)); // 20 -> 40
        // Eight samples enter CSS at full growth, the other 32 grow by a quarter: 8 + 32/4 = 16.
        assert_eq!(growth(&mut flow, ms(60)), 16); // 56, first round of CSS
        assert_eq!(growth(&mut flow, ms(60)), 14); // 70
        assert_eq!(growth(&mut flow, ms(60)), 17); // 87.5, third
        growth(&mut flow, ms(60));
        growth(&mut flow, ms(60));
        assert_eq!(flow.state(), "conservative slow start");
        // The sixth round opens with the ACK that ends the fifth round of CSS.
        assert!(growth(&mut flow, ms(60)) <= 1);
        assert_eq!(flow.state(), "congestion avoidance");
    }

    #[test]
    fn slow_start_resumes_when_the_rtt_falls_below_the_baseline() {
        let mut flow = Flow::new("cubic");
        flow.round(ms(40));
        flow.round(ms(40));
        flow.round(ms(60));
        assert_eq!(flow.state(), "conservative slow start");
        flow.round(ms(59));
        assert_eq!(flow.state(), "slow start");
        let window = flow.window();
        flow.round(ms(59));
        assert_eq!(flow.window(), window * 2);
    }
}
