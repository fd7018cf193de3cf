//! CoDel: controlled delay (RFC 8289).
//!
//! # Model
//! Packets that leave are judged by how long they waited. When the wait has been above the target for a whole
//! interval, packets are dropped, or marked if they are ECN-capable, at times that come closer with the
//! square root of their number, until the wait is below the target.
//!
//! The reaction to marks is that of Linux, which the RFC leaves open: a marked packet is delivered, and counts
//! as a drop for the control law.

use super::fifo::Fifo;
use super::{Discipline, is_capable};
use crate::DropCause;
use crate::buffer::{Buffer, Queued};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelConfig {
    /// Wait that is acceptable for ever; 5 ms (RFC 8289 section 4.4).
    pub target: Duration,
    /// Time within which the wait must fall below the target; 100 ms (section 4.3).
    pub interval: Duration,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// ECT(1) packets that waited longer than this are marked at once (Linux `ce_threshold`).
    pub ce_threshold: Option<Duration>,
}

impl Default for CodelConfig {
    fn default() -> Self {
        CodelConfig {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: true,
            ce_threshold: None,
        }
    }
}

/// The controller of one queue: all state of RFC 8289 section 5.3.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// When the wait will have been above the target for an interval.
    first_above: Option<Instant>,
    drop_next: Instant,
    /// Drops since the dropping state was entered, and their number when it was entered last.
    count: u32,
    last_count: u32,
    dropping: bool,
    largest: Bytes,
}

impl Control {
    /// The next packet of `queue` to transmit (RFC 8289 section 5.5).
    pub(super) fn dequeue(
        &mut self,
        config: &CodelConfig,
        queue: &mut Fifo,
        buffer: &mut Buffer,
    ) -> Option<Queued> {
        let now = buffer.now;
        let (mut packet, mut may_drop) = self.pop(config, queue, now);
        if self.dropping {
            self.dropping &= may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if let Some(marked) = signal(config, &mut packet, buffer) {
                    self.drop_next += spacing(config.interval, self.count);
                    return Some(marked);
                }
                (packet, may_drop) = self.pop(config, queue, now);
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next += spacing(config.interval, self.count);
                }
            }
        } else if may_drop {
            let marked = signal(config, &mut packet, buffer);
            if marked.is_none() {
                (packet, _) = self.pop(config, queue, now);
            }
            self.dropping = true;
            // Soon after the last time, its rate of dropping is a good one to start from.
            let delta = self.count - self.last_count;
            let recent = now < self.drop_next + config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = now + spacing(config.interval, self.count);
            self.last_count = self.count;
            packet = marked.or(packet);
        }
        if let (Some(packet), Some(threshold)) = (&mut packet, config.ce_threshold)
            && packet.ecn == Ecn::Ect1
            && now - packet.arrived > threshold
        {
            buffer.mark(packet);
        }
        packet
    }

    /// A packet, and whether it may be dropped (RFC 8289 section 5.6).
    fn pop(
        &mut self,
        config: &CodelConfig,
        queue: &mut Fifo,
        now: Instant,
    ) -> (Option<Queued>, bool) {
        let Some(packet) = queue.pop() else {
            self.first_above = None;
            return (None, false);
        };
        self.largest = self.largest.max(packet.size);
        let wait = now - packet.arrived;
        if wait < config.target || queue.bytes() <= self.largest {
            self.first_above = None;
            return (Some(packet), false);
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + config.interval);
                (Some(packet), false)
            }
            Some(time) => (Some(packet), now >= time),
        }
    }
}

/// Tells the sender: returns the packet if marking it was enough, and drops it otherwise.
fn signal(
    config: &CodelConfig,
    packet: &mut Option<Queued>,
    buffer: &mut Buffer,
) -> Option<Queued> {
    let mut packet = packet.take()?;
    if config.ecn && is_capable(packet.ecn) {
        buffer.mark(&mut packet);
        return Some(packet);
    }
    buffer.drop(packet, DropCause::Early);
    None
}

/// The control law: interval / sqrt(count) (RFC 8289 section 5.4).
fn spacing(interval: Duration, count: u32) -> Duration {
    let nanos = interval.as_nanos() as f64 / libm::sqrt(f64::from(count.max(1)));
    Duration::from_nanos(nanos as u64)
}

/// One queue under CoDel.
#[derive(Debug)]
pub(crate) struct Codel {
    config: CodelConfig,
    queue: Fifo,
    control: Control,
}

impl Codel {
    pub(super) fn new(config: CodelConfig) -> Self {
        Codel {
            config,
            queue: Fifo::default(),
            control: Control::default(),
        }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, newest: Queued, buffer: &mut Buffer) {
        if buffer.fits(newest.size) {
            self.queue.push(newest);
        } else {
            buffer.drop(newest, DropCause::Full);
        }
    }

    fn dequeue(&mut self, buffer: &mut Buffer) -> Option<Queued> {
        self.control.dequeue(&self.config, &mut self.queue, buffer)
    }

    fn youngest(&self) -> Option<Bytes> {
        self.queue.youngest().map(|packet| packet.size)
    }

    fn take_youngest(&mut self) -> Option<Queued> {
        self.queue.pop_youngest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{Bench, ms};

    fn bench(ecn: Ecn) -> Bench<Codel> {
        Bench::new(Codel::new(CodelConfig::default()), ecn)
    }

    #[test]
    fn the_control_law_divides_the_interval_by_the_root_of_the_count() {
        let interval = Duration::from_millis(100);
        let nanos = [1, 2, 4, 100].map(|count| spacing(interval, count).as_nanos());
        // 100 ms / sqrt(2) = 70.710678 ms
        assert_eq!(nanos, [100_000_000, 70_710_678, 50_000_000, 10_000_000]);
    }

    #[test]
    fn the_first_drop_comes_one_interval_after_the_wait_rose_above_the_target() {
        let mut bench = bench(Ecn::NotEct);
        bench.fill(500);
        // A packet a millisecond: the first to have waited 5 ms leaves at 5 ms, and 100 ms later the
        // interval is over.
        let mut drops = Vec::new();
        for at in 0..300 {
            let before = bench.dropped();
            bench.dequeue(ms(at));
            if bench.dropped() > before {
                drops.push(at);
            }
        }
        // 105, then + 100/sqrt(1) = 205, + 100/sqrt(2) = 275.7
        assert_eq!(drops, [105, 205, 276]);
    }

    #[test]
    fn a_wait_below_the_target_ends_the_dropping() {
        let mut bench = bench(Ecn::NotEct);
        bench.fill(200);
        for at in 0..110 {
            bench.dequeue(ms(at));
        }
        assert_eq!(bench.dropped(), 1);
        while bench.dequeue(ms(110)).is_some() {}
        let dropped = bench.dropped();
        // Fresh packets hardly wait: nothing is dropped any more.
        for at in 111..400 {
            bench.arrive(ms(at));
            bench.arrive(ms(at));
            bench.dequeue(ms(at));
            bench.dequeue(ms(at));
        }
        assert_eq!(bench.dropped(), dropped);
    }

    #[test]
    fn dropping_that_starts_again_soon_goes_on_where_it_stopped() {
        let mut control = Control {
            count: 12,
            last_count: 4,
            drop_next: ms(1_000),
            first_above: Some(ms(1_100)),
            ..Control::default()
        };
        let mut bench = bench(Ecn::NotEct);
        bench.fill(10);
        let config = CodelConfig::default();
        bench.buffer.now = ms(1_150);
        control.dequeue(&config, &mut bench.discipline.queue, &mut bench.buffer);
        // 12 - 4 = 8 drops since it was entered last, 150 ms ago, which is less than 16 intervals.
        assert_eq!((control.count, control.last_count), (8, 8));
        // 1150 + 100/sqrt(8) = 1185.355 ms
        assert_eq!(control.drop_next.as_nanos(), 1_185_355_339);
    }

    #[test]
    fn packets_that_are_ecn_capable_are_marked_and_none_is_dropped() {
        let mut bench = bench(Ecn::Ect0);
        bench.fill(500);
        for at in 0..300 {
            bench.dequeue(ms(at));
        }
        assert_eq!((bench.dropped(), bench.marked()), (0, 3));
    }

    #[test]
    fn a_queue_of_one_packet_is_never_too_long() {
        let mut bench = bench(Ecn::NotEct);
        for at in (0..3_000).step_by(10) {
            // Each packet waits 10 ms, twice the target, but alone.
            bench.arrive(ms(at));
            assert!(bench.dequeue(ms(at + 10)).is_some());
        }
        assert_eq!(bench.dropped(), 0);
    }
}
