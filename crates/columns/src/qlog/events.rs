//! The events of a trace in the order of time.

use super::trace::{Frames, Packets, Samples, Trace};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// One event.
pub(super) struct Event<'a> {
    pub(super) time_ms: f64,
    pub(super) flow: &'a str,
    pub(super) name: &'static str,
    pub(super) data: Value,
}

/// The tables, in the order in which rows of the same time follow each other: the fate of a packet comes before
/// the sample that it changed.
#[derive(Clone, Copy)]
enum Kind {
    Packet,
    Frame,
    Held,
    Drop,
    Sample,
}

/// A controller that does not pace asks for a packet each nanosecond; the smallest packet that a path of QUIC carries has
/// 1200 bytes (RFC 9000 section 14).
const UNPACED_BPS: f64 = 1200.0 * 8.0 * 1e9;

/// Ranges that one flow acknowledged at one time: one ACK frame.
struct Acknowledged<'a> {
    time_s: f64,
    flow: &'a str,
    ranges: Vec<[u64; 2]>,
}

/// What of a flow was told last.
#[derive(Default)]
struct Told<'a> {
    state: Option<&'a str>,
    values: HashMap<&'static str, f64>,
}

/// Hands over each event.
pub(super) fn each<'a>(trace: &'a Trace, hear: &mut impl FnMut(Event<'a>)) {
    let mut pending: Option<Acknowledged<'a>> = None;
    let mut told: HashMap<&str, Told<'a>> = HashMap::new();
    for (time_s, kind, row) in rows(trace) {
        let acknowledged =
            matches!(kind, Kind::Packet) && trace.packets.event[row] == "acknowledged";
        let joins = pending.as_ref().is_some_and(|before| {
            acknowledged && before.time_s == time_s && before.flow == trace.packets.flow[row]
        });
        if !joins && let Some(done) = pending.take() {
            hear(received(done));
        }
        if acknowledged {
            let packets = &trace.packets;
            let range = [packets.first_packet[row], packets.last_packet[row]];
            let frame = pending.get_or_insert_with(|| Acknowledged {
                time_s,
                flow: &packets.flow[row],
                ranges: Vec::new(),
            });
            frame.ranges.push(range);
            continue;
        }
        match kind {
            Kind::Packet => hear(packet(&trace.packets, row)),
            Kind::Frame => hear(frame(&trace.frames, row)),
            Kind::Held => {
                let held = &trace.held;
                let data = json!({ "link": held.link[row], "held": held.held_s[row] * 1e3 });
                hear(event(time_s, &held.flow[row], "thalweg:held_back", data));
            }
            Kind::Drop => {
                let drops = &trace.drops;
                let data = json!({ "link": drops.link[row], "reason": drops.reason[row] });
                hear(event(time_s, &drops.flow[row], "thalweg:drop", data));
            }
            Kind::Sample => {
                let told = told.entry(&trace.flows.flow[row]).or_default();
                sample(&trace.flows, row, told, hear);
            }
        }
    }
    if let Some(done) = pending {
        hear(received(done));
    }
}

/// All rows in the order of time.
fn rows(trace: &Trace) -> Vec<(f64, Kind, usize)> {
    let parts = [
        (Kind::Packet, &trace.packets.time_s),
        (Kind::Frame, &trace.frames.time_s),
        (Kind::Held, &trace.held.time_s),
        (Kind::Drop, &trace.drops.time_s),
        (Kind::Sample, &trace.flows.time_s),
    ];
    let mut rows: Vec<_> = parts
        .into_iter()
        .flat_map(|(kind, times)| (0..).zip(times).map(move |(row, time)| (*time, kind, row)))
        .collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0)); // stable
    rows
}

/// The time is rounded to a nanosecond, which is a millionth of the unit of qlog.
fn event<'a>(time_s: f64, flow: &'a str, name: &'static str, data: Value) -> Event<'a> {
    Event {
        time_ms: (time_s * 1e9).round() / 1e6,
        flow,
        name,
        data,
    }
}

fn packet(packets: &Packets, row: usize) -> Event<'_> {
    let header = json!({ "packet_type": "1RTT", "packet_number": packets.first_packet[row] });
    let (name, data) = match packets.event[row].as_str() {
        "lost" => ("quic:packet_lost", json!({ "header": header })),
        _ => {
            let raw = json!({ "length": packets.size_bytes[row] });
            ("quic:packet_sent", json!({ "header": header, "raw": raw }))
        }
    };
    event(packets.time_s[row], &packets.flow[row], name, data)
}

/// A frame that was due; without a delay, it never arrived.
fn frame(frames: &Frames, row: usize) -> Event<'_> {
    let deadline_s = frames.deadline_s[row];
    let mut data = json!({ "stream": frames.stream[row], "deadline": deadline_s * 1e3 });
    if let Some(delay_s) = frames.delay_s[row] {
        data["delay"] = json!(delay_s * 1e3);
        data["late"] = json!(delay_s > deadline_s);
    }
    event(frames.time_s[row], &frames.flow[row], "thalweg:frame", data)
}

fn received(mut acknowledged: Acknowledged<'_>) -> Event<'_> {
    acknowledged.ranges.sort_unstable();
    let frame = json!({ "frame_type": "ack", "acked_ranges": acknowledged.ranges });
    let data = json!({ "header": { "packet_type": "1RTT" }, "frames": [frame] });
    let Acknowledged { time_s, flow, .. } = acknowledged;
    event(time_s, flow, "quic:packet_received", data)
}

/// The state if it is another one, and the metrics that changed.
fn sample<'a>(
    flows: &'a Samples,
    row: usize,
    told: &mut Told<'a>,
    hear: &mut impl FnMut(Event<'a>),
) {
    let (time_s, flow) = (flows.time_s[row], flows.flow[row].as_str());
    let state = flows.state[row].as_deref();
    if state != told.state {
        let mut change = Map::new();
        if let Some(old) = told.state {
            change.insert("old".to_owned(), json!(old));
        }
        change.insert("new".to_owned(), json!(state));
        let name = "quic:congestion_state_updated";
        hear(event(time_s, flow, name, Value::Object(change)));
        told.state = state;
    }
    let milliseconds = |seconds: Option<f64>| seconds.map(|value| value * 1e3);
    let pacing = flows.pacing_bps[row].filter(|rate| *rate < UNPACED_BPS);
    let values = [
        (
            "smoothed_rtt",
            milliseconds(flows.smoothed_rtt_s[row]),
            false,
        ),
        ("latest_rtt", milliseconds(flows.latest_rtt_s[row]), false),
        ("congestion_window", flows.window_bytes[row], true),
        ("bytes_in_flight", flows.in_flight_bytes[row], true),
        ("pacing_rate", pacing, true),
    ];
    let mut changed = Map::new();
    for (name, value, is_count) in values {
        let Some(value) = value.map(|value| if is_count { value.round() } else { value }) else {
            continue;
        };
        if told.values.insert(name, value) != Some(value) {
            let shown = if is_count {
                json!(value as u64)
            } else {
                json!(value)
            };
            changed.insert(name.to_owned(), shown);
        }
    }
    if !changed.is_empty() {
        let name = "quic:recovery_metrics_updated";
        hear(event(time_s, flow, name, Value::Object(changed)));
    }
}
