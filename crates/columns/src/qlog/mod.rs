//! A trace as qlog, the log format of QUIC.
//!
//! - `.sqlog`: the current drafts. A JSON text sequence (draft-ietf-quic-qlog-main-schema, section 5)
//!   with the events of draft-ietf-quic-qlog-quic-events; the name of the flow is the `group_id`.
//! - `.qlog`: the older form that qvis reads (`qlog_version` 0.3, one JSON document, a trace for each
//!   flow), with the older names of the same events.
//!
//! Events, all seen from the sender of the data: congestion state, recovery metrics, packets sent and lost, and
//! acknowledgements received, as ranges of packet numbers that were not acknowledged before. Drops on links, packets
//! that a link held back and frames of calls are events of our own: `thalweg:drop`, `thalweg:held_back` and
//! `thalweg:frame`, whose time is the time at which the frame was due.
//!
//! # Units
//! As qlog has them: times and RTTs are milliseconds, rates bits per second, sizes bytes.
//!
//! # Limits
//! Packets of the handshake, packets that carry only an acknowledgement, and the frames of data packets are not
//! recorded.

mod events;
mod trace;

use serde::Serialize;
use serde_json::{Value, json};
use trace::Trace;

/// The draft of ietf-quic-qlog-quic-events: until it is an RFC, its schema has this number (section 2.1).
const DRAFT: u32 = 12;
/// Events that no draft has.
const OURS: [&str; 3] = ["drop", "held_back", "frame"];
const OLDER_NAMES: [(&str, &str); 5] = [
    ("quic:packet_sent", "transport:packet_sent"),
    ("quic:packet_received", "transport:packet_received"),
    ("quic:packet_lost", "recovery:packet_lost"),
    ("quic:recovery_metrics_updated", "recovery:metrics_updated"),
    (
        "quic:congestion_state_updated",
        "recovery:congestion_state_updated",
    ),
];

#[derive(Serialize)]
struct Record<'a> {
    time: f64,
    group_id: &'a str,
    name: &'a str,
    data: Value,
}

#[derive(Serialize)]
struct OlderRecord<'a> {
    time: f64,
    name: &'a str,
    data: Value,
}

/// A trace as qlog: of the current drafts if `sequence`, else in the older form that qvis reads. The trace is JSON, its
/// tables by name, the columns of each by name. `vantage` is the role of the sender of the data.
///
/// # Errors
/// Says what in the text is not a trace.
pub fn written(json: &str, vantage: &str, sequence: bool) -> Result<String, String> {
    let trace: Trace = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if let Some(table) = trace.uneven() {
        return Err(format!("the columns of {table} have several lengths"));
    }
    Ok(match sequence {
        true => self::sequence(&trace, vantage),
        false => for_qvis(&trace, vantage),
    })
}

/// Each record of a JSON text sequence starts with RS and ends with LF (RFC 7464).
fn sequence(trace: &Trace, vantage: &str) -> String {
    let ours = OURS.map(|name| format!("urn:thalweg:qlog:{name}"));
    let schemas = [format!("urn:ietf:params:qlog:events:quic-{DRAFT}")];
    let header = json!({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": title(),
        "trace": {
            "common_fields": {
                "time_format": "relative_to_epoch",
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
            },
            "vantage_point": { "type": vantage },
            "event_schemas": schemas.into_iter().chain(ours).collect::<Vec<_>>(),
        },
    });
    let mut text = format!("\u{1e}{header}\n");
    events::each(trace, &mut |event| {
        let record = Record {
            time: event.time_ms,
            group_id: event.flow,
            name: event.name,
            data: event.data,
        };
        text += &format!("\u{1e}{}\n", line(&record));
    });
    text
}

fn for_qvis(trace: &Trace, vantage: &str) -> String {
    let mut traces: Vec<(&str, String)> = Vec::new();
    events::each(trace, &mut |event| {
        let older = OLDER_NAMES.iter().find(|(name, _)| *name == event.name);
        let record = line(&OlderRecord {
            time: event.time_ms,
            name: older.map_or(event.name, |(_, older)| older),
            data: event.data,
        });
        match traces.iter_mut().find(|(flow, _)| *flow == event.flow) {
            Some((_, records)) => *records += &format!(",{record}"),
            None => traces.push((event.flow, record)),
        }
    });
    let traces = traces.iter().map(|(flow, records)| {
        let point = json!({ "name": flow, "type": vantage });
        let common = json!({ "ODCID": flow, "time_format": "absolute", "reference_time": 0 });
        let title = json!(flow);
        format!(
            "{{\"title\":{title},\"vantage_point\":{point},\"common_fields\":{common},\"events\":[{records}]}}"
        )
    });
    let traces = traces.collect::<Vec<_>>().join(",");
    let title = json!(title());
    format!(
        "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"title\":{title},\"traces\":[{traces}]}}\n"
    )
}

fn title() -> String {
    format!("thalweg {}", env!("CARGO_PKG_VERSION"))
}

fn line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("all keys are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranges acknowledged at once, a loss, a frame that never arrived, a packet held back, and samples of which the
    /// second changes one value.
    fn trace() -> Value {
        json!({
            "packets": {
                "time_s": [0.1, 0.2, 0.2, 0.2], "flow": ["a", "a", "a", "a"],
                "event": ["sent", "acknowledged", "acknowledged", "lost"],
                "first_packet": [7, 5, 1, 4], "last_packet": [7, 6, 3, 4], "size_bytes": [1200, 2400, 3600, 1200],
            },
            "frames": {
                "time_s": [0.15, 0.16], "flow": ["b", "b"], "stream": ["audio", "audio"],
                "delay_s": [null, 0.03], "deadline_s": [0.02, 0.02],
            },
            "held": { "time_s": [0.12], "link": ["down"], "flow": ["a"], "held_s": [0.004] },
            "drops": { "time_s": [0.2], "link": ["up"], "flow": ["b"], "reason": ["queue"] },
            "flows": {
                "time_s": [0.2, 0.3], "flow": ["a", "a"], "state": ["Initial", "Recovery"],
                "smoothed_rtt_s": [0.04, 0.04], "latest_rtt_s": [0.04, 0.05], "window_bytes": [14520, 14520],
                "in_flight_bytes": [2400, 2400], "pacing_bps": [9.6e12, null], "delivery_bps": [1e6, 1e6],
            },
        })
    }

    fn text(vantage: &str, sequence: bool) -> String {
        written(&trace().to_string(), vantage, sequence).expect("a trace")
    }

    fn records(text: &str) -> Vec<Value> {
        let records = text.split('\u{1e}').skip(1);
        records
            .map(|record| serde_json::from_str(record).expect("JSON"))
            .collect()
    }

    #[test]
    fn events_follow_time_and_the_fate_of_packets_comes_first() {
        let records = records(&text("server", true));
        let told = records[1..].iter().map(|record| {
            let data = &record["data"];
            format!(
                "{} {} {} {data}",
                record["time"], record["group_id"], record["name"]
            )
        });
        let expected = [
            r#"100.0 "a" "quic:packet_sent" {"header":{"packet_number":7,"packet_type":"1RTT"},"raw":{"length":1200}}"#,
            r#"120.0 "a" "thalweg:held_back" {"held":4.0,"link":"down"}"#,
            r#"150.0 "b" "thalweg:frame" {"deadline":20.0,"stream":"audio"}"#,
            r#"160.0 "b" "thalweg:frame" {"deadline":20.0,"delay":30.0,"late":true,"stream":"audio"}"#,
            r#"200.0 "a" "quic:packet_received" {"frames":[{"acked_ranges":[[1,3],[5,6]],"frame_type":"ack"}],"header":{"packet_type":"1RTT"}}"#,
            r#"200.0 "a" "quic:packet_lost" {"header":{"packet_number":4,"packet_type":"1RTT"}}"#,
            r#"200.0 "b" "thalweg:drop" {"link":"up","reason":"queue"}"#,
            r#"200.0 "a" "quic:congestion_state_updated" {"new":"Initial"}"#,
            r#"200.0 "a" "quic:recovery_metrics_updated" {"bytes_in_flight":2400,"congestion_window":14520,"latest_rtt":40.0,"smoothed_rtt":40.0}"#,
            r#"300.0 "a" "quic:congestion_state_updated" {"new":"Recovery","old":"Initial"}"#,
            r#"300.0 "a" "quic:recovery_metrics_updated" {"latest_rtt":50.0}"#,
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_older_form_has_the_same_events_in_a_trace_for_each_flow() {
        let document = text("client", false);
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let traces = document["traces"].as_array().expect("traces");
        let counts = traces.iter().map(|trace| {
            let events = trace["events"].as_array().expect("events");
            (trace["title"].as_str(), events.len())
        });
        assert_eq!(counts.collect::<Vec<_>>(), [(Some("a"), 8), (Some("b"), 3)]);
        assert_eq!(traces[0]["events"][0]["name"], "transport:packet_sent");
        assert_eq!(traces[1]["events"][0]["name"], "thalweg:frame");
        assert_eq!(traces[0]["vantage_point"]["type"], "client");
    }

    #[test]
    fn what_is_not_a_trace_is_said() {
        let refused =
            |json: &Value| written(&json.to_string(), "server", true).expect_err("refused");
        assert!(refused(&json!({})).contains("packets"));
        let mut short = trace();
        short["flows"]["state"] = json!(["Initial"]);
        assert_eq!(refused(&short), "the columns of flows have several lengths");
    }
}
