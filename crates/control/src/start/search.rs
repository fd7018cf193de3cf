//! SEARCH, "slow start exit at right chokepoint", version 3.0 (draft-chung-ietf-ccwg-00 section 3).
//!
//! In slow start deliveries double each round trip, as long as the path takes them. Deliveries are counted in bins of
//! 0.35 initial RTTs. Each time a bin is complete, the last ten bins are compared with the ten that ended one RTT
//! before them: when they hold less than twice as much by 35 % or more, the path is full, and the window goes back to
//! what it was two initial RTTs ago.
//!
//! Where this differs from the pseudocode of the draft, and why:
//! - Line 26 empties the bin that is complete, together with the bins that were passed after it. The text empties
//!   only "each bin passed", as is done here; otherwise no bin but the last would ever hold anything.
//! - There is room for one bin more than `NUM_BINS`: at the largest distance that line 14 accepts, line 36 reads the
//!   bin that line 30 has just overwritten.
//! - Without earlier deliveries, line 18 divides by zero; nothing is compared.
//! - The sequence number is the total of bytes delivered: QUIC delivers out of order.
//! - The window never goes below the minimum of the controller.
//!
//! # Limits
//! The text of draft-chung-ccwg-search, which followed it and compares deliveries with what was sent, was not at
//! hand. The draft does not treat flows without enough data to fill their window: their deliveries do not double
//! either, and end slow start.

use super::{SlowStart, Verdict};
use crate::Context;
use crate::event::Ack;
use thalweg_units::{Bytes, Duration, Instant};

/// Bins of a window (W, line 2).
const WINDOW_BINS: u64 = 10;
/// Further bins, to look back by an RTT (EXTRA_BINS, line 3).
const EXTRA_BINS: u64 = 15;
/// WINDOW_SIZE of line 1 over W: 3.5 / 10 of the initial RTT, in percent.
const BIN_PERCENT: u64 = 35;
/// THRESH of line 6, in percent.
const THRESHOLD_PERCENT: u128 = 35;
const ROOM: usize = (WINDOW_BINS + EXTRA_BINS) as usize + 1;

/// A classic slow start that ends where deliveries no longer double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    bins: Option<Bins>,
}

/// Deliveries since the first RTT sample.
#[derive(Clone, Copy, Debug)]
struct Bins {
    initial_rtt: Duration,
    span: Duration,
    /// When the current bin is complete.
    end: Instant,
    /// Bins that are complete.
    complete: u64,
    /// Those of them that are remembered, by their number.
    held: [Bytes; ROOM],
    /// Deliveries when the last bin was complete.
    delivered: Bytes,
}

impl Search {
    pub(super) fn new() -> Self {
        Search { bins: None }
    }

    fn observe(&mut self, ack: &Ack, window: Bytes, growth: Bytes, cx: &Context<'_>) -> Verdict {
        let bins = self.bins.get_or_insert_with(|| Bins::new(cx));
        // Line 10.
        if cx.now > bins.end {
            bins.complete(cx.now, cx.path.delivered);
            if bins.has_reached_capacity(ack.rtt.unwrap_or(cx.path.latest_rtt)) {
                return Verdict::LeaveAt(window - bins.overshoot());
            }
        }
        Verdict::Grow(growth)
    }
}

impl Bins {
    /// Lines 7 to 9.
    fn new(cx: &Context<'_>) -> Self {
        let initial_rtt = cx.path.latest_rtt;
        let span = initial_rtt
            .mul_div(BIN_PERCENT, 100)
            .max(Duration::from_nanos(1));
        Bins {
            initial_rtt,
            span,
            end: cx.now + span,
            complete: 0,
            held: [Bytes::ZERO; ROOM],
            delivered: cx.path.delivered,
        }
    }

    fn bin(&mut self, number: u64) -> &mut Bytes {
        &mut self.held[(number % ROOM as u64) as usize]
    }

    /// Lines 24 to 31: what was delivered since the last bin belongs to the newest one.
    fn complete(&mut self, now: Instant, delivered: Bytes) {
        let passed = (now - self.end).as_nanos() / self.span.as_nanos() + 1;
        self.end += self.span.mul_div(passed, 1);
        for number in 0..passed.min(ROOM as u64) {
            *self.bin(self.complete + passed - 1 - number) = Bytes::ZERO;
        }
        self.complete += passed;
        *self.bin(self.complete - 1) = delivered - self.delivered;
        self.delivered = delivered;
    }

    /// Lines 12 to 19.
    fn has_reached_capacity(&mut self, rtt: Duration) -> bool {
        let newest = self.complete - 1;
        let back = rtt.as_nanos() / self.span.as_nanos();
        let Some(previous) = newest.checked_sub(back) else {
            return false;
        };
        if previous < WINDOW_BINS || back > EXTRA_BINS {
            return false;
        }
        let current = self.sum(newest - WINDOW_BINS, newest, Duration::ZERO);
        let rest = Duration::from_nanos(rtt.as_nanos() % self.span.as_nanos());
        let expected = 2 * u128::from(self.sum(previous - WINDOW_BINS, previous, rest).as_u64());
        let missing = expected.saturating_sub(u128::from(current.as_u64()));
        expected > 0 && missing * 100 >= expected * THRESHOLD_PERCENT
    }

    /// Lines 32 to 38: the bins after `first` up to `last`, moved back by `rest` of a bin.
    fn sum(&mut self, first: u64, last: u64, rest: Duration) -> Bytes {
        let whole: Bytes = (first + 1..last).map(|number| *self.bin(number)).sum();
        let span = self.span.as_nanos();
        let early = self.bin(first).mul_div(rest.as_nanos(), span);
        let late = self.bin(last).mul_div(span - rest.as_nanos(), span);
        whole + early + late
    }

    /// Lines 39 and 40: what was delivered in the last two initial RTTs.
    fn overshoot(&mut self) -> Bytes {
        let newest = self.complete - 1;
        let bins = (self.initial_rtt * 2).as_nanos() / self.span.as_nanos();
        self.sum(newest.saturating_sub(bins), newest, Duration::ZERO)
    }
}

impl SlowStart for Search {
    /// The first round-trip time measured in the connection is the initial RTT.
    fn on_handshake_rtt(&mut self, _window: Bytes, cx: &Context<'_>) -> Option<Bytes> {
        self.bins = Some(Bins::new(cx));
        None
    }

    fn on_ack(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, window, ack.newly_acked, cx)
    }

    fn on_underused(&mut self, ack: &Ack, window: Bytes, cx: &Context<'_>) -> Verdict {
        self.observe(ack, window, Bytes::ZERO, cx)
    }

    fn copied(&self) -> Box<dyn SlowStart> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_transport::{Bottleneck, Flow};
    use thalweg_units::Duration;

    const RTT: Duration = Duration::from_millis(100);

    fn bins(held: &[u64]) -> Bins {
        let mut bins = Bins {
            initial_rtt: RTT,
            span: Duration::from_millis(35),
            end: Instant::START + Duration::from_millis(35),
            complete: 0,
            held: [Bytes::ZERO; ROOM],
            delivered: Bytes::ZERO,
        };
        let mut total = Bytes::ZERO;
        for kilobytes in held {
            total += Bytes::new(kilobytes * 1_000);
            bins.complete(bins.end, total);
        }
        bins
    }

    #[test]
    fn deliveries_that_double_each_round_trip_are_no_capacity_and_constant_ones_are() {
        // Bins of a round trip of one bin, each twice the one before: the normalized difference is 0.
        let doubling: Vec<u64> = (0..20).map(|n| 1 << n).collect();
        assert!(!bins(&doubling).has_reached_capacity(Duration::from_millis(35)));
        // Section 4: well after the congestion point the difference is 0.5.
        assert!(bins(&[8; 20]).has_reached_capacity(Duration::from_millis(35)));
    }

    #[test]
    fn a_difference_of_35_percent_is_the_threshold() {
        // Ten bins of 100 before ten of x with an RTT of ten bins: 1 - 10 x / (2 * 1000) = 0.35 at x = 130.
        let then = |x: u64| {
            let held = [vec![100; 11], vec![x; 10]].concat();
            bins(&held).has_reached_capacity(Duration::from_millis(350))
        };
        assert!(then(130) && !then(131));
    }

    #[test]
    fn eleven_bins_and_an_rtt_of_them_are_needed_and_at_most_fifteen_bins_of_rtt() {
        let rtt = |bins: u64| Duration::from_millis(35 * bins);
        assert!(!bins(&[8; 11]).has_reached_capacity(rtt(1)));
        assert!(bins(&[8; 12]).has_reached_capacity(rtt(1)));
        // At the largest distance the oldest bin that is read is the 26th from the newest.
        assert!(bins(&[8; 40]).has_reached_capacity(rtt(15)));
        assert!(!bins(&[8; 40]).has_reached_capacity(rtt(16)));
    }

    #[test]
    fn sums_between_bins_take_parts_of_the_first_and_the_last_one() {
        // 40 % of 10 kB, all of 20 kB, 60 % of 30 kB.
        let mut three = bins(&[10, 20, 30]);
        assert_eq!(
            three.sum(0, 2, Duration::from_millis(14)),
            Bytes::new(4_000 + 20_000 + 18_000)
        );
    }

    #[test]
    fn bins_that_pass_without_an_ack_are_empty() {
        let mut late = bins(&[10, 20]);
        late.complete(late.end + Duration::from_millis(80), Bytes::new(90_000));
        // 80 ms after the end of the third bin are two more: the fifth holds 60 kB.
        assert_eq!(late.complete, 5);
        let held: Vec<u64> = (0..5).map(|n| late.bin(n).as_u64()).collect();
        assert_eq!(held, [10_000, 20_000, 0, 0, 60_000]);
    }

    #[test]
    fn the_exit_comes_after_the_path_is_full_although_nothing_is_lost() {
        // 20 Mbps and 100 ms hold 250 kB; the buffer never fills.
        let after_3_s = |name: &str| {
            let mut path = Bottleneck::new(name, 20, 100, Bytes::new(1_000_000_000));
            path.run_for(Duration::from_secs(3));
            assert_eq!(path.dropped, 0);
            path.flow
        };
        let flow = after_3_s("reno:start=search");
        assert!(flow.control().startup_done);
        let exit = flow.variable("ssthresh").unwrap();
        assert!((250e3..2e6).contains(&exit), "{exit}");
        let classic = after_3_s("reno");
        assert!(!classic.control().startup_done);
        assert!(classic.window().as_u64() as f64 > 2.0 * exit, "{exit}");
    }

    #[test]
    fn a_flow_that_does_not_use_its_window_leaves_slow_start_with_what_it_used() {
        let mut flow = Flow::new("reno:start=search");
        flow.app_limited = true;
        for _ in 0..20 {
            for packet in [flow.send(), flow.send()] {
                flow.advance(RTT / 2);
                flow.ack(packet);
            }
        }
        assert!(flow.control().startup_done);
    }
}
