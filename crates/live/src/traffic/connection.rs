//! One connection: both of its endpoints, and its result.

use super::connection_result::ConnectionResult;
use super::flow_trace::FlowRecorder;
use super::program_ends::ProgramEnds;
use super::quic_ends::QuicEnds;
use super::tcp_ends::TcpEnds;
use std::io;
use thalweg_sim::Transfer;
use thalweg_units::{Duration, Instant};

/// One connection, before, during and after its life.
pub(crate) struct Connection {
    /// Index of its flow.
    pub(crate) flow: usize,
    pub(crate) transfer: Transfer,
    /// Scheduled start.
    pub(crate) begins: Instant,
    pub(crate) ends: Ends,
    pub(crate) ended: bool,
    pub(crate) result: ConnectionResult,
}

/// The endpoints of a connection.
pub(crate) enum Ends {
    /// None: it has not started, or it has ended.
    None,
    /// Sockets of the kernel's TCP.
    Tcp(TcpEnds),
    /// The QUIC stack, over UDP sockets.
    Quic(Box<QuicEnds>),
    /// Programs on hosts of their own.
    Program(Box<ProgramEnds>),
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

    /// Records why it failed.
    pub(crate) fn fail(&mut self, error: &io::Error) {
        self.result.error = Some(error.to_string());
        self.ended = true;
    }

    /// Transfers as much as possible without blocking. Closes the sockets at the end.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        chunk: &mut Vec<u8>,
        trace: Option<&mut FlowRecorder>,
    ) {
        let advanced = match &mut self.ends {
            Ends::None => Ok(false),
            Ends::Tcp(ends) => ends.advance(now, chunk, &mut self.result),
            Ends::Quic(ends) => ends.advance(now, chunk, &mut self.result, trace),
            Ends::Program(ends) => ends.advance(now, &mut self.result),
        };
        match advanced {
            Ok(ended) => self.ended |= ended,
            Err(error) => self.fail(&error),
        }
    }

    /// Its next timer.
    pub(crate) fn next(&self) -> Instant {
        match &self.ends {
            Ends::Quic(ends) => ends.next(),
            _ => Instant::NEVER,
        }
    }

    /// Records the state of the sender, and adds it to the trace.
    pub(crate) fn observe(&mut self, now: Instant, trace: Option<&mut FlowRecorder>) {
        match &mut self.ends {
            Ends::None | Ends::Program(_) => {}
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
