//! Any configuration of a link.

use proptest::prelude::*;
use thalweg_path::{
    AckFilter, CakeConfig, Cells, Change, CodelConfig, DeliveryTrace, DualPi2Config,
    DualPi2Scheduler, EcnConfig, FqCodelConfig, Framing, JitterConfig, Limit, LinkConfig,
    LossConfig, LossScript, NoiseConfig, PieConfig, PolicerConfig, QueueConfig, RedConfig,
    StepConfig, WifiFormula,
};
use thalweg_units::{Bytes, Duration, Fraction, Rate};

pub(crate) fn span(max_us: u64) -> impl Strategy<Value = Duration> {
    (0..max_us * 1000).prop_map(Duration::from_nanos)
}
fn fraction() -> impl Strategy<Value = Fraction> {
    (0.0..1.0).prop_map(Fraction::from_f64)
}
fn rate() -> impl Strategy<Value = Rate> {
    prop_oneof![
        1 => Just(Rate::ZERO),
        6 => (1u64..100_000_000).prop_map(Rate::from_bits_per_sec),
        1 => (1u64..1_000_000_000_000).prop_map(Rate::from_bits_per_sec),
    ]
}
fn jitter() -> impl Strategy<Value = JitterConfig> {
    prop_oneof![
        Just(JitterConfig::None),
        (span(9_000), span(9_000)).prop_map(|(min, max)| JitterConfig::Uniform { min, max }),
        (span(9_000), span(9_000)).prop_map(|(mean, sd)| JitterConfig::Normal { mean, sd }),
        (1u64..9_000).prop_map(|us| JitterConfig::Bursts {
            every: Duration::from_micros(us),
        }),
        (span(9_000), 1u32..9_000).prop_map(|(sd, clip)| JitterConfig::NrBpdv { sd, clip }),
        (fraction(), 1u32..9)
            .prop_map(|(share, extent)| JitterConfig::Reordering { share, extent }),
        (span(9_000), any::<bool>(), proptest::option::of(1u64..50)).prop_map(
            |(mean, draft, every)| {
                JitterConfig::Wifi {
                    mean,
                    every: every.map(Duration::from_millis),
                    formula: if draft {
                        WifiFormula::Draft
                    } else {
                        WifiFormula::Reference
                    },
                }
            }
        ),
    ]
}
fn loss() -> impl Strategy<Value = LossConfig> {
    prop_oneof![
        Just(LossConfig::None),
        fraction().prop_map(|rate| LossConfig::Random { rate }),
        (fraction(), fraction(), fraction(), fraction()).prop_map(|(p, r, good_loss, bad_loss)| {
            LossConfig::GilbertElliott {
                p,
                r,
                good_loss,
                bad_loss,
            }
        }),
        (span(90_000), span(90_000), fraction(), fraction()).prop_map(
            |(good, bad, good_loss, bad_loss)| LossConfig::Fading {
                good: good + Duration::from_micros(10),
                bad,
                good_loss,
                bad_loss,
            }
        ),
        (0u64..20).prop_map(|every| LossConfig::Periodic { every }),
        proptest::collection::vec((1u64..40, 1u64..40), 0..5)
            .prop_map(|ranges| LossConfig::Scripted(LossScript::new(ranges))),
    ]
}
fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::Unlimited),
        span(30_000).prop_map(Limit::Time),
        (0u64..30_000).prop_map(|n| Limit::Bytes(Bytes::new(n))),
        (0u64..30).prop_map(Limit::Packets),
    ]
}
fn queue() -> impl Strategy<Value = QueueConfig> {
    let scheduler = prop_oneof![
        fraction().prop_map(|classic| DualPi2Scheduler::Weighted { classic }),
        span(60_000).prop_map(|shift| DualPi2Scheduler::TimeShifted { shift }),
    ];
    prop_oneof![
        prop::sample::select(QueueConfig::samples()),
        // Small thresholds and quick controllers: the queues of these tests are short.
        (
            1u64..5_000,
            1u64..9_000,
            fraction(),
            any::<bool>(),
            any::<bool>()
        )
            .prop_map(
                |(min, span, weight, gentle, ecn)| QueueConfig::Red(RedConfig {
                    min: Bytes::new(min),
                    max: Bytes::new(min + span),
                    weight,
                    gentle,
                    ecn,
                    ..RedConfig::default()
                })
            ),
        codel().prop_map(QueueConfig::Codel),
        (limit(), any::<bool>())
            .prop_map(|(threshold, drop)| QueueConfig::Step(StepConfig { threshold, drop })),
        (0u32..5, 0u64..3_000, 0u32..4, codel()).prop_map(|(flows, quantum, drop_batch, codel)| {
            let quantum = Bytes::new(quantum);
            QueueConfig::FqCodel(FqCodelConfig {
                flows,
                quantum,
                drop_batch,
                codel,
            })
        }),
        (
            proptest::option::of(1_000u64..50_000_000),
            span(200_000),
            0usize..3,
            (0u64..256, 0u64..256, 0usize..3)
        )
            .prop_map(
                |(bandwidth, rtt, filter, (overhead, mpu, cells))| QueueConfig::Cake(CakeConfig {
                    bandwidth: bandwidth.map(Rate::from_bits_per_sec),
                    rtt,
                    ack_filter: [
                        AckFilter::Off,
                        AckFilter::Conservative,
                        AckFilter::Aggressive
                    ][filter],
                    framing: Framing {
                        overhead: Bytes::new(overhead),
                        mpu: Bytes::new(mpu),
                        cells: [Cells::None, Cells::Atm, Cells::Ptm][cells],
                    },
                })
            ),
        (span(9_000), span(9_000), span(20_000), any::<[bool; 3]>()).prop_map(
            |(target, update, max_burst, [ecn, derandomise, cap])| QueueConfig::Pie(PieConfig {
                target,
                update,
                alpha: 12.5,
                beta: 125.0,
                max_burst,
                ecn,
                derandomise,
                cap,
                ..PieConfig::default()
            })
        ),
        (
            span(9_000),
            span(9_000),
            span(9_000),
            0u32..4,
            scheduler,
            any::<bool>()
        )
            .prop_map(|(target, update, step, coupling, scheduler, ecn)| {
                QueueConfig::DualPi2(DualPi2Config {
                    target,
                    update,
                    rtt_max: target,
                    coupling,
                    step,
                    scheduler,
                    ecn,
                    ..DualPi2Config::default()
                })
            }),
    ]
}
fn codel() -> impl Strategy<Value = CodelConfig> {
    let threshold = proptest::option::of(span(5_000));
    (span(9_000), span(9_000), any::<bool>(), threshold).prop_map(
        |(target, interval, ecn, ce_threshold)| CodelConfig {
            target,
            interval,
            mtu: Bytes::new(1500),
            ecn,
            ce_threshold,
        },
    )
}
fn ecn() -> impl Strategy<Value = EcnConfig> {
    prop_oneof![
        4 => Just(EcnConfig::Kept),
        1 => Just(EcnConfig::Bleached),
        1 => Just(EcnConfig::CeLost),
        1 => Just(EcnConfig::CeHidden),
    ]
}
fn policer() -> impl Strategy<Value = Option<PolicerConfig>> {
    let some = (rate(), 0u64..9_000, any::<bool>()).prop_map(|(rate, burst, mark)| PolicerConfig {
        rate,
        burst: Bytes::new(burst),
        mark,
    });
    proptest::option::weighted(0.2, some)
}
fn trace() -> impl Strategy<Value = Option<DeliveryTrace>> {
    let gaps = proptest::collection::vec(0u64..5, 1..20);
    let some = gaps.prop_map(|gaps| {
        let mut ms = 1;
        let line = |gap| {
            ms += gap;
            format!("{ms}\n")
        };
        let text: String = gaps.into_iter().map(line).collect();
        text.parse()
            .expect("times that do not decrease, above zero")
    });
    proptest::option::weighted(0.2, some)
}
/// Not so fine that a slow link would need a million draws to send a packet.
fn noise() -> impl Strategy<Value = Option<NoiseConfig>> {
    let every = (1_000u64..5_000).prop_map(Duration::from_micros);
    let some = (rate(), span(5_000), every).prop_map(|(rate_sd, delay_sd, every)| NoiseConfig {
        rate_sd,
        delay_sd,
        every,
    });
    proptest::option::weighted(0.2, some)
}
fn change() -> impl Strategy<Value = Change> {
    use proptest::option::of as some;
    (
        span(60_000),
        some(rate()),
        some(span(20_000)),
        some(jitter()),
        some(limit()),
        some(loss()),
        some(queue()),
        proptest::bool::weighted(0.2),
    )
        .prop_map(
            |(at, rate, delay, jitter, limit, loss, queue, flush)| Change {
                at,
                rate,
                delay,
                jitter,
                limit,
                loss,
                queue,
                flush,
            },
        )
}
pub(crate) fn config() -> impl Strategy<Value = LinkConfig> {
    let changes = proptest::collection::vec(change(), 0..8);
    let repeat = proptest::option::of((1u64..80_000).prop_map(Duration::from_micros));
    let capacity = (rate(), trace(), noise(), changes, repeat);
    let parts = (
        capacity,
        span(20_000),
        policer(),
        queue(),
        limit(),
        loss(),
        jitter(),
        any::<bool>(),
        ecn(),
    );
    parts.prop_map(
        |(capacity, delay, policer, queue, limit, loss, jitter, reorder, ecn)| {
            let (rate, trace, noise, changes, repeat) = capacity;
            LinkConfig {
                rate,
                trace,
                noise,
                delay,
                policer,
                queue,
                limit,
                loss,
                jitter,
                ecn,
                reorder,
                changes,
                repeat,
            }
        },
    )
}
