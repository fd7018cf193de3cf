//! The event loop of a client: receive, run the connection and its application, send, wait.

use super::error::GetError;
use super::order::{RequestHandle, Summary};
use super::session::Session;
use crate::peer::{Peer, Sending, counted_as};
use crate::report::SenderReport;
use crate::request::{Answer, STOPPING, Workload};
use crate::transfer::Transfer;
use crate::udp::{Readiness, Received, Udp};
use noq_proto::{DatagramEvent, Endpoint, VarInt};
use std::io;
use std::sync::atomic::Ordering;
use std::time::Instant;
use thalweg_units::{Bytes, Duration};

/// Longest time between two checks of the stop flag.
const ATTENTION: std::time::Duration = std::time::Duration::from_millis(50);
/// Timeout after the host of the server has reported that the port is closed.
const DEAD: std::time::Duration = std::time::Duration::from_secs(2);
/// How long the last packet of a connection may take to leave.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(100);
/// Interval between attempts.
const MOMENT: std::time::Duration = std::time::Duration::from_millis(1);

/// The socket, the stack and the application of the client.
pub(super) struct Client<'a> {
    pub(super) udp: Udp,
    pub(super) stack: Endpoint,
    pub(super) peer: Peer,
    pub(super) session: Session<'a>,
    /// When a packet of the server last arrived.
    pub(super) heard: Instant,
    /// Whether its host has reported since that the port is closed.
    pub(super) is_refused: bool,
}

impl Client<'_> {
    pub(super) fn run(&mut self, request: &RequestHandle) -> Result<Summary, GetError> {
        let mut buffer = Vec::with_capacity(1 << 16);
        loop {
            self.receive(&mut buffer)?;
            let now = Instant::now();
            let sending = self.act(now, &mut buffer)?;
            request.moved.store(self.session.moved(), Ordering::Relaxed);
            if let Some(error) = self.session.failure() {
                return Err(error);
            }
            if let Some((ended, text)) = self.session.answer.take() {
                let summary = self.conclude(ended, &text);
                self.say_farewell(VarInt::from_u32(0), &mut buffer);
                return summary;
            }
            if request.stop.load(Ordering::Relaxed) {
                self.say_farewell(STOPPING, &mut buffer);
                return Err(GetError::Interrupted(Bytes::new(self.session.moved())));
            }
            self.check_patience(now, &mut buffer)?;
            self.wait(sending)?;
        }
    }

    fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<(), GetError> {
        let mut trains: Vec<Received> = Vec::new();
        match self.udp.receive(|train| trains.push(train)) {
            Ok(_) => {}
            Err(error) => return self.complain(error),
        }
        let now = Instant::now();
        for mut train in trains {
            while !train.data.is_empty() {
                let length = train.stride.min(train.data.len());
                let datagram = train.data.split_to(length);
                let ecn = train.ecn.map(counted_as);
                buffer.clear();
                let event = self.stack.handle(now, train.path, ecn, datagram, buffer);
                if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                    self.peer.take_in(event);
                    (self.heard, self.is_refused) = (now, false);
                }
            }
        }
        Ok(())
    }

    /// Handles an error of the socket. A closed port ends the handshake at once; later it counts only if the
    /// server stays silent, since anybody might have sent the report.
    fn complain(&mut self, error: io::Error) -> Result<(), GetError> {
        let address = self.session.address;
        match error.kind() {
            io::ErrorKind::ConnectionRefused if self.session.connected.is_some() => {
                self.is_refused = true;
                Ok(())
            }
            io::ErrorKind::ConnectionRefused => Err(GetError::NothingListens(address)),
            _ if self.session.connected.is_some() => Ok(()),
            _ => Err(GetError::Unreachable(address, error)),
        }
    }

    fn act(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Result<Sending, GetError> {
        if self
            .peer
            .connection
            .poll_timeout()
            .is_some_and(|at| at <= now)
        {
            self.peer.connection.handle_timeout(now);
        }
        while let Some(event) = self.peer.connection.poll() {
            self.session.on_event(&event, &mut self.peer, now);
        }
        self.session.advance(&mut self.peer, now);
        let sending = match self.peer.transmit(now, &self.udp, buffer) {
            Ok(sending) => sending,
            Err(error) => {
                self.complain(error)?;
                Sending::Done
            }
        };
        self.peer.sample(now);
        self.peer.exchange(&mut self.stack);
        Ok(sending)
    }

    fn check_patience(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Result<(), GetError> {
        let session = &self.session;
        let patience = session.order.patience;
        let error = match session.connected {
            None if now >= session.begin + std::time::Duration::from(patience) => {
                GetError::NoAnswer(session.address, patience)
            }
            Some(_) if self.is_refused && now >= self.heard + DEAD => session.vanished(),
            _ => return Ok(()),
        };
        self.say_farewell(VarInt::from_u32(0), buffer);
        Err(error)
    }

    fn wait(&self, sending: Sending) -> Result<(), GetError> {
        let readiness = match sending {
            Sending::More => return Ok(()),
            Sending::Done => Readiness::Readable,
            Sending::Full => Readiness::ReadableOrWritable,
        };
        let now = Instant::now();
        let call = self.session.transfer.as_ref().and_then(Transfer::next);
        let times = [self.peer.connection.poll_timeout(), call];
        let next = times
            .into_iter()
            .flatten()
            .fold(now + ATTENTION, Instant::min);
        let waited = self
            .udp
            .wait(readiness, next.saturating_duration_since(now));
        waited.map_err(|error| GetError::Unreachable(self.session.address, error))
    }

    /// Closes the connection with one packet, which pacing may delay for a moment.
    fn say_farewell(&mut self, code: VarInt, buffer: &mut Vec<u8>) {
        let begin = Instant::now();
        self.peer.connection.close(begin, code, bytes::Bytes::new());
        let before = self.peer.sent;
        while begin.elapsed() < FAREWELL {
            let now = Instant::now();
            self.peer.connection.handle_timeout(now);
            let sending = self.peer.transmit(now, &self.udp, buffer);
            if sending.is_err() || self.peer.sent > before {
                return;
            }
            let _ = self.udp.wait(Readiness::Readable, MOMENT);
        }
    }

    fn conclude(&mut self, ended: Instant, text: &[u8]) -> Result<Summary, GetError> {
        let session = &self.session;
        let address = session.address;
        let foreign = |what: String| GetError::Foreign(address, what);
        let answer = serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
        let outcome = match answer {
            Answer::Refused(reason) => return Err(GetError::Refused(address, reason)),
            Answer::Done(outcome) => outcome,
        };
        let moved = session.moved();
        let is_whole = match session.order.workload {
            Workload::Download(bytes) => moved == bytes.as_u64() && session.finished.is_some(),
            Workload::Upload(bytes) => outcome.received == bytes.as_u64(),
            Workload::Call(_) => outcome.call.is_some(),
        };
        if !is_whole {
            return Err(foreign("it transferred less than requested".to_owned()));
        }
        let connected = session.connected.unwrap_or(session.begin);
        let since =
            |later: Instant, earlier| Duration::from(later.saturating_duration_since(earlier));
        let (mut first_byte, mut calls) = (None, None);
        match &session.transfer {
            Some(Transfer::Receiving(inflow)) => {
                first_byte = inflow.first_byte.map(|at| since(at, connected));
            }
            Some(Transfer::Calling(ours)) => {
                calls = outcome.call.map(|theirs| (ours.report(), theirs))
            }
            _ => {}
        }
        Ok(Summary {
            server: address,
            handshake: since(connected, session.begin),
            first_byte,
            elapsed: since(session.finished.unwrap_or(ended), connected),
            moved: Bytes::new(moved),
            client: SenderReport::of(&self.peer),
            sender: outcome.sender,
            calls,
            samples: self.peer.samples.take().map(|recorder| recorder.trace),
        })
    }
}
