//! Whether each discipline controls the delay of an overloaded link as its document says: with
//! responsive sources, and with one that sends at twice the capacity.

use std::collections::VecDeque;
use thalweg_path::test_packet::{TestPacket, ms};
use thalweg_path::{
    CakeConfig, CodelConfig, DualPi2Config, FqCodelConfig, Limit, Link, LinkConfig, PieConfig,
    QueueConfig, RedConfig,
};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

const SIZE: u64 = 1250;
/// A packet of 1250 bytes takes 1 ms.
const RATE: Rate = Rate::from_bits_per_sec(10_000_000);

fn secs(n: u64) -> Instant {
    Instant::START + Duration::from_secs(n)
}

/// A source of the kind that AQMs are designed for: a packet more per round trip; once per round trip with
/// congestion, half the window less, or, for marks on ECT(1), half the fraction of marked packets (RFC 8257).
struct Source {
    window: f64,
    /// Packets sent and not known to have arrived or to be lost.
    outstanding: u64,
    next: u64,
    expected: u64,
    /// The reaction to congestion covers what was sent before this one.
    covered: u64,
    ecn: Ecn,
    /// Smoothed fraction of marks, taken at the end of each round trip.
    alpha: f64,
    round: u64,
    marks: u64,
    acknowledged: u64,
}

impl Source {
    fn new(ecn: Ecn) -> Self {
        Source {
            window: 10.0,
            outstanding: 0,
            next: 0,
            expected: 0,
            covered: 0,
            ecn,
            alpha: 1.0,
            round: 0,
            marks: 0,
            acknowledged: 0,
        }
    }

    fn acknowledge(&mut self, sequence: u64, ce: bool) {
        let lost = sequence - self.expected;
        self.expected = sequence + 1;
        self.outstanding -= lost + 1;
        self.window += 1.0 / self.window;
        self.acknowledged += 1;
        self.marks += u64::from(ce);
        if sequence >= self.round {
            let fraction = self.marks as f64 / self.acknowledged as f64;
            self.alpha += (fraction - self.alpha) / 16.0;
            (self.marks, self.acknowledged) = (0, 0);
            self.round = self.next;
        }
        if (lost == 0 && !ce) || sequence < self.covered {
            return;
        }
        self.covered = self.next;
        let scalable = self.ecn == Ecn::Ect1 && lost == 0;
        let less = if scalable { self.alpha / 2.0 } else { 0.5 };
        self.window = (self.window * (1.0 - less)).max(2.0);
    }
}

/// Results of a run between its warm-up and its end.
struct Seen {
    /// Mean wait in the queue of each flow, in milliseconds.
    wait: Vec<f64>,
    /// Bytes of each flow as a part of what the link could carry.
    share: Vec<f64>,
    mean_queue: f64,
    dropped: u64,
    marked: u64,
}

impl Seen {
    fn mean_wait(&self) -> f64 {
        let weighted = self
            .wait
            .iter()
            .zip(&self.share)
            .map(|(wait, share)| wait * share);
        weighted.sum::<f64>() / self.share.iter().sum::<f64>()
    }
    fn utilisation(&self) -> f64 {
        self.share.iter().sum()
    }
}

const WARM_UP: u64 = 20;
const END: u64 = 60;

/// A flow that does not respond: packets a second, and their codepoint.
type Steady = (u64, Ecn);

/// Runs windows of the given kinds, with a round-trip time of 50 ms plus the queue, next to a steady flow, the
/// last one in the result.
fn run(queue: QueueConfig, kinds: &[Ecn], (steady, codepoint): Steady) -> Seen {
    let mut config = LinkConfig::new(RATE, ms(25));
    config.queue = queue;
    config.limit = Limit::Bytes(Bytes::new(5_000_000));
    let flows = kinds.len() + 1;
    let mut link = Link::new(&config, 1, flows);
    let mut sources: Vec<_> = kinds.iter().map(|ecn| Source::new(*ecn)).collect();
    let mut acks: VecDeque<(Instant, u64, u64, bool)> = VecDeque::new();
    let gap = Duration::from_nanos(1_000_000_000 / steady.max(1));
    let mut tick = if steady > 0 {
        Instant::START
    } else {
        Instant::NEVER
    };
    let mut before = None;
    let snapshot = |link: &Link<TestPacket>| {
        let flows: Vec<_> = (0..flows as u64)
            .map(|flow| link.flow_stats(flow).clone())
            .collect();
        (flows, link.stats())
    };
    let mut now = Instant::START;
    loop {
        for (flow, source) in sources.iter_mut().enumerate() {
            while (source.outstanding as f64) < source.window {
                let (sequence, ecn) = (source.next, source.ecn);
                link.push(
                    now,
                    TestPacket {
                        flow: flow as u64,
                        ecn,
                        sent: now,
                        ..TestPacket::new(sequence, SIZE)
                    },
                );
                source.next += 1;
                source.outstanding += 1;
            }
        }
        let ack = acks.front().map(|ack| ack.0);
        let Some(next) = [ack, link.next(), Some(tick)].into_iter().flatten().min() else {
            break;
        };
        now = next;
        if now >= secs(WARM_UP) && before.is_none() {
            before = Some(snapshot(&link));
        }
        if now >= secs(END) {
            break;
        }
        if tick <= now {
            let flow = kinds.len() as u64;
            link.push(
                now,
                TestPacket {
                    flow,
                    ecn: codepoint,
                    sent: now,
                    ..TestPacket::new(0, SIZE)
                },
            );
            tick += gap;
        }
        while let Some(packet) = link.pop(now) {
            assert!(packet.sent + ms(26) <= now);
            if (packet.flow as usize) < sources.len() {
                let ce = packet.ecn == Ecn::Ce;
                acks.push_back((now + ms(25), packet.flow, packet.number, ce));
            }
        }
        while acks.front().is_some_and(|ack| ack.0 <= now) {
            if let Some((_, flow, sequence, ce)) = acks.pop_front() {
                sources[flow as usize].acknowledge(sequence, ce);
            }
        }
    }
    let (first, whole_first) = before.expect("the run is longer than its warm-up");
    let (last, whole) = snapshot(&link);
    let capacity = link.capacity_between(secs(WARM_UP), secs(END)).as_u64() as f64;
    let mut seen = Seen {
        wait: Vec::new(),
        share: Vec::new(),
        mean_queue: (whole.queue_byte_nanos - whole_first.queue_byte_nanos) as f64
            / ((END - WARM_UP) as f64 * 1e9),
        dropped: whole.dropped.packets - whole_first.dropped.packets,
        marked: whole.marked.packets - whole_first.marked.packets,
    };
    for (first, last) in first.iter().zip(&last) {
        let packets = last.transmitted.packets - first.transmitted.packets;
        let wait = (last.queue_wait - first.queue_wait).as_secs_f64() * 1e3;
        seen.wait.push(if packets == 0 {
            0.0
        } else {
            wait / packets as f64
        });
        let bytes = last.transmitted.bytes - first.transmitted.bytes;
        seen.share.push(bytes.as_u64() as f64 / capacity);
    }
    seen
}

/// Five sources of one kind.
const CLASSIC: &[Ecn] = &[Ecn::NotEct; 5];
const CAPABLE: &[Ecn] = &[Ecn::Ect0; 5];
const SCALABLE: &[Ecn] = &[Ecn::Ect1; 5];
const NOBODY: &[Ecn] = &[];
/// Twice the capacity, in packets a second.
const DOUBLE: Steady = (2_000, Ecn::NotEct);
const SILENCE: Steady = (0, Ecn::NotEct);

fn within(range: std::ops::RangeInclusive<f64>, value: f64) {
    assert!(range.contains(&value), "{value} is not in {range:?}");
}

#[test]
fn drop_tail_fills_what_it_is_given() {
    // The measure of the others: 5 MB at 10 Mbps are 4 s.
    let seen = run(QueueConfig::DropTail, NOBODY, DOUBLE);
    within(3_990.0..=4_000.0, seen.mean_wait());
}

#[test]
fn codel_keeps_the_wait_near_its_target_and_the_link_busy() {
    // RFC 8289 section 4.3: a standing queue of 5 ms costs next to no utilisation. What is controlled is the
    // least wait in an interval, so the mean lies above, but by less than as much again and a half.
    for (kinds, marked) in [(CLASSIC, false), (CAPABLE, true)] {
        let seen = run(QueueConfig::Codel(CodelConfig::default()), kinds, SILENCE);
        within(5.0..=12.5, seen.mean_wait());
        within(0.98..=1.0, seen.utilisation());
        assert_eq!((seen.marked > 0, seen.dropped > 0), (marked, !marked));
    }
}

#[test]
fn fq_codel_keeps_the_wait_near_its_target_and_gives_everyone_the_same() {
    let seen = run(
        QueueConfig::FqCodel(FqCodelConfig::default()),
        CLASSIC,
        SILENCE,
    );
    within(5.0..=12.5, seen.mean_wait());
    within(0.95..=1.0, seen.utilisation());
    for share in &seen.share[..5] {
        within(0.19..=0.2, *share);
    }
}

#[test]
fn fq_codel_shields_flows_from_one_that_does_not_respond() {
    // RFC 8290 section 5.8: isolation. Each of four flows is due a quarter.
    let queue = QueueConfig::FqCodel(FqCodelConfig::default());
    let seen = run(queue, &[Ecn::NotEct; 3], DOUBLE);
    for share in &seen.share[..3] {
        within(0.23..=0.26, *share);
    }
    within(0.24..=0.31, seen.share[3]);
    within(4.0..=12.5, seen.wait[0]);
    // With drop-tail they starve.
    let seen = run(QueueConfig::DropTail, &[Ecn::NotEct; 3], DOUBLE);
    within(0.9..=1.0, seen.share[3]);
}

#[test]
fn fq_codel_lets_a_sparse_flow_pass_by() {
    // RFC 8290 section 4.2: a flow of 5 % waits for the packet in transmission, 1 ms, and perhaps for those
    // of three others that are new at the same time, while those wait about the target.
    let queue = QueueConfig::FqCodel(FqCodelConfig::default());
    let seen = run(queue, &[Ecn::NotEct; 3], (50, Ecn::NotEct));
    within(0.0..=2.0, seen.wait[3]);
    within(4.0..=12.5, seen.wait[0]);
    within(0.0499..=0.0501, seen.share[3]);
}

/// CAKE without a shaper.
fn cake() -> QueueConfig {
    QueueConfig::Cake(CakeConfig::default())
}

#[test]
fn cake_keeps_the_wait_near_its_target_and_gives_everyone_the_same() {
    // Five windows of half a packet more a round trip: as under FQ-CoDel, and COBALT's second signal comes sooner.
    for (kinds, marked) in [(CLASSIC, false), (CAPABLE, true)] {
        let seen = run(cake(), kinds, SILENCE);
        within(3.0..=12.5, seen.mean_wait());
        within(0.93..=1.0, seen.utilisation());
        for share in &seen.share[..5] {
            within(0.18..=0.21, *share);
        }
        assert_eq!((seen.marked > 0, seen.dropped > 0), (marked, !marked));
    }
}

#[test]
fn cake_shields_flows_from_one_that_does_not_respond() {
    let seen = run(cake(), &[Ecn::NotEct; 3], DOUBLE);
    for share in &seen.share[..3] {
        within(0.23..=0.26, *share);
    }
    within(0.24..=0.31, seen.share[3]);
    within(3.0..=12.5, seen.wait[0]);
}

#[test]
fn cake_lets_a_sparse_flow_pass_by() {
    let seen = run(cake(), &[Ecn::NotEct; 3], (50, Ecn::NotEct));
    within(0.0..=2.0, seen.wait[3]);
    within(3.0..=12.5, seen.wait[0]);
    within(0.0499..=0.0501, seen.share[3]);
}

#[test]
fn pie_holds_the_delay_at_its_target_whatever_the_load() {
    // RFC 8033 section 4.2: the integral term leaves no error, with five windows or twice the capacity.
    let config = PieConfig {
        ecn: true,
        ..PieConfig::default()
    };
    for (kinds, steady) in [(CLASSIC, SILENCE), (CAPABLE, SILENCE), (NOBODY, DOUBLE)] {
        let seen = run(QueueConfig::Pie(config), kinds, steady);
        within(12.0..=18.0, seen.mean_wait());
        within(0.98..=1.0, seen.utilisation());
    }
    // Half of what comes at twice the capacity: 1000 a second for 40 s.
    let seen = run(QueueConfig::Pie(config), NOBODY, DOUBLE);
    within(39_500.0..=40_500.0, seen.dropped as f64);
}

#[test]
fn dualpi2_holds_classic_traffic_at_its_target_and_l4s_below_the_step() {
    let queue = || QueueConfig::DualPi2(DualPi2Config::default());
    for (kinds, steady) in [(CLASSIC, SILENCE), (CAPABLE, SILENCE), (NOBODY, DOUBLE)] {
        let seen = run(queue(), kinds, steady);
        within(12.0..=18.0, seen.mean_wait());
        within(0.98..=1.0, seen.utilisation());
    }
    // The step at 1 ms acts on packets that leave two others behind, 3 ms of work on this link.
    let seen = run(queue(), SCALABLE, SILENCE);
    within(1.0..=4.0, seen.mean_wait());
    within(0.95..=1.0, seen.utilisation());
    assert_eq!(seen.dropped, 0);
}

#[test]
fn dualpi2_makes_classic_and_l4s_flows_share_like_one_kind() {
    // RFC 9332 section 2.1: the coupling balances the rates, to within a factor of two (section 5 of the PI2
    // paper, CoNEXT 2016), while each queue keeps its own delay.
    let kinds = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1];
    let seen = run(
        QueueConfig::DualPi2(DualPi2Config::default()),
        &kinds,
        SILENCE,
    );
    let (classic, scalable) = (seen.share[0] + seen.share[1], seen.share[2] + seen.share[3]);
    within(0.5..=2.0, classic / scalable);
    within(12.0..=18.0, seen.wait[0]);
    within(0.5..=2.5, seen.wait[2]);
    within(0.98..=1.0, seen.utilisation());
    // In one CoDel queue the scalable flows, which yield less to a mark, take most of it.
    let seen = run(QueueConfig::Codel(CodelConfig::default()), &kinds, SILENCE);
    within(
        3.0..=10.0,
        (seen.share[2] + seen.share[3]) / (seen.share[0] + seen.share[1]),
    );
}

#[test]
fn dualpi2_keeps_the_delay_when_l4s_packets_alone_overload_it() {
    // RFC 9332 A.2: then they are dropped, half of them here, and the delay is the delay of Classic.
    let queue = QueueConfig::DualPi2(DualPi2Config::default());
    let seen = run(queue, NOBODY, (2_000, Ecn::Ect1));
    within(12.0..=18.0, seen.mean_wait());
    within(39_500.0..=40_500.0, seen.dropped as f64);
}

#[test]
fn red_holds_the_average_between_its_thresholds() {
    let config = RedConfig::default();
    let (min, max) = (config.min.as_u64() as f64, config.max.as_u64() as f64);
    let seen = run(QueueConfig::Red(config), CLASSIC, SILENCE);
    within(min..=max, seen.mean_queue);
    within(0.9..=1.0, seen.utilisation());
    // To drop half, more than 10 %, the average has to lie between max and twice max (`gentle`).
    let seen = run(QueueConfig::Red(config), NOBODY, DOUBLE);
    within(max..=2.0 * max, seen.mean_queue);
    within(39_500.0..=40_500.0, seen.dropped as f64);
}
