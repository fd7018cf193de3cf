//! One connection of the kernel's TCP at work: both of its ends, and what they experienced.
//!
//! A download begins with a request, as in the simulator, and the server answers with its data; an upload
//! begins with data. Who sends the data closes its direction behind it, and the other side follows.
//! Completion is the moment at which the receiving application has read the last byte, closed the moment
//! at which the sender hears that the other side has closed too.

use crate::socket::Socket;
use crate::sys::tcp::{self, TcpInfo};
use serde::{Deserialize, Serialize};
use std::io;
use thalweg_sim::Transfer;
use thalweg_units::{Bytes, Duration, Instant};

/// What one connection experienced. Times are nanoseconds since the start.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ConnectionResult {
    pub(crate) start: Option<u64>,
    pub(crate) completion: Option<u64>,
    pub(crate) closed: Option<u64>,
    pub(crate) bytes_delivered: u64,
    pub(crate) packets_sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// Of the smoothed RTT, in microseconds.
    pub(crate) rtt_sum: u64,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_max: u64,
    /// As the kernel counts it, in microseconds.
    pub(crate) rtt_min: Option<u64>,
    /// Why it failed, if it did.
    pub(crate) error: Option<String>,
}

/// One connection, before, during and after its life.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Index of its flow.
    pub(crate) flow: usize,
    pub(crate) transfer: Transfer,
    /// When it is to begin.
    pub(crate) begins: Instant,
    pub(crate) client: Option<Socket>,
    pub(crate) server: Option<Socket>,
    pub(crate) ended: bool,
    pub(crate) result: ConnectionResult,
}

impl Connection {
    pub(crate) fn new(flow: usize, start: Duration, transfer: Transfer) -> Connection {
        Connection {
            flow,
            transfer,
            begins: Instant::START + start,
            client: None,
            server: None,
            ended: false,
            result: ConnectionResult::default(),
        }
    }

    pub(crate) fn is_download(&self) -> bool {
        matches!(self.transfer, Transfer::Download { .. })
    }

    /// The data that it moves.
    pub(crate) fn bytes(&self) -> Bytes {
        match self.transfer {
            Transfer::Download { bytes, .. } | Transfer::Upload { bytes } => bytes,
        }
    }

    fn sender(&self) -> Option<&Socket> {
        if self.is_download() {
            self.server.as_ref()
        } else {
            self.client.as_ref()
        }
    }

    /// Notes why it failed.
    pub(crate) fn fail(&mut self, error: &io::Error) {
        self.result.error = Some(error.to_string());
        self.ended = true;
    }

    /// Moves what can be moved, and follows the exchange of request, data and close. At its end the
    /// sockets are closed.
    pub(crate) fn advance(&mut self, now: Instant, chunk: &mut [u8]) {
        if let Err(error) = self.exchange(now, chunk) {
            self.fail(&error);
        }
        if self.ended {
            self.observe();
            self.client = None;
            self.server = None;
        }
    }

    fn exchange(&mut self, now: Instant, chunk: &mut [u8]) -> io::Result<()> {
        let is_download = self.is_download();
        let Connection { client, server, .. } = self;
        for socket in [client.as_mut(), server.as_mut()].into_iter().flatten() {
            socket.pump(chunk)?;
        }
        if let Transfer::Download { bytes, .. } = self.transfer
            && let Some(server) = server
            && server.to_read == 0
            && !server.closes_behind
        {
            server.to_write = bytes.as_u64();
            server.closes_behind = true;
            server.pump(chunk)?;
        }
        let (sender, receiver) = if is_download {
            (server, client)
        } else {
            (client, server)
        };
        let Some(receiver) = receiver else {
            return Ok(());
        };
        self.result.bytes_delivered = receiver.read;
        if receiver.to_read == 0 && receiver.is_connected {
            self.result.completion.get_or_insert(now.as_nanos());
        }
        if receiver.heard_close && !receiver.closes_behind {
            receiver.closes_behind = true;
            receiver.pump(chunk)?;
        }
        if sender.as_ref().is_some_and(|sender| sender.heard_close) {
            self.result.closed = Some(now.as_nanos());
            self.ended = true;
        }
        Ok(())
    }

    /// Notes what the kernel knows of the sender.
    pub(crate) fn observe(&mut self) -> Option<TcpInfo> {
        let sender = self.sender()?;
        if !sender.is_connected {
            return None;
        }
        let info = tcp::info(&sender.stream).ok()?;
        let result = &mut self.result;
        result.packets_sent = u64::from(info.data_segs_out);
        result.retransmitted = u64::from(info.total_retrans);
        result.spurious = u64::from(info.dsack_dups);
        result.timeouts = u64::from(info.total_rto);
        if info.rtt > 0 {
            result.rtt_sum += u64::from(info.rtt);
            result.rtt_samples += 1;
            result.rtt_max = result.rtt_max.max(u64::from(info.rtt));
        }
        if info.min_rtt != u32::MAX {
            result.rtt_min = Some(u64::from(info.min_rtt));
        }
        Some(info)
    }
}
