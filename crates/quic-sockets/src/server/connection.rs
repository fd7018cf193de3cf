//! One connection of a server, from its handshake to its end.

use super::config::{Served, ServerConfig};
use crate::peer::{Peer, Sending};
use crate::report::SenderReport;
use crate::request::SLOW;
use crate::service::Service;
use crate::udp::Udp;
use noq_proto::{ConnectionError, Endpoint, Event};
use std::net::SocketAddr;
use std::time::Instant;
use thalweg_units::{Bytes, Duration};

pub(super) struct Connection {
    pub(super) address: SocketAddr,
    pub(super) peer: Peer,
    pub(super) service: Service,
    /// Deadline of the handshake, then of the request.
    pub(super) deadline: Option<Instant>,
    pub(super) is_established: bool,
    /// Whether an event may allow it to send.
    pub(super) is_awake: bool,
    pub(super) sending: Sending,
    pub(super) error: Option<String>,
    pub(super) is_told: bool,
}

impl Connection {
    /// A client has started to connect.
    pub(super) fn new(
        address: SocketAddr,
        mut peer: Peer,
        config: &ServerConfig,
        now: Instant,
    ) -> Connection {
        if config.trace {
            peer.record();
        }
        Connection {
            address,
            peer,
            service: Service::new(config.offered.clone()),
            deadline: Some(now + std::time::Duration::from(config.limits.patience)),
            is_established: false,
            is_awake: true,
            sending: Sending::Done,
            error: None,
            is_told: false,
        }
    }

    pub(super) fn is_half_open(&self) -> bool {
        !self.is_established && !self.is_over()
    }

    /// Whether the client is no longer served.
    pub(super) fn is_over(&self) -> bool {
        self.error.is_some() || self.peer.connection.is_closed()
    }

    /// Whether the connection can be removed.
    pub(super) fn act(
        &mut self,
        now: Instant,
        patience: Duration,
        udp: &Udp,
        stack: &mut Endpoint,
        buffer: &mut Vec<u8>,
    ) -> bool {
        if self.deadline.is_some_and(|at| at <= now) {
            self.deadline = None;
            let reason = bytes::Bytes::from_static(b"no request in time");
            self.peer.connection.close(now, SLOW, reason);
        }
        loop {
            let mut is_idle = true;
            while let Some(event) = self.peer.connection.poll() {
                is_idle = false;
                self.on_event(&event, now, patience);
            }
            if is_idle {
                break;
            }
        }
        if !self.is_over() {
            self.service.advance(&mut self.peer, now);
            if self.service.began.is_some() {
                self.deadline = None;
            }
        }
        // An unreachable client counts as silent.
        let sent = self.peer.transmit(now, udp, buffer);
        self.sending = sent.unwrap_or(Sending::Done);
        self.peer.sample(now);
        self.peer.exchange(stack)
    }

    fn on_event(&mut self, event: &Event, now: Instant, patience: Duration) {
        match event {
            Event::Connected => {
                self.is_established = true;
                self.peer.shared.flow().establish();
                self.deadline = Some(now + std::time::Duration::from(patience));
            }
            Event::HandshakeConfirmed => self.peer.is_confirmed = true,
            Event::ConnectionLost { reason } => {
                self.deadline = None;
                self.error = match reason {
                    // All data was transferred and answered.
                    _ if self.service.ended.is_some() => None,
                    ConnectionError::TimedOut => Some("the client stopped answering".to_owned()),
                    reason => Some(reason.to_string()),
                };
            }
            event => self.service.on_event(event, &mut self.peer, now),
        }
    }

    /// The result of the request, if there was one.
    pub(super) fn result(&mut self, now: Instant) -> Option<Served> {
        let (began, workload) = (self.service.began?, self.service.workload?);
        let ended = self.service.ended.unwrap_or(now);
        Some(Served {
            address: self.address,
            workload,
            moved: Bytes::new(self.service.moved()),
            elapsed: ended.saturating_duration_since(began).into(),
            error: self.service.refused.take().or_else(|| self.error.take()),
            sender: SenderReport::of(&self.peer),
            samples: self.peer.samples.take().map(|recorder| recorder.trace),
        })
    }
}
