//! The service of one connection: read the request, transfer the data, answer.

use super::peer::Peer;
use super::report::SenderReport;
use super::request::{Answer, MOST, Outcome, Request, Workload};
use super::transfer::{Document, Reading, Transfer, write_document};
use noq_proto::{Dir, Event, StreamEvent, StreamId};
use std::time::Instant;
use thalweg_control::Registry;
use thalweg_units::Bytes;

/// The application of one connection.
pub(super) struct Service {
    /// The controllers of which the client may select one.
    offered: Option<Registry>,
    control: Option<StreamId>,
    document: Document,
    pub(super) workload: Option<Workload>,
    pub(super) transfer: Option<Transfer>,
    /// When the request was complete, and when all had ended.
    pub(super) began: Option<Instant>,
    pub(super) ended: Option<Instant>,
    /// Why the request was refused.
    pub(super) refused: Option<String>,
}

impl Service {
    pub(super) fn new(offered: Option<Registry>) -> Service {
        Service {
            offered,
            control: None,
            document: Document::default(),
            workload: None,
            transfer: None,
            began: None,
            ended: None,
            refused: None,
        }
    }

    /// Bytes of data transferred.
    pub(super) fn moved(&self) -> u64 {
        let wanted = match self.workload {
            Some(Workload::Download(bytes) | Workload::Upload(bytes)) => bytes.as_u64(),
            _ => 0,
        };
        self.transfer
            .as_ref()
            .map_or(0, |transfer| transfer.moved(wanted))
    }

    /// Processes an event.
    pub(super) fn on_event(&mut self, event: &Event, peer: &mut Peer, now: Instant) {
        match event {
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                self.control = peer.connection.streams().accept(Dir::Bi);
                self.read_request(peer, now);
            }
            Event::Stream(StreamEvent::Readable { id }) if self.control == Some(*id) => {
                self.read_request(peer, now);
            }
            _ => {}
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_event(event, &mut peer.connection, now);
        }
    }

    fn read_request(&mut self, peer: &mut Peer, now: Instant) {
        let Some(id) = self.control.filter(|_| self.began.is_none()) else {
            return;
        };
        let request = match self.document.read(id, &mut peer.connection, MOST) {
            Reading::Incomplete => return,
            Reading::Complete(text) => Request::read(&text),
            Reading::Broken => Err("the request is too long or incomplete".to_owned()),
        };
        self.began = Some(now);
        match request.and_then(|request| self.begin(request, peer, now)) {
            Ok(()) => {
                // Data that arrived before the request raised its event already.
                let opened = Event::Stream(StreamEvent::Opened { dir: Dir::Uni });
                for event in [opened, Event::DatagramReceived] {
                    if let Some(transfer) = &mut self.transfer {
                        transfer.on_event(&event, &mut peer.connection, now);
                    }
                }
            }
            Err(reason) => self.refuse(reason, peer, now),
        }
    }

    fn begin(&mut self, request: Request, peer: &mut Peer, now: Instant) -> Result<(), String> {
        if let Some(controller) = request.controller {
            let Some(offered) = &self.offered else {
                return Err("this server does not let clients choose its controller".to_owned());
            };
            let spec = offered.read(&controller);
            peer.use_controller(&spec.map_err(|error| error.to_string())?);
        }
        self.workload = Some(request.workload);
        self.transfer = Some(match request.workload {
            Workload::Download(bytes) => Transfer::send(bytes.as_u64()),
            Workload::Upload(_) => Transfer::receive(),
            Workload::Call(length) => Transfer::call(length, now),
        });
        Ok(())
    }

    fn refuse(&mut self, reason: String, peer: &mut Peer, now: Instant) {
        self.answer(&Answer::Refused(reason.clone()), peer, now);
        self.refused = Some(reason);
    }

    fn answer(&mut self, answer: &Answer, peer: &mut Peer, now: Instant) {
        self.ended = Some(now);
        if let (Some(id), Ok(text)) = (self.control, serde_json::to_vec(answer)) {
            write_document(id, &text, &mut peer.connection);
        }
    }

    /// Advances; call after events and at [`Service::next`].
    pub(super) fn advance(&mut self, peer: &mut Peer, now: Instant) {
        let Some(transfer) = self.transfer.as_mut().filter(|_| self.ended.is_none()) else {
            return;
        };
        transfer.advance(&mut peer.connection, now);
        if !transfer.is_done(now) {
            return;
        }
        let call = match &transfer {
            Transfer::Calling(call) => Some(call.report()),
            _ => None,
        };
        let received = match &transfer {
            Transfer::Receiving(inflow) => inflow.received,
            _ => 0,
        };
        let wanted = match self.workload {
            Some(Workload::Upload(bytes)) => bytes,
            _ => Bytes::ZERO,
        };
        if received != wanted.as_u64() {
            let reason = format!("received {received} B of an upload of {wanted}");
            return self.refuse(reason, peer, now);
        }
        let outcome = Outcome {
            received,
            sender: SenderReport::of(peer),
            call,
        };
        self.answer(&Answer::Done(Box::new(outcome)), peer, now);
    }

    /// When to advance without an event.
    pub(super) fn next(&self) -> Option<Instant> {
        let transfer = self.transfer.as_ref().filter(|_| self.ended.is_none());
        transfer.and_then(Transfer::next)
    }
}
