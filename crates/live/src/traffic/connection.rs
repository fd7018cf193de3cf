//! One connection at work: both of its ends, and what they experienced.

use super::flow_trace::FlowTrace;
use super::quic_ends::QuicEnds;
use super::tcp_ends::TcpEnds;
use serde::{Deserialize, Serialize};
use std::io;
use thalweg_sim::Transfer;
use thalweg_units::{Duration, Instant};

/// What one connection experienced. Times are nanoseconds, those of events since the start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ConnectionResult {
    pub(crate) start: Option<u64>,
    /// How long after that it really began.
    pub(crate) start_lateness: u64,
    pub(crate) completion: Option<u64>,
    pub(crate) closed: Option<u64>,
    pub(crate) bytes_delivered: u64,
    pub(crate) packets_sent: u64,
    /// Sent again by TCP; declared lost by QUIC.
    pub(crate) packets_lost: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// Of the smoothed RTT for TCP, of the samples for QUIC.
    pub(crate) rtt_sum: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_max: u64,
    pub(crate) rtt_min: Option<u64>,
    /// Of each stream of a call, the columns; what is absent is none.
    pub(crate) media: Vec<(String, Option<f64>)>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

/// One connection, before, during and after its life.
pub(crate) struct Connection {
    /// Index of its flow.
    pub(crate) flow: usize,
    pub(crate) transfer: Transfer,
    /// When it is to begin.
    pub(crate) begins: Instant,
    pub(crate) ends: Ends,
    pub(crate) ended: bool,
    pub(crate) result: ConnectionResult,
}

/// What stands at the ends of a connection.
pub(crate) enum Ends {
    /// Nothing: it has not begun, or it has ended.
    None,
    /// Sockets of the kernel's TCP.
    Tcp(TcpEnds),
    /// The QUIC stack, over sockets of UDP.
    Quic(Box<QuicEnds>),
}

impl Connection {
    pub(crate) fn new(flow: usize, start: Duration, transfer: Transfer) -> Connection {
        Connection {
            flow,
            transfer,
            begins: Instant::START + start,
            ends: Ends::None,
            ended: false,
            result: ConnectionResult::default(),
        }
    }

    /// Notes why it failed.
    pub(crate) fn fail(&mut self, error: &io::Error) {
        self.result.error = Some(error.to_string());
        self.ended = true;
    }

    /// Moves what can be moved. At its end the sockets are closed.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        chunk: &mut Vec<u8>,
        trace: Option<&mut FlowTrace>,
    ) {
        let advanced = match &mut self.ends {
            Ends::None => Ok(false),
            Ends::Tcp(ends) => ends.advance(now, chunk, &mut self.result),
            Ends::Quic(ends) => ends.advance(now, chunk, &mut self.result, trace),
        };
        match advanced {
            Ok(ended) => self.ended |= ended,
            Err(error) => self.fail(&error),
        }
    }

    /// When it has something to do whatever the sockets do.
    pub(crate) fn next(&self) -> Instant {
        match &self.ends {
            Ends::Quic(ends) => ends.next(),
            _ => Instant::NEVER,
        }
    }

    /// Notes what the sender knows, and adds it to the trace.
    pub(crate) fn observe(&mut self, now: Instant, trace: Option<&mut FlowTrace>) {
        match &mut self.ends {
            Ends::None => {}
            Ends::Tcp(ends) => {
                if let Some(info) = ends.observe(&mut self.result)
                    && let Some(trace) = trace
                {
                    trace.take_tcp(now, ends.number, &info, ends.bytes());
                }
            }
            Ends::Quic(ends) => ends.observe(now, &mut self.result, trace),
        }
    }
}
