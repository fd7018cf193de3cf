//! The HyStart of Linux (Ha and Rhee, "Taming the elephants", Computer Networks 55, 2011; `net/ipv4/tcp_cubic.c` of
//! Linux 6, `hystart_update`): leave the initial slow start when a train of ACKs is long or the RTT has grown.
//!
//! In each round trip, from a window of 16 packets on:
//! - ACKs that follow each other within 2 ms are a train. When it is half as long as the smallest RTT and 1 ms
//!   (`hystart_ack_delay`: what the segments of four offloads take, at most 1 ms, which it is below 2 Gbps), what was
//!   sent at once has been spread over that time by the bottleneck, and there is a path full of packets. A paced
//!   sender has spread it itself: then the train is twice as long.
//! - The smallest of the first eight RTT samples or more exceeds the smallest of all by an eighth, at least 4 ms and
//!   at most 16 ms.
//!
//! Then the threshold is the window. HyStart++ ([`super::hystart`]) has the second test, against the round before,
//! and a conservative slow start after it.

use super::tested::Test;
use crate::Context;
use crate::event::Ack;
use thalweg_units::{Bytes, Duration, Instant};

/// `hystart_low_window`, in packets.
const LOW_WINDOW: u64 = 16;
/// `hystart_ack_delta_us`.
const ACK_DELTA: Duration = Duration::from_millis(2);
/// `hystart_ack_delay`.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// `HYSTART_MIN_SAMPLES`, `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`.
const MIN_SAMPLES: u32 = 8;
const DELAY_MIN: Duration = Duration::from_millis(4);
const DELAY_MAX: Duration = Duration::from_millis(16);
const DELAY_DIVISOR: u64 = 8;

/// Both tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct HystartLinux {
    is_paced: bool,
    /// Smallest RTT; `None` before the first sample.
    delay_min: Option<Duration>,
    round: Option<Round>,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first packet number of the next round.
    end: u64,
    start: Instant,
    /// When the last ACK of the train came.
    last_ack: Instant,
    /// Smallest sample.
    rtt: Duration,
    samples: u32,
}

impl HystartLinux {
    pub(super) fn new(is_paced: bool) -> Self {
        HystartLinux {
            is_paced,
            delay_min: None,
            round: None,
        }
    }
}

impl Test for HystartLinux {
    fn fires(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> bool {
        let (now, path) = (cx.now, cx.path);
        let Some(rtt) = ack.rtt else { return false };
        let delay_min = self.delay_min.map_or(rtt, |least| least.min(rtt));
        self.delay_min = Some(delay_min);
        let paced = delay_min + ACK_DELAY;
        let train = if self.is_paced { paced } else { paced / 2 };
        let round = match &mut self.round {
            Some(round) if ack.largest < round.end => round,
            other => other.insert(Round {
                end: path.next_packet,
                start: now,
                last_ack: now,
                rtt: Duration::MAX,
                samples: 0,
            }),
        };
        if window < path.mtu * LOW_WINDOW {
            return false;
        }
        if now - round.last_ack <= ACK_DELTA {
            round.last_ack = now;
            if now - round.start > train {
                return true;
            }
        }
        round.rtt = round.rtt.min(rtt);
        if round.samples < MIN_SAMPLES {
            round.samples += 1;
            return false;
        }
        round.rtt > delay_min + (delay_min / DELAY_DIVISOR).clamp(DELAY_MIN, DELAY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::Flow;
    use thalweg_units::Duration;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// After two rounds of `rtt` ms, fills the window at once, and has an ACK come every `gap` ms from `first` ms on,
    /// 39 at most; how many came when slow start was left.
    fn leaves_after(start: &str, rtt: u64, first: u64, gap: u64) -> Option<usize> {
        let mut flow = Flow::new(&format!("cubic:variant=linux,start={start}"));
        for _ in 0..2 {
            flow.round(ms(rtt));
        }
        flow.fill_window();
        flow.advance(ms(first));
        (1..40).find(|_| {
            flow.ack_next();
            let is_over = flow.control().startup_done;
            flow.advance(ms(gap));
            is_over
        })
    }

    #[test]
    fn a_train_of_acks_longer_than_half_of_the_least_rtt_and_1_ms_ends_it() {
        // 40 packets; the least RTT is 40 ms. The first ACK begins the round; the train is longer than 41/2 = 20.5 ms
        // after 11 more.
        assert_eq!(leaves_after("hystart-unpaced", 40, 40, 2), Some(12));
        // 42/2 = 21 ms: without the millisecond, 20.5 ms, it would be the ACK before.
        assert_eq!(leaves_after("hystart-unpaced", 41, 41, 1), Some(23));
        // ACKs that are 3 ms apart are not a train. Nor does the delay end it: 40 + 40/8 = 45 ms is the
        // limit, and the smallest of the round is 40 ms.
        assert_eq!(leaves_after("hystart-unpaced", 40, 40, 3), None);
        // Paced, as long as the RTT and 1 ms: 41 ms, after 21 more.
        assert_eq!(leaves_after("hystart-linux", 40, 40, 2), Some(22));
    }

    #[test]
    fn an_rtt_that_has_grown_by_an_eighth_ends_it_with_the_ninth_sample() {
        assert_eq!(leaves_after("hystart-linux", 40, 46, 3), Some(9));
        assert_eq!(leaves_after("hystart-linux", 40, 45, 3), None);
    }

    #[test]
    fn below_sixteen_packets_neither_does() {
        let mut flow = Flow::new("cubic:variant=linux,start=hystart-unpaced");
        flow.fill_window();
        flow.advance(ms(40));
        for _ in 0..6 {
            flow.ack_next();
            flow.advance(ms(30));
        }
        assert!(!flow.control().startup_done);
    }
}
