//! A built-in controller that Python tells what happens, event by event, for unit tests and replays of vectors:
//! `thalweg.FakeTransport`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use thalweg_control::Init;
use thalweg_control::event::RateSample;
use thalweg_control::fake_transport::Flow;
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Packets that may be sent at once: some controllers have no window.
const MOST_PACKETS: u64 = 100_000;
/// The largest UDP payload.
const MOST_MTU: u64 = 65_527;
/// The longest time in one step, in seconds.
const MOST_SECONDS: f64 = 1e6;

/// A flow of full packets whose events you make up, and one of our controllers.
///
/// Its packets are of `mtu` bytes; it starts at `now` with its handshake done. Nothing is paced, and nothing is lost or
/// acknowledged but by a call.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct FakeTransport(Mutex<Flow>);

impl FakeTransport {
    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in seconds.
fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    match (0.0..=MOST_SECONDS).contains(&value) {
        true => Ok(Duration::from_secs_f64(value)),
        false => Err(PyValueError::new_err(format!(
            "{name} is {value}; accepted: seconds from 0 to {MOST_SECONDS:.0}"
        ))),
    }
}

/// Packets that have to be in flight.
fn check_in_flight(flow: &Flow, packets: &[u64]) -> PyResult<()> {
    let known = flow.in_flight();
    let Some(other) = packets
        .iter()
        .find(|packet| known.binary_search(packet).is_err())
    else {
        return Ok(());
    };
    let accepted = match (known.first(), known.last()) {
        (Some(first), Some(last)) => format!("{} packets from {first} to {last}", known.len()),
        _ => "none, since nothing is in flight".to_owned(),
    };
    let problem = format!("packet {other} is not in flight; accepted: {accepted}");
    Err(PyValueError::new_err(problem))
}

fn check_count(count: u64) -> PyResult<()> {
    match count <= MOST_PACKETS {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "{count} packets; accepted: at most {MOST_PACKETS} at once"
        ))),
    }
}

#[pymethods]
impl FakeTransport {
    #[new]
    #[pyo3(signature = (controller, *, mtu = 1200, initial_window = None, now = 0.0))]
    fn new(controller: &str, mtu: u64, initial_window: Option<u64>, now: f64) -> PyResult<Self> {
        if !(1..=MOST_MTU).contains(&mtu) {
            let problem = format!("mtu is {mtu}; accepted: bytes from 1 to {MOST_MTU}");
            return Err(PyValueError::new_err(problem));
        }
        let spec = crate::registry::all().read(controller);
        let spec = spec.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let init = Init {
            now: Instant::START + seconds("now", now)?,
            mtu: Bytes::new(mtu),
            initial_window: Bytes::new(initial_window.unwrap_or(10 * mtu)),
            media: None,
        };
        let flow = Flow::of(spec.build(&init), &init);
        Ok(FakeTransport(Mutex::new(flow)))
    }

    /// The time in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.flow().now.as_secs_f64()
    }

    /// Lets so many seconds pass.
    fn advance(&self, span: f64) -> PyResult<()> {
        self.flow().advance(seconds("span", span)?);
        Ok(())
    }

    /// The handshake has taken so many seconds: the first RTT sample.
    fn handshake(&self, rtt: f64) -> PyResult<()> {
        let rtt = seconds("rtt", rtt)?;
        let mut flow = self.flow();
        flow.path.take_rtt(rtt, Duration::ZERO);
        flow.call(|controller, cx| controller.on_handshake_rtt(cx));
        Ok(())
    }

    /// Sends so many full packets now, whatever the window; their numbers.
    #[pyo3(signature = (count = 1))]
    fn send(&self, count: u64) -> PyResult<Vec<u64>> {
        check_count(count)?;
        let mut flow = self.flow();
        Ok((0..count).map(|_| flow.send()).collect())
    }

    /// Sends packets until the window is full; their numbers.
    fn fill_window(&self) -> PyResult<Vec<u64>> {
        let mut flow = self.flow();
        let room = flow.window() - flow.path.bytes_in_flight;
        check_count(room.as_u64() / flow.path.mtu.as_u64())?;
        let first = flow.path.next_packet;
        flow.fill_window();
        Ok((first..flow.path.next_packet).collect())
    }

    /// One ACK frame acknowledges packets now, `marked` of them with CE; the RTT is the one of the newest.
    #[pyo3(signature = (packets, *, marked = 0, delivery_rate = None))]
    fn ack(&self, packets: Vec<u64>, marked: u64, delivery_rate: Option<f64>) -> PyResult<()> {
        let mut flow = self.flow();
        check_in_flight(&flow, &packets)?;
        if marked > packets.len() as u64 {
            let problem = format!(
                "marked is {marked}; accepted: at most {}, as are acknowledged",
                packets.len()
            );
            return Err(PyValueError::new_err(problem));
        }
        flow.rate = delivery_rate
            .map(|rate| sample(&mut flow, rate))
            .transpose()?;
        flow.ack_marked(&packets, marked);
        Ok(())
    }

    /// A packet is declared lost.
    #[pyo3(signature = (packet, *, persistent_congestion = false))]
    fn lose(&self, packet: u64, persistent_congestion: bool) -> PyResult<()> {
        let mut flow = self.flow();
        check_in_flight(&flow, &[packet])?;
        match persistent_congestion {
            true => flow.lose_persistently(packet),
            false => flow.lose(packet),
        }
        Ok(())
    }

    /// A packet that was declared lost, or that a timeout fired for, arrives after all.
    fn spurious(&self, packet: u64) -> PyResult<()> {
        let mut flow = self.flow();
        if packet >= flow.path.next_packet {
            let problem = format!(
                "packet {packet} has not been sent; accepted: below {}",
                flow.path.next_packet
            );
            return Err(PyValueError::new_err(problem));
        }
        flow.spurious(packet);
        Ok(())
    }

    /// A probe timeout fires for the oldest packet in flight: the `count`-th in a row.
    #[pyo3(signature = (count = 1))]
    fn timeout(&self, count: u32) -> PyResult<()> {
        let mut flow = self.flow();
        if flow.in_flight().is_empty() {
            let problem = "a probe timeout fires for a packet in flight; send one before";
            return Err(PyValueError::new_err(problem));
        }
        flow.timeout_number(count.max(1));
        Ok(())
    }

    /// Data is about to leave after an idle period.
    fn idle_restart(&self) {
        self.flow()
            .call(|controller, cx| controller.on_idle_restart(cx));
    }

    /// Whether packets leave without enough data to fill the window.
    #[getter]
    fn app_limited(&self) -> bool {
        self.flow().app_limited
    }

    #[setter]
    fn set_app_limited(&self, app_limited: bool) {
        self.flow().app_limited = app_limited;
    }

    /// The packets in flight, oldest first.
    #[getter]
    fn in_flight(&self) -> Vec<u64> {
        self.flow().in_flight()
    }

    /// Their bytes.
    #[getter]
    fn bytes_in_flight(&self) -> u64 {
        self.flow().path.bytes_in_flight.as_u64()
    }

    /// The smoothed RTT in seconds.
    #[getter]
    fn smoothed_rtt(&self) -> f64 {
        self.flow().path.smoothed_rtt.as_secs_f64()
    }

    /// The congestion window in bytes.
    #[getter]
    fn window(&self) -> u64 {
        self.flow().window().as_u64()
    }

    /// The pacing rate in bits per second; None leaves it to the transport.
    #[getter]
    fn pacing(&self) -> Option<f64> {
        let pacing = self.flow().control().pacing;
        pacing.map(|rate| rate.as_bits_per_sec() as f64)
    }

    /// The most bytes in one burst.
    #[getter]
    fn quantum(&self) -> u64 {
        self.flow().control().quantum.as_u64()
    }

    /// Whether the start-up phase is over.
    #[getter]
    fn startup_done(&self) -> bool {
        self.flow().control().startup_done
    }

    /// What packets carry: "ect0", "ect1" or "none".
    #[getter]
    fn ecn(&self) -> &'static str {
        match self.flow().controller.ecn() {
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::NotEct | Ecn::Ce => "none",
        }
    }

    /// The state that traces show.
    #[getter]
    fn state(&self) -> &'static str {
        self.flow().state()
    }

    /// The variables that traces show, by name.
    #[getter]
    fn variables(&self) -> BTreeMap<&'static str, f64> {
        self.flow().shown().variables.into_iter().collect()
    }
}

/// The sample of a delivery rate, which the path has from then on.
fn sample(flow: &mut Flow, bits_per_second: f64) -> PyResult<RateSample> {
    if !(bits_per_second >= 0.0 && bits_per_second.is_finite()) {
        let problem =
            format!("delivery_rate is {bits_per_second}; accepted: bits per second, 0 or more");
        return Err(PyValueError::new_err(problem));
    }
    let rate = Rate::from_bits_per_sec(bits_per_second as u64);
    flow.path.delivery_rate = rate;
    flow.path.peak_rate = flow.path.peak_rate.max(rate);
    let interval = flow.path.smoothed_rtt;
    Ok(RateSample {
        delivered: rate.bytes_in(interval),
        interval,
        rate,
        app_limited: flow.app_limited,
    })
}
