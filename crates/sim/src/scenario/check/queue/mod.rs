//! Queue disciplines of a scenario file, as the path knows them.

mod cake;

use crate::scenario::schema::{self, BufferSize, Path, Queue};
use thalweg_path::{
    AckFilter, CakeConfig, Cells, CodelConfig, DualPi2Config, FqCodelConfig, Framing, PieConfig,
    QueueConfig, RedConfig, StepConfig,
};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

/// The lowest rate of a shaper: a packet takes 12 s.
const LEAST_BANDWIDTH: Rate = Rate::from_bits_per_sec(1000);

/// The most that `tc-cake` accepts for `overhead` and `mpu`.
const MOST_FRAMING: Bytes = Bytes::new(256);

/// The given values, and the defaults of the RFC for the rest.
pub(super) fn config(queue: &Queue) -> QueueConfig {
    match *queue {
        Queue::DropTail {} => QueueConfig::DropTail,
        Queue::HeadDrop {} => QueueConfig::HeadDrop,
        Queue::Codel {
            target,
            interval,
            ecn,
            ce_threshold,
        } => QueueConfig::Codel(codel(target, interval, ecn, ce_threshold)),
        Queue::FqCodel {
            target,
            interval,
            ecn,
            ce_threshold,
            flows,
            quantum,
        } => {
            let standard = FqCodelConfig::default();
            QueueConfig::FqCodel(FqCodelConfig {
                codel: codel(target, interval, ecn, ce_threshold),
                flows: flows.unwrap_or(standard.flows),
                quantum: quantum.unwrap_or(standard.quantum),
                ..standard
            })
        }
        Queue::Cake {
            bandwidth,
            rtt,
            ack_filter,
            overhead,
            mpu,
            framing,
        } => QueueConfig::Cake(CakeConfig {
            bandwidth,
            rtt: rtt.map_or(CakeConfig::default().rtt, |rtt| rtt.0),
            ack_filter: match ack_filter {
                None => AckFilter::Off,
                Some(schema::AckFilter::Conservative) => AckFilter::Conservative,
                Some(schema::AckFilter::Aggressive) => AckFilter::Aggressive,
            },
            framing: Framing {
                overhead: overhead.unwrap_or_default(),
                mpu: mpu.unwrap_or_default(),
                cells: match framing {
                    None => Cells::None,
                    Some(schema::Framing::Atm) => Cells::Atm,
                    Some(schema::Framing::Ptm) => Cells::Ptm,
                },
            },
        }),
        Queue::Pie {
            target,
            update,
            burst,
            ecn,
            mark_below,
        } => {
            let standard = PieConfig::default();
            QueueConfig::Pie(PieConfig {
                target: target.unwrap_or(standard.target),
                update: update.unwrap_or(standard.update),
                max_burst: burst.unwrap_or(standard.max_burst),
                ecn: ecn.unwrap_or(standard.ecn),
                mark_below: mark_below.unwrap_or(standard.mark_below),
                ..standard
            })
        }
        Queue::DualPi2 {
            target,
            max_rtt,
            step,
            ramp,
        } => {
            let standard = DualPi2Config::default();
            let target = target.unwrap_or(standard.target);
            let rtt_max = max_rtt.unwrap_or(standard.rtt_max);
            QueueConfig::DualPi2(DualPi2Config {
                target,
                // Tupdate of RFC 9332 appendix A.1.
                update: target.min(rtt_max / 3),
                rtt_max,
                step: step.unwrap_or(standard.step),
                ramp: ramp.unwrap_or(standard.ramp),
                ..standard
            })
        }
        Queue::Red {
            min,
            max,
            max_probability,
            gentle,
            ecn,
        } => {
            let standard = RedConfig::default();
            QueueConfig::Red(RedConfig {
                min: min.unwrap_or(standard.min),
                max: max.unwrap_or(standard.max),
                max_p: max_probability.unwrap_or(standard.max_p),
                gentle: gentle.unwrap_or(standard.gentle),
                ecn: ecn.unwrap_or(standard.ecn),
                ..standard
            })
        }
        // `problem` refuses thresholds that need a path.
        Queue::Step { threshold, drop } => QueueConfig::Step(StepConfig {
            threshold: threshold.limit(Rate::ZERO, Duration::ZERO),
            drop: drop.unwrap_or(false),
        }),
    }
}

fn codel(
    target: Option<Duration>,
    interval: Option<Duration>,
    ecn: Option<bool>,
    ce_threshold: Option<Duration>,
) -> CodelConfig {
    let standard = CodelConfig::default();
    CodelConfig {
        target: target.unwrap_or(standard.target),
        interval: interval.unwrap_or(standard.interval),
        ecn: ecn.unwrap_or(standard.ecn),
        ce_threshold,
        ..standard
    }
}

/// The disciplines of a hop and their keys.
pub(super) fn all(hop: &Path) -> Vec<(String, &Queue)> {
    let up = hop.up.as_ref().and_then(|up| up.queue.as_deref());
    let start = [("queue", hop.queue.as_deref()), ("up.queue", up)];
    let start = start.map(|(key, queue)| (key.to_owned(), queue));
    let changes = hop.change.iter().enumerate().flat_map(|(index, change)| {
        let given = [("queue", &change.queue), ("up_queue", &change.up_queue)];
        given.map(|(key, queue)| (format!("change.{index}.{key}"), queue.as_deref()))
    });
    let all = start.into_iter().chain(changes);
    all.filter_map(|(key, queue)| Some((key, queue?))).collect()
}

/// The update interval of a discipline, and its key.
pub(super) fn update(queue: &Queue) -> Option<(&'static str, Duration)> {
    match config(queue) {
        QueueConfig::Pie(pie) => Some(("update", pie.update)),
        QueueConfig::DualPi2(dual) => Some(("target", dual.update)),
        _ => None,
    }
}

/// Number of queues of a discipline beyond one.
pub(super) fn queues(queue: &Queue) -> u64 {
    match config(queue) {
        QueueConfig::FqCodel(fq) => u64::from(fq.flows),
        QueueConfig::Cake(_) => CakeConfig::QUEUES,
        _ => 0,
    }
}

/// The problem with the parameters of a discipline, and what is accepted.
pub(super) fn problem(queue: &Queue) -> Option<String> {
    let zero = |name: &str, time: Duration| {
        let shortest = Duration::from_micros(10);
        (time < shortest)
            .then(|| format!("{name} \"{time}\" is too short; accepted: \"10 us\" or more"))
    };
    if let Queue::Step { threshold, .. } = queue
        && let BufferSize::Unlimited | BufferSize::Bdp(_) = threshold
    {
        return Some(format!(
            "threshold \"{threshold}\" is not the length of a queue; accepted: \"65 packets\", \"100 kB\", \"1 ms\""
        ));
    }
    match config(queue) {
        QueueConfig::Codel(codel) => zero("interval", codel.interval),
        QueueConfig::FqCodel(fq) => {
            if !(1..=65_536).contains(&fq.flows) {
                return Some(format!(
                    "flows {} is out of range; accepted: 1 to 65536",
                    fq.flows
                ));
            }
            if fq.quantum < Bytes::new(64) {
                let problem = format!(
                    "quantum \"{}\" is too small; accepted: \"64 B\" or more",
                    fq.quantum
                );
                return Some(problem);
            }
            zero("interval", fq.codel.interval)
        }
        QueueConfig::Cake(cake) => match cake.bandwidth {
            Some(rate) if rate < LEAST_BANDWIDTH => Some(format!(
                "bandwidth \"{rate}\" is too low; accepted: \"{LEAST_BANDWIDTH}\" or more, or none for the rate of the link"
            )),
            _ => {
                let Framing { overhead, mpu, .. } = cake.framing;
                let sizes = [("overhead", overhead), ("mpu", mpu)];
                let large = sizes.into_iter().find(|(_, size)| *size > MOST_FRAMING);
                let large = large.map(|(key, size)| {
                    format!("{key} \"{size}\" is too large; accepted: at most \"{MOST_FRAMING}\", as by tc-cake")
                });
                large.or_else(|| zero("rtt", cake.rtt))
            }
        },
        QueueConfig::Pie(pie) => zero("update", pie.update),
        QueueConfig::DualPi2(dual) => {
            zero("target", dual.target).or_else(|| zero("max_rtt", dual.rtt_max))
        }
        QueueConfig::Red(red) => {
            if red.min >= red.max {
                return Some(format!(
                    "min \"{}\" is not below max \"{}\"; accepted: min < max",
                    red.min, red.max
                ));
            }
            let certain = red.max_p == Fraction::ZERO;
            certain.then(|| "max_probability \"0\" drops nothing; accepted: above 0".to_owned())
        }
        _ => None,
    }
}
