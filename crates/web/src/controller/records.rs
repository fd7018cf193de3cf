//! Events and the path as records of numbers: the structs of `thalweg_control::event` under the same names, in seconds,
//! bytes and bits per second; NaN where there is no value.
//!
//! A name with a question mark is of a truth value, 0 or 1. `snapshot.sent` is `sent` of the event's `snapshot`.

use serde_json::{Map, Value, json};
use thalweg_control::foreign::Handler;
use thalweg_control::report::Report;
use thalweg_control::{Context, event};
use thalweg_units::{Bytes, Duration};
use wasm_bindgen::prelude::*;

/// The most numbers that a record has.
pub(super) const WIDEST: usize = 32;

/// A name, and the number that it stands for.
type Field<T> = (&'static str, fn(&T) -> f64);
type FromContext = fn(&Context<'_>) -> f64;

/// What handlers are told.
pub(super) trait Record: Sized + 'static {
    /// Its numbers in their order.
    const FIELDS: &'static [Field<Self>];

    /// Writes them, and returns how many there are.
    fn write(&self, record: &mut [f64; WIDEST]) -> usize {
        for ((_, read), number) in Self::FIELDS.iter().zip(record) {
            *number = read(self);
        }
        Self::FIELDS.len()
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn bytes(size: Bytes) -> f64 {
    size.as_u64() as f64
}

fn time(time: Option<Duration>) -> f64 {
    time.map_or(f64::NAN, Duration::as_secs_f64)
}

/// What the transport has measured, the present event included. Behind these stands the number of the random source.
pub(super) const PATH: &[(&str, FromContext)] = &[
    ("now", |cx| cx.now.as_secs_f64()),
    ("mtu", |cx| bytes(cx.path.mtu)),
    ("smoothed_rtt", |cx| cx.path.smoothed_rtt.as_secs_f64()),
    ("rtt_var", |cx| cx.path.rtt_var.as_secs_f64()),
    ("min_rtt", |cx| cx.path.min_rtt.as_secs_f64()),
    ("latest_rtt", |cx| cx.path.latest_rtt.as_secs_f64()),
    ("bytes_in_flight", |cx| bytes(cx.path.bytes_in_flight)),
    ("delivered", |cx| bytes(cx.path.delivered)),
    ("lost", |cx| bytes(cx.path.lost)),
    ("delivery_rate", |cx| {
        cx.path.delivery_rate.as_bits_per_sec() as f64
    }),
    ("peak_rate", |cx| cx.path.peak_rate.as_bits_per_sec() as f64),
    ("next_packet", |cx| cx.path.next_packet as f64),
    ("largest_acked", |cx| {
        cx.path
            .largest_acked
            .map_or(f64::NAN, |packet| packet as f64)
    }),
    ("lowest_unacked", |cx| cx.path.lowest_unacked as f64),
    ("ecn.ect0", |cx| cx.path.ecn.ect0 as f64),
    ("ecn.ect1", |cx| cx.path.ecn.ect1 as f64),
    ("ecn.ce", |cx| cx.path.ecn.ce as f64),
    ("ecn.largest_acked", |cx| cx.path.ecn.largest_acked as f64),
    ("ecn.total", |cx| cx.path.ecn.total() as f64),
    ("established?", |cx| truth(cx.path.established)),
    ("window_limited?", |cx| truth(cx.path.window_limited)),
    ("app_limited?", |cx| truth(cx.path.app_limited)),
    ("last_idle", |cx| cx.path.last_idle.as_secs_f64()),
    ("newest_acked_data_sent", |cx| {
        cx.path.newest_acked_data_sent.as_secs_f64()
    }),
];

/// Writes the record of the path, and the number of the random source behind it.
pub(super) fn path(cx: &Context<'_>, draws: u32, record: &mut [f64]) {
    for ((_, read), number) in PATH.iter().zip(record.iter_mut()) {
        *number = read(cx);
    }
    if let Some(last) = record.last_mut() {
        *last = f64::from(draws);
    }
}

/// The fields of a snapshot, which several events have.
macro_rules! with_snapshot {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            ("snapshot.sent", |event| event.snapshot.sent.as_secs_f64()),
            ("snapshot.in_flight_at_send", |event| bytes(event.snapshot.in_flight_at_send)),
            ("snapshot.delivered_at_send", |event| bytes(event.snapshot.delivered_at_send)),
            ("snapshot.lost_at_send", |event| bytes(event.snapshot.lost_at_send)),
            ("snapshot.delivered_since_sent", |event| bytes(event.snapshot.delivered_since_sent)),
            ("snapshot.lost_since_sent", |event| bytes(event.snapshot.lost_since_sent)),
            ("snapshot.app_limited?", |event| truth(event.snapshot.app_limited)),
            ("snapshot.window_limited?", |event| truth(event.snapshot.window_limited)),
        ]
    };
}

impl Record for event::Ack {
    const FIELDS: &'static [Field<Self>] = with_snapshot![
        ("largest", |event| event.largest as f64),
        ("newly_acked", |event| bytes(event.newly_acked)),
        ("newly_acked_packets", |event| event.newly_acked_packets
            as f64),
        ("newly_lost", |event| bytes(event.newly_lost)),
        ("lost_ranges", |event| f64::from(event.lost_ranges)),
        ("rtt", |event| time(event.rtt)),
        ("prior_in_flight", |event| bytes(event.prior_in_flight)),
        ("rate.delivered", |event| sampled(event, |rate| bytes(
            rate.delivered
        ))),
        ("rate.interval", |event| sampled(event, |rate| rate
            .interval
            .as_secs_f64())),
        ("rate.rate", |event| sampled(
            event,
            |rate| rate.rate.as_bits_per_sec() as f64
        )),
        ("rate.app_limited?", |event| sampled(event, |rate| truth(
            rate.app_limited
        ))),
    ];
}

fn sampled(event: &event::Ack, read: fn(&event::RateSample) -> f64) -> f64 {
    event.rate.as_ref().map_or(f64::NAN, read)
}

impl Record for event::Lost {
    const FIELDS: &'static [Field<Self>] = with_snapshot![
        ("packet", |event| event.packet as f64),
        ("size", |event| bytes(event.size)),
        ("persistent_congestion?", |event| truth(
            event.persistent_congestion
        )),
    ];
}

impl Record for event::Timeout {
    const FIELDS: &'static [Field<Self>] = with_snapshot![
        ("count", |event| f64::from(event.count)),
        ("packet", |event| event.packet as f64),
    ];
}

impl Record for event::Sent {
    const FIELDS: &'static [Field<Self>] = &[
        ("packet", |event| event.packet as f64),
        ("size", |event| bytes(event.size)),
        ("prior_in_flight", |event| bytes(event.prior_in_flight)),
        ("was_idle?", |event| truth(event.was_idle)),
    ];
}

impl Record for event::SpuriousLoss {
    const FIELDS: &'static [Field<Self>] = &[
        ("packet", |event| event.packet as f64),
        ("size", |event| bytes(event.size)),
        ("sent", |event| event.sent.as_secs_f64()),
        ("timeout_only?", |event| truth(event.timeout_only)),
    ];
}

impl Record for event::EcnCounts {
    const FIELDS: &'static [Field<Self>] = &[
        ("ect0", |event| event.ect0 as f64),
        ("ect1", |event| event.ect1 as f64),
        ("ce", |event| event.ce as f64),
        ("largest_acked", |event| event.largest_acked as f64),
        ("total", |event| event.total() as f64),
    ];
}

impl Record for event::RttSample {
    const FIELDS: &'static [Field<Self>] = &[
        ("rtt", |event| event.rtt.as_secs_f64()),
        ("raw", |event| event.raw.as_secs_f64()),
    ];
}

/// The window that `on_seed` gets.
impl Record for Bytes {
    const FIELDS: &'static [Field<Self>] = &[("window", |window| bytes(*window))];
}

impl Record for Report {
    const FIELDS: &'static [Field<Self>] = &[
        ("elapsed", |report| report.elapsed.as_secs_f64()),
        ("delivered", |report| bytes(report.delivered)),
        ("sent", |report| bytes(report.sent)),
        ("lost", |report| bytes(report.lost)),
        ("marked", |report| report.marked as f64),
        ("timeouts", |report| f64::from(report.timeouts)),
        ("min_rtt", |report| time(report.min_rtt)),
        ("mean_rtt", |report| report.mean_rtt().unwrap_or(f64::NAN)),
        ("max_rtt", |report| time(report.max_rtt)),
        ("delivery_rate", |report| {
            report.delivery_rate().as_bits_per_sec() as f64
        }),
        ("send_rate", |report| {
            report.send_rate().as_bits_per_sec() as f64
        }),
        ("max_delivery_rate", |report| {
            report.max_rate.as_bits_per_sec() as f64
        }),
        ("app_limited?", |report| truth(report.app_limited)),
    ];
}

fn names<T>(fields: &[Field<T>]) -> Value {
    fields.iter().map(|(name, _)| *name).collect()
}

/// The names in each record as JSON: of `path`, and of the event of each handler, in the order of the numbers of handlers.
#[wasm_bindgen]
pub fn records() -> String {
    let path: Value = PATH.iter().map(|(name, _)| *name).collect();
    let handlers = Handler::ALL.map(|handler| {
        let fields = match handler {
            Handler::Ack => names(event::Ack::FIELDS),
            Handler::Lost => names(event::Lost::FIELDS),
            Handler::Sent => names(event::Sent::FIELDS),
            Handler::Timeout => names(event::Timeout::FIELDS),
            Handler::SpuriousLoss => names(event::SpuriousLoss::FIELDS),
            Handler::Ecn => names(event::EcnCounts::FIELDS),
            Handler::Rtt => names(event::RttSample::FIELDS),
            Handler::Seed => names(Bytes::FIELDS),
            Handler::Report => names(Report::FIELDS),
            _ => json!([]),
        };
        json!({"name": handler.name(), "fields": fields})
    });
    let mut all = Map::new();
    all.insert("path".into(), path);
    all.insert("handlers".into(), handlers.into_iter().collect());
    Value::from(all).to_string()
}
