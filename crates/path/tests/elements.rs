//! Elements of a path that hold, reorder or rewrite packets: what they realise, against what was asked for.

use thalweg_path::{
    EcnConfig, JitterConfig, Limit, Link, LinkConfig, LossConfig, Packet, QueueConfig, StepConfig,
};
use thalweg_units::{Bytes, Duration, Ecn, Fraction, Instant, Rate};

const MS: fn(u64) -> Duration = Duration::from_millis;
/// 1250 bytes at 10 Mbps.
const PACKET_TIME: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Probe {
    number: u64,
    ecn: Ecn,
}

impl Packet for Probe {
    fn size(&self) -> Bytes {
        Bytes::new(1250)
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn flow(&self) -> u64 {
        0
    }
}

/// 10 Mbps and 20 ms.
fn config() -> LinkConfig {
    LinkConfig::new(Rate::from_bits_per_sec(10_000_000), MS(20))
}

/// Packets that come in these intervals, and when they arrive.
fn pass(config: &LinkConfig, count: u64, gap: Duration, ecn: Ecn) -> Vec<(Instant, Probe)> {
    let mut link = Link::new(config, 1, 1);
    let mut arrivals = Vec::new();
    let mut collect = |link: &mut Link<Probe>, until: Instant| {
        while let Some(at) = link.next().filter(|at| *at <= until) {
            if let Some(probe) = link.pop(at) {
                arrivals.push((at, probe));
            }
        }
    };
    for number in 0..count {
        let now = Instant::START + gap * number;
        collect(&mut link, now);
        link.push(now, Probe { number, ecn });
    }
    collect(&mut link, Instant::START + Duration::from_secs(1_000_000));
    arrivals
}

#[test]
fn aggregated_packets_come_out_together_at_the_releases_and_none_before_its_time() {
    let mut config = config();
    config.jitter = JitterConfig::Bursts { every: MS(7) };
    let arrivals = pass(&config, 1000, PACKET_TIME, Ecn::Ect0);
    assert_eq!(arrivals.len(), 1000);
    for (at, probe) in &arrivals {
        // The last bit leaves after (number + 1) ms; the release is the next multiple of 7 ms, and the delay is 20 ms.
        let release = (probe.number + 1).next_multiple_of(7);
        assert_eq!(*at, Instant::START + MS(release + 20), "{probe:?}");
    }
    // Delays of 0 to 6 ms in turn: the mean is the mean of a uniform delay to within a packet.
    let mean = JitterConfig::Bursts { every: MS(7) }.expected_mean();
    assert_eq!(mean, Duration::from_micros(3_500));
}

#[test]
fn nr_bpdv_has_the_distribution_that_rfc_8868_asks_for() {
    // Packets 100 ms apart never meet: each has its own draw.
    let mut config = config();
    config.jitter = JitterConfig::NrBpdv {
        sd: MS(5),
        clip: 3000,
    };
    let arrivals = pass(&config, 100_000, MS(100), Ecn::NotEct);
    let mut drawn: Vec<f64> = (arrivals.iter())
        .map(|(at, probe)| {
            let due = Instant::START + MS(100 * probe.number) + PACKET_TIME + MS(20);
            (*at - due).as_secs_f64() * 1e3
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
    // |N(0, 5 ms)|: mean 5 sqrt(2 / pi) = 3.989 ms, less what lies beyond three deviations: 3.985 ms. Its standard deviation is
    // 3.0 ms, so 0.0095 ms of the mean of 100 000.
    assert!((mean - 3.985).abs() < 0.04, "{mean}");
    let expected = config.jitter.expected_mean().as_secs_f64() * 1e3;
    assert!((expected - 3.985).abs() < 0.001, "{expected}");
    for (share, quantile) in [(0.5, 3.372), (0.9, 8.224), (0.99, 12.879)] {
        let found = drawn[(share * drawn.len() as f64) as usize];
        assert!((found / quantile - 1.0).abs() < 0.02, "{share}: {found}");
    }
    // Clipped, not redrawn: 0.27 % are 15 ms.
    let clipped = drawn.iter().filter(|ms| **ms > 14.999).count();
    assert!((200..=340).contains(&clipped), "{clipped}");
    assert!(drawn.last().is_some_and(|most| *most < 15.001));
}

#[test]
fn nr_bpdv_keeps_packets_in_order_and_apart_by_their_time_at_the_capacity() {
    let mut config = config();
    config.jitter = JitterConfig::NrBpdv {
        sd: MS(5),
        clip: 3000,
    };
    // Half of the capacity, so that packets are 2 ms apart, but those behind a late one are 1 ms apart.
    let arrivals = pass(&config, 10_000, PACKET_TIME * 2, Ecn::NotEct);
    let gaps = arrivals.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert_eq!(gaps.clone().min(), Some(PACKET_TIME));
    assert!(gaps.filter(|gap| *gap == PACKET_TIME).count() > 2_000);
    assert!(arrivals.is_sorted_by_key(|(_, probe)| probe.number));
}

#[test]
fn reordered_packets_are_passed_by_as_many_as_asked_for_on_a_busy_link() {
    for extent in [1, 3, 20] {
        let mut config = config();
        config.reorder = true;
        let share = Fraction::from_f64(0.002);
        config.jitter = JitterConfig::Reordering { share, extent };
        let arrivals = pass(&config, 100_000, PACKET_TIME, Ecn::NotEct);
        // RFC 4737 section 4.2: the extent of a late packet is the distance to the first that arrived with a larger number.
        let mut extents = Vec::new();
        let mut seen: Vec<u64> = Vec::new();
        for (_, probe) in &arrivals {
            let earlier = seen
                .iter()
                .rev()
                .take_while(|number| **number > probe.number);
            let passed = earlier.count();
            if passed > 0 {
                extents.push(passed);
            }
            seen.push(probe.number);
        }
        // 200 of 100 000 with a standard deviation of 14.
        assert!(
            (140..=260).contains(&extents.len()),
            "{extent}: {}",
            extents.len()
        );
        // Others that are held within the extent do not pass it.
        let exact = extents
            .iter()
            .filter(|found| **found == extent as usize)
            .count();
        assert!(extents.iter().all(|found| *found <= extent as usize));
        assert!(
            exact * 100 >= extents.len() * 85,
            "{extent}: {exact} of {}",
            extents.len()
        );
    }
}

/// A queue that marks every packet that waits.
fn marking() -> LinkConfig {
    let mut config = config();
    config.queue = QueueConfig::Step(StepConfig {
        threshold: Limit::Packets(1),
        drop: false,
    });
    config
}

#[test]
fn bleaching_clears_codepoints_and_marks_and_nothing_else() {
    let codepoints = |ecn: EcnConfig, sent: Ecn| {
        let mut config = marking();
        config.ecn = ecn;
        // Ten at once: all but the first find one before them.
        let arrivals = pass(&config, 10, Duration::ZERO, sent);
        let of = |codepoint: Ecn| arrivals.iter().filter(|(_, p)| p.ecn == codepoint).count();
        [of(Ecn::NotEct), of(sent), of(Ecn::Ce)]
    };
    assert_eq!(codepoints(EcnConfig::Kept, Ecn::Ect0), [0, 1, 9]);
    assert_eq!(codepoints(EcnConfig::Bleached, Ecn::Ect0), [10, 0, 0]);
    assert_eq!(codepoints(EcnConfig::Bleached, Ecn::Ect1), [10, 0, 0]);
    assert_eq!(codepoints(EcnConfig::Bleached, Ecn::Ce), [10, 0, 0]);
    assert_eq!(codepoints(EcnConfig::CeLost, Ecn::Ect0), [0, 1, 0]);
    // Hidden marks leave the codepoint that the packet came with; of one that came with CE that is ECT(0).
    assert_eq!(codepoints(EcnConfig::CeHidden, Ecn::Ect1), [0, 10, 0]);
    assert_eq!(codepoints(EcnConfig::CeHidden, Ecn::Ect0), [0, 10, 0]);
    assert_eq!(codepoints(EcnConfig::CeHidden, Ecn::Ce), [0, 0, 0]);
}

#[test]
fn what_is_lost_for_its_mark_has_used_the_capacity_and_leaves_the_draws_of_loss_alone() {
    let mut config = marking();
    config.loss = LossConfig::Random {
        rate: Fraction::from_f64(0.3),
    };
    let numbers = |ecn: EcnConfig, sent: Ecn| {
        let mut config = config.clone();
        config.ecn = ecn;
        let arrivals = pass(&config, 100, PACKET_TIME * 2, sent);
        arrivals
            .iter()
            .map(|(at, probe)| (*at, probe.number))
            .collect::<Vec<_>>()
    };
    // Alone, no packet is marked; packets that come with CE are lost, whoever marked them.
    let kept = numbers(EcnConfig::Kept, Ecn::Ect0);
    assert_eq!(numbers(EcnConfig::CeLost, Ecn::Ect0), kept);
    assert_eq!(numbers(EcnConfig::CeLost, Ecn::Ce), []);
    assert_eq!(numbers(EcnConfig::Bleached, Ecn::Ce), kept);
}
