//! Open-loop replay: what a controller would have allowed a sender of which only a log is known.
//!
//! # Model
//! The packets of the log, sent, acknowledged, lost, marked, are reported to the controller as a foreign stack would
//! ([`StackFlow`]). It decides, and nothing follows its decisions: what was sent is what the log says. A packet that
//! fills the window of the controller counts as limited by it.

use crate::columns::dictionary;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_core::SeedableRng as _;
use thalweg_columns::{Column, Table};
use thalweg_control::{Init, Rng};
use thalweg_transport::{StackFlow, TransportConfig};
use thalweg_units::{Bytes, Duration, Instant};

/// What an entry of the log says.
#[derive(Clone, Copy)]
enum Kind {
    Sent,
    Acknowledged,
    Lost,
    /// A packet that was declared lost has been acknowledged.
    Spurious,
    /// An acknowledgement had as many more CE marks as its number.
    Marked,
    /// The acknowledgements of one frame have been named.
    AcksEnd,
    /// There is nothing to send.
    Idle,
    /// A packet is gone, and the controller does not hear of it.
    Forgotten,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Sent,
        Kind::Acknowledged,
        Kind::Lost,
        Kind::Spurious,
        Kind::Marked,
        Kind::AcksEnd,
        Kind::Idle,
        Kind::Forgotten,
    ];
}

/// A controller and the sender that it would have had.
struct Replay {
    flow: StackFlow,
    mtu: Bytes,
    /// When and how large each packet was sent, by number.
    packets: Vec<(Instant, Bytes)>,
    /// Packets that one report has declared lost.
    lost: Vec<u64>,
}

impl Replay {
    fn take(&mut self, kind: Kind, now: Instant, number: u64, size: Bytes) -> PyResult<()> {
        if !matches!(kind, Kind::Lost) {
            self.end_losses();
        }
        match kind {
            Kind::Sent => {
                if number != self.packets.len() as u64 {
                    return Err(PyValueError::new_err("packets are numbered in their order"));
                }
                self.packets.push((now, size));
                self.flow.on_sent(now, number, size);
                if self.flow.path().bytes_in_flight + self.mtu > self.flow.control().window {
                    self.flow.on_window_limited();
                }
            }
            Kind::Acknowledged => {
                let (sent, size) = self.packet(number)?;
                if size > self.mtu {
                    self.mtu = size;
                    self.flow.set_mtu(size);
                }
                self.flow.on_acked(now, sent, number, size, false);
            }
            Kind::Lost => {
                let (_, size) = self.packet(number)?;
                self.flow.on_lost(now, number, size);
                self.lost.push(number);
            }
            Kind::Spurious => self.flow.on_late(now, number),
            Kind::Marked => self.flow.on_marks(now, number),
            Kind::AcksEnd => self.flow.on_acks_ended(now),
            Kind::Forgotten => self.flow.forget(number),
            Kind::Idle => self.flow.on_nothing_to_send(now),
        }
        Ok(())
    }

    fn packet(&self, number: u64) -> PyResult<(Instant, Bytes)> {
        let known = self.packets.get(number as usize).copied();
        known.ok_or_else(|| PyValueError::new_err("a packet that was not sent"))
    }

    /// RFC 9002 section 7.6: neighbours that were lost together, and sent long apart, are persistent congestion.
    fn end_losses(&mut self) {
        let (Some(&first), Some(&last)) = (self.lost.first(), self.lost.last()) else {
            return;
        };
        let path = self.flow.path();
        let wait = path.smoothed_rtt + (path.rtt_var * 4).max(Duration::from_millis(1));
        let span = self.packets[last as usize].0 - self.packets[first as usize].0;
        let all = last - first + 1 == self.lost.len() as u64;
        if all && path.has_rtt() && span > (wait + Duration::from_millis(25)) * 3 {
            self.flow.on_persistent_congestion();
        }
        self.lost.clear();
    }
}

/// What a controller would have allowed, as columns: window, pacing rate (NaN for none) and bytes in flight after each
/// packet that was sent. `kinds` are places in `Kind`, `numbers` the numbers of packets in the order in which they were sent;
/// `start` is the size of full packets, and, if known, the initial window and the round trip of the handshake.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    controller: &str,
    kinds: PyReadonlyArray1<'_, u8>,
    times_s: PyReadonlyArray1<'_, f64>,
    numbers: PyReadonlyArray1<'_, i64>,
    sizes: PyReadonlyArray1<'_, i64>,
    start: (u64, Option<u64>, Option<f64>),
) -> PyResult<Py<PyDict>> {
    let spec = crate::registry::all()
        .read(controller)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (kinds, times) = (kinds.as_slice()?, times_s.as_slice()?);
    let (numbers, sizes) = (numbers.as_slice()?, sizes.as_slice()?);
    let count = kinds.len();
    if [times.len(), numbers.len(), sizes.len()] != [count; 3] {
        return Err(PyValueError::new_err("columns differ in length"));
    }
    let config = TransportConfig::default();
    let (mtu, initial_window, rtt_s) = start;
    let mtu = Bytes::new(mtu);
    let config = TransportConfig {
        initial_window: initial_window.map_or_else(|| config.rules.initial_window(mtu), Bytes::new),
        initial_mtu: mtu,
        max_mtu: mtu,
        ..config
    };
    let init = Init {
        now: Instant::START,
        mtu,
        initial_window: config.initial_window,
        media: None,
    };
    let bound = spec.build(&init);
    let mut flow = StackFlow::new(Some(bound), config, init.now, Rng::seed_from_u64(1));
    if let Some(rtt) = rtt_s {
        flow.note_smoothed(Duration::from_secs_f64(rtt));
        flow.on_acked(init.now, init.now, 0, mtu, false);
    }
    flow.establish();
    let mut replay = Replay {
        flow,
        mtu,
        packets: Vec::new(),
        lost: Vec::new(),
    };
    let (mut windows, mut pacing, mut flights) = (Vec::new(), Vec::new(), Vec::new());
    py.detach(|| -> PyResult<()> {
        for entry in 0..count {
            let kind = Kind::ALL
                .get(usize::from(kinds[entry]))
                .copied()
                .ok_or_else(|| PyValueError::new_err("an unknown kind"))?;
            let now = Instant::START + Duration::from_secs_f64(times[entry]);
            let size = Bytes::new(sizes[entry].max(0) as u64);
            if matches!(kind, Kind::Sent) {
                // What allowed this packet was decided before it.
                replay.end_losses();
                let control = replay.flow.control();
                windows.push(control.window.as_u64() as f64);
                pacing.push(
                    control
                        .pacing
                        .map_or(f64::NAN, |rate| rate.as_bits_per_sec() as f64),
                );
            }
            replay.take(kind, now, numbers[entry].max(0) as u64, size)?;
            if matches!(kind, Kind::Sent) {
                flights.push(replay.flow.path().bytes_in_flight.as_u64() as f64);
            }
        }
        Ok(())
    })?;
    let columns = vec![
        ("window_bytes".into(), Column::Floats(windows)),
        ("pacing_bps".into(), Column::Floats(pacing)),
        ("in_flight_bytes".into(), Column::Floats(flights)),
    ];
    dictionary(py, Table { columns })
}
