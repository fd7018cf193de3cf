//! SEARCH, "slow start exit at right chokepoint", version 4.0 (draft-chung-ccwg-search-09).
//!
//! As long as a path has room, it delivers what was sent an RTT before. Both are counted in bins of 0.35 initial RTTs.
//! Each time a bin is complete, what was delivered in the last ten bins is compared with what was sent in the ten that
//! ended one RTT before them: when 26 % or more of it are missing, the path is full. The queue then drains: each ACK sets
//! the window to what is in flight and one packet for every three acknowledged, until that is what was delivered in the
//! last initial RTT.
//!
//! # Source
//! At hand were the abstract of the draft and two implementations that follow it: the authors' (SEARCH 4.0 for
//! FreeBSD and Linux) and neqo's, which cites version 09. They agree in the comparison. Where they do not, or leave
//! a choice:
//! - The threshold is the one of neqo and of the authors' code for FreeBSD; their code for Linux has 35 %.
//! - One can look back by less than 15 bins, as in neqo; the authors' code remembers 40.
//! - The drain (section 3.2) is as the authors have it; neqo leaves slow start with the window as it is. The window never
//!   grows in it, and the target is at least the initial window.
//! - Bins that pass without an ACK hold what the bin before them does, and no gap begins the comparison anew, as in the
//!   authors' code for Linux: that is an option of the draft.
//!
//! # Limits
//! What was sent is what was acknowledged, declared lost, or is in flight: by the rules of picoquic, which do not count
//! AEAD tags as acknowledged, 1 % of it is missing at once.

use super::{SlowStart, Verdict};
use crate::event::Ack;
use crate::phase::{DRAIN, SLOW_START};
use crate::{Context, Init, PathState};
use thalweg_units::{Bytes, Duration, Instant};

/// Bins of a window: W.
const WINDOW_BINS: u64 = 10;
/// Bins that one can look back by: EXTRA_BINS.
const EXTRA_BINS: u64 = 15;
/// A window of 3.5 initial RTTs, over W, in percent.
const BIN_PERCENT: u64 = 35;
/// THRESH, in percent.
const THRESHOLD_PERCENT: u128 = 26;
/// Acknowledged packets for each packet that leaves in the drain.
const DRAIN_PACKETS: u64 = 3;
/// The oldest bin that is read is one before a window that ends 14 bins ago.
const ROOM: usize = (WINDOW_BINS + EXTRA_BINS) as usize + 1;

/// A classic slow start that ends where the path no longer delivers what was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    initial_window: Bytes,
    bins: Option<Bins>,
    drain: Option<Drain>,
}

/// Totals at the ends of bins, since the first ACK.
#[derive(Clone, Copy, Debug)]
struct Bins {
    initial_rtt: Duration,
    span: Duration,
    /// When the current bin is complete.
    end: Instant,
    /// Number of the bin that was completed last; number 0 is the first ACK.
    newest: u64,
    held: [Totals; ROOM],
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    delivered: Bytes,
    sent: Bytes,
}

impl Totals {
    fn of(path: &PathState) -> Self {
        Totals {
            delivered: path.delivered,
            sent: path.delivered + path.lost + path.bytes_in_flight,
        }
    }
}

/// The drain.
#[derive(Clone, Copy, Debug)]
struct Drain {
    target: Bytes,
    /// Acknowledged since a packet was last let go.
    acked: Bytes,
}

impl Search {
    pub(super) fn new(init: &Init) -> Self {
        Search {
            initial_window: init.initial_window,
            bins: None,
            drain: None,
        }
    }

    fn observe(&mut self, ack: &Ack, window: Bytes, growth: Bytes, cx: &Context<'_>) -> Verdict {
        if let Some(drain) = &mut self.drain {
            return drain.step(ack, window, cx.path);
        }
        let totals = Totals::of(cx.path);
        let rtt = ack.rtt.unwrap_or(cx.path.latest_rtt);
        let bins = (self.bins).get_or_insert_with(|| Bins::new(cx.now, rtt, totals));
        if cx.now < bins.end {
            return Verdict::Grow(growth);
        }
        bins.complete(cx.now, totals);
        if !bins.has_reached_capacity(rtt) {
            return Verdict::Grow(growth);
        }
        self.drain = Some(Drain {
            target: bins.delivered_in_initial_rtt().max(self.initial_window),
            acked: Bytes::ZERO,
        });
        Verdict::Grow(Bytes::ZERO)
    }
}

impl Bins {
    fn new(now: Instant, rtt: Duration, totals: Totals) -> Self {
        let span = rtt.mul_div(BIN_PERCENT, 100).max(Duration::from_nanos(1));
        Bins {
            initial_rtt: rtt,
            span,
            end: now + span,
            newest: 0,
            held: [totals; ROOM],
        }
    }

    fn bin(&mut self, number: u64) -> &mut Totals {
        &mut self.held[(number % ROOM as u64) as usize]
    }

    /// Totals now belong to the newest bin.
    fn complete(&mut self, now: Instant, totals: Totals) {
        let passed = (now - self.end).as_nanos() / self.span.as_nanos() + 1;
        let before = *self.bin(self.newest);
        self.end += self.span.mul_div(passed, 1);
        self.newest += passed;
        for number in 1..passed.min(ROOM as u64) {
            *self.bin(self.newest - number) = before;
        }
        *self.bin(self.newest) = totals;
    }

    /// Whether 26 % of what was sent until an RTT ago have not been delivered.
    fn has_reached_capacity(&mut self, rtt: Duration) -> bool {
        let back = rtt.as_nanos() / self.span.as_nanos();
        let Some(previous) = self.newest.checked_sub(back) else {
            return false;
        };
        if previous <= WINDOW_BINS || back >= EXTRA_BINS {
            return false;
        }
        let delivered = u128::from(self.delivered_in(WINDOW_BINS).as_u64());
        let rest = Duration::from_nanos(rtt.as_nanos() % self.span.as_nanos());
        let sent = u128::from(self.sent_until(previous, rest).as_u64());
        let missing = sent.saturating_sub(delivered);
        sent > 0 && missing * 100 >= sent * THRESHOLD_PERCENT
    }

    /// What was delivered in the last bins.
    fn delivered_in(&mut self, bins: u64) -> Bytes {
        self.bin(self.newest).delivered - self.bin(self.newest - bins).delivered
    }

    /// What was sent in the window that ended `rest` before the end of bin `last`.
    fn sent_until(&mut self, last: u64, rest: Duration) -> Bytes {
        let mut window = |end: u64| self.bin(end).sent - self.bin(end - WINDOW_BINS).sent;
        let (at, before) = (window(last), window(last - 1));
        let span = self.span.as_nanos();
        before.mul_div(rest.as_nanos(), span) + at.mul_div(span - rest.as_nanos(), span)
    }

    /// What the path delivers in an RTT, in whole bins.
    fn delivered_in_initial_rtt(&mut self) -> Bytes {
        let bins = self.initial_rtt.as_nanos().div_ceil(self.span.as_nanos());
        self.delivered_in(bins.min(self.newest).min(WINDOW_BINS))
    }
}

impl Drain {
    fn step(&mut self, ack: &Ack, window: Bytes, path: &PathState) -> Verdict {
        self.acked += ack.newly_acked;
        let each = path.mtu * DRAIN_PACKETS;
        let packets = self.acked.as_u64() / each.as_u64();
        self.acked -= each * packets;
        let next = (path.bytes_in_flight + path.mtu * packets)
            .max(self.target)
            .min(window);
        match next <= self.target {
            true => Verdict::LeaveAt(next),
            false => Verdict::Jump(next),
        }
    }
}

impl SlowStart for Search {
    fn state(&self) -> &'static str {
        match self.drain {
            Some(_) => DRAIN,
            None => SLOW_START,
        }
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
    use crate::fake_transport::{Bottleneck, Flow, MTU};
    use proptest::prelude::*;

    const RTT: Duration = Duration::from_millis(100);
    const SPAN: Duration = Duration::from_millis(35);

    fn totals(delivered: u64, sent: u64) -> Totals {
        Totals {
            delivered: Bytes::new(delivered),
            sent: Bytes::new(sent),
        }
    }

    /// Bins in which so many bytes were delivered and sent; nothing before.
    fn bins(each: &[(u64, u64)]) -> Bins {
        let mut bins = Bins::new(Instant::START, RTT, Totals::default());
        let (mut delivered, mut sent) = (0, 0);
        for (more, also) in each {
            delivered += more;
            sent += also;
            bins.complete(bins.end, totals(delivered, sent));
        }
        bins
    }

    #[test]
    fn what_is_delivered_an_rtt_after_it_was_sent_is_no_capacity() {
        // Deliveries double each bin, and so does what is sent, one bin ahead of them.
        let doubling: Vec<(u64, u64)> = (0..20).map(|n| (1 << n, 2 << n)).collect();
        assert!(!bins(&doubling).has_reached_capacity(SPAN));
        // A path that holds back half of it.
        let halved: Vec<(u64, u64)> = (0..20).map(|n| (1 << n, 4 << n)).collect();
        assert!(bins(&halved).has_reached_capacity(SPAN));
    }

    #[test]
    fn a_difference_of_26_percent_is_the_threshold() {
        // Ten bins of x delivered, against ten of 100 sent: 1 - x / 100 = 0.26 at x = 74.
        let delivered = |x: u64| bins(&[(x, 100); 30]).has_reached_capacity(SPAN);
        assert!(delivered(74) && !delivered(75));
    }

    #[test]
    fn eleven_bins_before_the_rtt_are_needed_and_at_most_fourteen_bins_of_rtt() {
        let rtt = |bins: u64| Duration::from_millis(35 * bins);
        let n = |n: usize, back: u64| bins(&vec![(1, 100); n]).has_reached_capacity(rtt(back));
        assert!(!n(11, 1));
        assert!(n(12, 1));
        // At the largest distance the oldest total that is read is the 26th from the newest.
        assert!(n(40, 14));
        assert!(!n(40, 15));
    }

    #[test]
    fn a_window_that_ends_between_two_bins_takes_a_share_of_both() {
        // Ten bins of 10 and then one of 110: the windows that end with it and before it hold 200 and 100.
        let sent = [vec![(0, 10); 11], vec![(0, 110)]].concat();
        let at = |rest: u64| bins(&sent).sent_until(12, Duration::from_millis(rest));
        assert_eq!(at(0), Bytes::new(200));
        // 14 of 35 ms earlier: 40 % of the window before.
        assert_eq!(at(14), Bytes::new(160));
    }

    #[test]
    fn bins_that_pass_without_an_ack_hold_what_the_one_before_them_does() {
        let mut late = bins(&[(10, 20), (30, 40)]);
        late.complete(late.end + Duration::from_millis(80), totals(100, 200));
        // 80 ms after the end of the third bin are two more.
        assert_eq!(late.newest, 5);
        let held: Vec<u64> = (0..=5)
            .map(|number| late.bin(number).delivered.as_u64())
            .collect();
        assert_eq!(held, [0, 10, 40, 40, 40, 100]);
    }

    #[test]
    fn the_drain_lets_one_packet_go_for_three_and_ends_with_an_rtt_of_deliveries() {
        // 20 Mbps and 100 ms hold 250 kB; the buffer never fills.
        let mut path = Bottleneck::new("reno:start=search", 20, 100, Bytes::new(1_000_000_000));
        path.run_to(DRAIN);
        let (begin, full) = (path.flow.now, path.flow.window());
        assert!(full > path.bdp() * 2, "{full}");
        path.run_to("congestion avoidance");
        assert_eq!(path.dropped, 0);
        // Three bins of 35 ms at 20 Mbps: 262.5 kB.
        let left = path.flow.window().as_u64() as f64;
        assert!((left / 262_500.0 - 1.0).abs() < 0.03, "{left}");
        assert_eq!(path.flow.variable("ssthresh"), Some(left));
        // A third of the 2.5 MB/s that are acknowledged is replaced.
        let drained = (full.as_u64() as f64 - left) / 2.5e6 * 1.5;
        let took = (path.flow.now - begin).as_secs_f64();
        assert!((took / drained - 1.0).abs() < 0.1, "{took} {drained}");
    }

    #[test]
    fn a_loss_in_the_drain_ends_it() {
        let mut path = Bottleneck::new("reno:start=search", 20, 100, Bytes::new(1_000_000_000));
        path.run_to(DRAIN);
        let (before, first) = (path.flow.window(), path.flow.in_flight()[0]);
        path.flow.lose(first);
        assert_eq!(path.flow.state(), "recovery");
        assert_eq!(path.flow.window(), before / 2);
    }

    #[test]
    fn a_flow_that_does_not_use_its_window_stays_in_slow_start() {
        let mut flow = Flow::new("reno:start=search");
        flow.app_limited = true;
        for _ in 0..50 {
            for packet in [flow.send(), flow.send()] {
                flow.advance(RTT / 2);
                flow.ack(packet);
            }
        }
        assert_eq!((flow.state(), flow.window()), ("slow start", MTU * 10));
    }

    proptest! {
        /// Gaps of any length, and RTTs down to a nanosecond.
        #[test]
        fn at_any_times_of_acks_the_next_bin_ends_later_and_a_target_was_delivered(
            steps in proptest::collection::vec((1_u64..200_000_000, 0_u64..100_000, 0_u64..100_000), 1..80),
            rtt in 1_u64..2_000_000_000,
        ) {
            let mut bins = Bins::new(Instant::START, Duration::from_nanos(rtt), Totals::default());
            let (mut now, mut delivered, mut sent) = (Instant::START, 0, 0);
            for (span, more, also) in steps {
                now += Duration::from_nanos(span);
                delivered += more;
                sent = delivered.max(sent + also);
                if now < bins.end {
                    continue;
                }
                bins.complete(now, totals(delivered, sent));
                prop_assert!(bins.end > now);
                bins.has_reached_capacity(Duration::from_nanos(rtt.div_ceil(2)));
                prop_assert!(bins.delivered_in_initial_rtt() <= Bytes::new(delivered));
            }
        }
    }
}
