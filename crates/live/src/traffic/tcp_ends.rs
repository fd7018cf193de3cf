//! Both ends of a connection of the kernel's TCP.
//!
//! A download starts with a request, as in the simulator, and the server answers with its data; an upload
//! starts with data. The sender of the data closes its direction after it, then the other side closes.
//! Completion is when the receiving application has read the last byte, closed when
//! the sender sees that the other side has closed too.

use super::connection_result::ConnectionResult;
use super::socket::Socket;
use crate::sys::tcp::{self, TcpInfo};
use std::io;
use thalweg_sim::Transfer;
use thalweg_units::{Bytes, Duration, Instant};

/// The ends of one connection.
#[derive(Debug)]
pub(crate) struct TcpEnds {
    /// Number of the connection.
    pub(crate) number: usize,
    pub(crate) transfer: Transfer,
    pub(crate) client: Socket,
    pub(crate) server: Option<Socket>,
}

impl TcpEnds {
    fn is_download(&self) -> bool {
        matches!(self.transfer, Transfer::Download { .. })
    }

    /// The data that it transfers.
    pub(crate) fn bytes(&self) -> Bytes {
        self.transfer.bytes()
    }

    fn sender(&self) -> Option<&Socket> {
        if self.is_download() {
            self.server.as_ref()
        } else {
            Some(&self.client)
        }
    }

    /// Advances the exchange of request, data and close; returns whether it has ended.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        chunk: &mut [u8],
        result: &mut ConnectionResult,
    ) -> io::Result<bool> {
        let is_download = self.is_download();
        let TcpEnds { client, server, .. } = self;
        client.pump(chunk)?;
        if let Some(server) = server {
            server.pump(chunk)?;
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
        let (sender, receiver) = match (is_download, server) {
            (true, server) => (server.as_mut(), Some(client)),
            (false, server) => (Some(client), server.as_mut()),
        };
        let Some(receiver) = receiver else {
            return Ok(false);
        };
        result.bytes_delivered = Bytes::new(receiver.read);
        if receiver.to_read == 0 && receiver.is_connected {
            result.completion.get_or_insert(now - Instant::START);
        }
        if receiver.heard_close && !receiver.closes_behind {
            receiver.closes_behind = true;
            receiver.pump(chunk)?;
        }
        let is_over = sender.is_some_and(|sender| sender.heard_close);
        if is_over {
            result.closed = Some(now - Instant::START);
        }
        Ok(is_over)
    }

    /// Records the kernel's state of the sender.
    pub(crate) fn observe(&mut self, result: &mut ConnectionResult) -> Option<TcpInfo> {
        let sender = self.sender()?;
        if !sender.is_connected {
            return None;
        }
        let info = tcp::info(&sender.stream).ok()?;
        result.packets_sent = u64::from(info.data_segs_out);
        result.packets_lost = u64::from(info.total_retrans);
        result.spurious = u64::from(info.dsack_dups);
        result.timeouts = u64::from(info.total_rto);
        let micros = |micros: u32| Duration::from_micros(u64::from(micros));
        if info.rtt > 0 {
            result.rtt_sum += micros(info.rtt);
            result.rtt_samples += 1;
            result.rtt_max = result.rtt_max.max(micros(info.rtt));
        }
        if info.min_rtt != u32::MAX {
            result.rtt_min = Some(micros(info.min_rtt));
        }
        Some(info)
    }
}
