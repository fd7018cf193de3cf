//! Acknowledgements that the controller of their sender governs, as in picoquic (`picoquic_queue_for_retransmit` of its
//! `sender.c`): a packet with only an ACK frame has a number, counts in flight until it is acknowledged or given up, and
//! needs pacing credit. The window does not hold it back, but holds back what else its sender has: credit of flow control.
//!
//! It elicits no acknowledgement, so each so many carry a PING. Where nothing else is outstanding, the timer gives up what is
//! not acknowledged, and sends no probe: two idle ends would probe each other for ever. RFC 9002 section 7 lets ACK frames
//! neither count nor wait.

use super::Endpoint;
use crate::packet::{ACK_ONLY_SIZE, Frame, Kind, MAX_FRAMES, Packet, used};
use crate::sent_packets::{Fate, SentPacket};
use thalweg_control::event::Timeout;
use thalweg_units::{Bytes, Instant};

/// Acknowledgements from one PING to the next.
const PING_EVERY: u32 = 24;

impl Endpoint {
    /// When its credit allows an acknowledgement that is due at `deadline`.
    pub(super) fn paced_ack(&self, deadline: Instant) -> Instant {
        match deadline {
            Instant::NEVER => deadline,
            due => due.max(self.pacer.ready_at()),
        }
    }

    /// An acknowledgement by itself, if the pacer allows it.
    #[inline(never)] // few acknowledgements count
    pub(super) fn acknowledge_counted(&mut self, now: Instant) -> Option<Packet> {
        if !self.pacer.is_ready(now) {
            return None;
        }
        let ack = self.receiver.acks.take(now)?;
        self.end_rest();
        self.acks_since_ping += 1;
        let mut frames = [Frame::None; MAX_FRAMES];
        if self.acks_since_ping == PING_EVERY {
            self.acks_since_ping = 0;
            frames[0] = Frame::Ping;
        }
        let (number, ecn) = self.register(now, ACK_ONLY_SIZE, ACK_ONLY_SIZE, &frames);
        Some(Packet {
            kind: Kind::Data,
            ecn,
            size: ACK_ONLY_SIZE,
            number,
            ack: Some(ack),
            frames,
        })
    }

    fn outstanding(&self, number: u64) -> Option<&SentPacket> {
        let is_open = self.sent.fate(number) == Fate::Outstanding;
        self.sent.get(number).filter(|_| is_open)
    }

    /// A probe timeout gives up what is outstanding, if that is only acknowledgements. Whether it is.
    pub(super) fn gives_up_acks(&mut self, now: Instant) -> bool {
        let outstanding = self.sent.lowest_outstanding()..self.sent.next_number();
        let elicits = |number| {
            self.outstanding(number)
                .is_some_and(|packet| used(&packet.frames).next().is_some())
        };
        if outstanding.clone().any(elicits) {
            return false;
        }
        let mut oldest = None;
        for number in outstanding {
            let Some(state) = self.outstanding(number).map(|packet| packet.state) else {
                continue;
            };
            self.sent.give_up(number);
            let size = Bytes::new(u64::from(state.size));
            self.sender.path.bytes_in_flight -= size;
            self.sender.path.lost += self.sender.counted(size);
            oldest = oldest.or(Some((number, state)));
        }
        self.sent.advance();
        self.sender.path.lowest_unacked = self.sent.lowest_outstanding();
        if let Some((packet, state)) = oldest {
            let event = Timeout {
                count: 1,
                packet,
                snapshot: state.compare(&self.sender.path),
            };
            self.sender
                .tell_if_established(now, |controller, cx| controller.on_timeout(&event, cx));
            self.refresh_control();
        }
        true
    }
}
