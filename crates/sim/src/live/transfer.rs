//! A scenario as seen by real time.

use crate::scenario::hop::{Direction, LinkId};
use crate::scenario::{FlowSpec, Scenario, Workload};
use crate::trial::seed;
use thalweg_path::LinkConfig;
use thalweg_units::{Bytes, Duration};

/// The transfer of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The client sends a request and receives data.
    Download {
        /// Data.
        bytes: Bytes,
        /// Request.
        request: Bytes,
    },
    /// The client sends data.
    Upload {
        /// Data.
        bytes: Bytes,
    },
    /// One side or both send media.
    Call,
}

impl Transfer {
    /// The data that it transfers, of which a call has none.
    pub fn bytes(&self) -> Bytes {
        match self {
            Transfer::Download { bytes, .. } | Transfer::Upload { bytes } => *bytes,
            Transfer::Call => Bytes::ZERO,
        }
    }
}

impl Scenario {
    /// Length of the bins of its series, if it has any.
    pub fn sample(&self) -> Option<Duration> {
        self.sample
    }

    /// The only hop of the scenario: the links from server to client and back. `None` if it has several.
    pub fn path(&self) -> Option<[&LinkConfig; 2]> {
        match &self.hops[..] {
            [hop] => Some([&hop.links.down, &hop.links.up]),
            _ => None,
        }
    }

    /// The seeds of these links in the trial with seed `trial`: they draw what they draw in the simulator.
    pub fn path_seeds(&self, trial: u64) -> [u64; 2] {
        Direction::BOTH.map(|direction| seed::of_link(self, trial, LinkId::new(0, direction)))
    }
}

impl FlowSpec {
    /// Its transfers in the trial with seed `trial`, one connection each, in the order of their
    /// starts, with the starts from the start of the trial: one, or one per request.
    pub fn transfers(&self, trial: u64) -> Vec<(Duration, Transfer)> {
        let transfer = match &self.workload {
            &Workload::Download { bytes, request, .. } => Transfer::Download { bytes, request },
            &Workload::Upload { bytes, .. } => Transfer::Upload { bytes },
            Workload::Call(_) => Transfer::Call,
            Workload::Requests(arrivals) => {
                let drawn = arrivals.draw(trial, &self.name).into_iter();
                let request = arrivals.request;
                let download = |bytes| Transfer::Download { bytes, request };
                let all = drawn.map(|arrival| {
                    let after = arrival.after.unwrap_or_default(); // no closed loop
                    (self.start + after, download(arrival.bytes()))
                });
                return all.collect();
            }
        };
        vec![(self.start, transfer)]
    }

    /// Whether its data or media cross the link down, and whether they cross the link up.
    pub fn data_links(&self) -> [bool; 2] {
        Direction::BOTH.map(|direction| self.workload.is_sent_by(direction.receiver().peer()))
    }

    /// Whether each of its connections transfers one sequence of bytes, in one direction, as TCP can.
    pub fn is_plain(&self) -> bool {
        match &self.workload {
            Workload::Download { streams, .. } | Workload::Upload { streams, .. } => *streams == 1,
            Workload::Requests(_) => true,
            Workload::Call(_) => false,
        }
    }

    /// Largest UDP payload that it sends before path MTU discovery.
    pub fn initial_mtu(&self) -> Bytes {
        self.transport.initial_mtu
    }

    /// Whether it is a flow of requests.
    pub fn has_requests(&self) -> bool {
        matches!(self.workload, Workload::Requests(_))
    }
}
