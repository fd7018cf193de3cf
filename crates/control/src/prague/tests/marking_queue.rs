//! Prague over a queue that marks above one millisecond.

use super::path::MarkingQueue;
use crate::fake_transport::MTU;
use thalweg_units::{Duration, Rate};

const MS: fn(u64) -> Duration = Duration::from_millis;
const RATE: Rate = Rate::from_bits_per_sec(50_000_000);
const SPAN: Duration = Duration::from_secs(20);

/// Runs five times `SPAN` to settle and one to measure; gives the shares of the link and the queue.
fn measure(flows: &[(&str, Duration)]) -> (Vec<f64>, MarkingQueue) {
    let mut queue = MarkingQueue::new(RATE, MS(1), flows);
    queue.run(SPAN * 5);
    queue.take_counts();
    queue.run(SPAN);
    let all = RATE.bytes_in(SPAN).as_u64() / MTU.as_u64();
    let longest_wait = queue.longest_wait;
    let counts = queue.take_counts();
    queue.longest_wait = longest_wait;
    for count in &counts {
        assert!(count.marked > 0 && count.marked < count.delivered / 2);
    }
    let share = |count: &super::path::Count| count.delivered as f64 / all as f64;
    (counts.iter().map(share).collect(), queue)
}

#[test]
fn one_flow_fills_the_link_with_a_queue_of_a_few_milliseconds() {
    for rtt in [5, 20, 50] {
        let (shares, queue) = measure(&[("prague", MS(rtt))]);
        assert!((0.9..=1.0).contains(&shares[0]), "{rtt} ms: {shares:?}");
        let wait = queue.longest_wait;
        assert!(wait > MS(1) && wait < MS(4), "{rtt} ms: {wait}");
    }
}

#[test]
fn flows_of_equal_rtt_share_equally() {
    let (shares, _) = measure(&[("prague", MS(20)); 4]);
    let total: f64 = shares.iter().sum();
    assert!((0.9..=1.0).contains(&total), "{shares:?}");
    for share in &shares {
        assert!((0.15..0.35).contains(share), "{shares:?}");
    }
}

#[test]
fn the_virtual_rtt_keeps_a_short_path_from_starving_a_longer_one() {
    let ratio = |name: &str| {
        let (shares, _) = measure(&[(name, MS(5)), (name, MS(25))]);
        shares[0] / shares[1]
    };
    let (independent, dependent) = (ratio("prague"), ratio("prague:rtt_independence=off"));
    assert!((0.5..2.0).contains(&independent), "{independent}");
    assert!(
        dependent > 2.0 * independent,
        "{dependent} against {independent}"
    );
}
