//! picoquic's delay test as the end of a classic slow start (picoquic-controllers.md section 1).
//!
//! The test is [`DelayHystart`]; the window stays what it is when the test fires, as in picoquic's NewReno (section
//! 2 there). The variants `picoquic` of Reno and CUBIC have the test in their own slow start, with the rules that go
//! with it there: a bandwidth floor, a larger window on long paths and, in CUBIC, half the window at the end.
//!
//! The packet time of the test is the time of a full packet at the rate at which the transport paces, 5/4 of the window
//! over the smoothed RTT (RFC 9002 section 7.7).

use super::tested::Test;
use crate::delay_hystart::DelayHystart;
use crate::event::Ack;
use crate::{Context, PathState};
use thalweg_units::{Bytes, Duration};

/// The test, with the packet time that it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    test: DelayHystart,
}

impl Delay {
    pub(super) fn new() -> Self {
        Delay {
            test: DelayHystart::default(),
        }
    }
}

/// Time of a full packet at 5/4 of the window for each smoothed RTT.
fn packet_time(window: Bytes, path: &PathState) -> Duration {
    let part = path.mtu.as_u64() * 4;
    path.smoothed_rtt
        .mul_div(part, (window * 5).as_u64().max(1))
}

impl Test for Delay {
    fn fires(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> bool {
        let packet_time = packet_time(window, cx.path);
        ack.rtt
            .is_some_and(|rtt| self.test.on_rtt(rtt, packet_time, cx.now))
    }
}

#[cfg(test)]
mod tests {
    use crate::fake_transport::Flow;
    use thalweg_units::Duration;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// A flow that gets an ACK every 2 ms, with an RTT of 40 ms and then `later`; the ACK at which it leaves slow
    /// start, counted from the change.
    fn leaves_at(later: u64) -> Option<usize> {
        let mut flow = Flow::new("reno:start=delay");
        let mut ack = |rtt: u64| {
            let packet = flow.send();
            flow.advance(ms(rtt));
            flow.ack(packet);
            flow.control().startup_done
        };
        assert!((0..10).all(|_| !ack(40)));
        (0..40).position(|_| ack(later))
    }

    #[test]
    fn seven_excesses_of_the_last_seven_samples_end_it_without_a_reduction() {
        // As in the test of the delay test: the limit is 40 + 40/4 = 50 ms, the thirteenth sample above it fires.
        assert_eq!(leaves_at(51), Some(12));
        assert_eq!(leaves_at(50), None);
        let mut flow = Flow::new("cubic:start=delay");
        for rtt in [40, 40] {
            flow.round(ms(rtt));
        }
        flow.fill_window();
        flow.advance(ms(80));
        let before = flow.window();
        while !flow.control().startup_done {
            flow.advance(ms(2));
            flow.ack_next();
        }
        assert!(flow.window() >= before, "picoquic-controllers.md section 2");
        assert_eq!(
            flow.variable("ssthresh"),
            Some(flow.window().as_u64() as f64)
        );
    }
}
