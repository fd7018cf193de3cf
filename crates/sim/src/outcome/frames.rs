//! The frames of the calls of one trial: when each was due, and when it came, if it did.
//!
//! # Model
//! A frame that never came was cancelled with the rest of its group, lost as a datagram, or is still on its way when
//! the trial ends. Frames whose nominal time the trial did not reach have no row.

use super::freezes;
use crate::trial::connection::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::{Duration, Instant, Rate};

/// One frame of one stream of media.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct FrameRow {
    /// When it was due at its sender.
    pub nominal: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// Name of the stream.
    pub stream: String,
    /// When its last byte arrived; `None` if it never did.
    pub received: Option<Instant>,
    /// Delay from the nominal time above which it is late.
    pub deadline: Duration,
    /// How long the picture was frozen until it came: see `outcome/freezes.rs`.
    pub frozen: Option<Duration>,
    /// Whether the numbers of the stream count it: its nominal time is not before the start of measurement.
    pub counted: bool,
    /// The rate of the encoder at this frame, of a stream that has one.
    pub encoder: Option<Rate>,
    /// The rate that congestion control then allowed it, if that was known.
    pub told: Option<Rate>,
}

/// All frames of all calls that were due by `end`, flow by flow and stream by stream.
pub(crate) fn frames(connections: &[Connection], end: Instant) -> Vec<FrameRow> {
    let mut rows = Vec::new();
    for (flow, connection) in connections.iter().enumerate() {
        let Some(call) = connection.call.as_ref().filter(|call| call.has_begun()) else {
            continue;
        };
        for (index, stream) in call.records(connection.start).enumerate() {
            let spec = stream.spec;
            let frames = call.due(index, stream.start, end);
            let from = Instant::START + spec.measure_from;
            let delivered = stream.delivered.iter();
            let counted: Vec<_> = delivered.filter(|one| one.nominal >= from).collect();
            let frozen = freezes::of(spec, stream.start, &counted);
            let frozen: BTreeMap<Instant, Duration> = (frozen.into_iter())
                .map(|one| (one.ended_by, one.duration))
                .collect();
            rows.extend(frames.into_iter().map(|(number, nominal, received)| {
                let (encoder, told) = call.rates_at(index, number);
                FrameRow {
                    nominal,
                    flow,
                    stream: spec.name.clone(),
                    received,
                    deadline: spec.deadline,
                    frozen: frozen.get(&nominal).copied(),
                    counted: nominal >= from,
                    encoder,
                    told,
                }
            }));
        }
    }
    rows
}
