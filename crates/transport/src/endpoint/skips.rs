//! Packet numbers that a sender leaves out, to find receivers that acknowledge what has not arrived (RFC 9000 section 21.4).
//!
//! # Model
//! A number is left out after 1 to 64 packets, then after up to twice as many each time, at most 4096. A frame that
//! acknowledges one of them, or a number that has not been sent yet (RFC 9000 section 13.1), is a connection error of the type
//! PROTOCOL_VIOLATION: the endpoint closes. The numbers left out are remembered as long as packets are, with the newest 64.
//!
//! # Limits
//! A number is left out when an ACK frame has arrived, so that its absence costs nothing between two of them.

use super::Endpoint;
use crate::packet::AckFrame;
use rand_core::{Rng as _, SeedableRng};
use std::collections::VecDeque;
use thalweg_control::Rng;
use thalweg_units::Instant;

/// Most packets before the first number that is left out, and later.
const FIRST: u64 = 64;
const MOST: u64 = 4096;
/// Numbers remembered.
const REMEMBERED: usize = 64;

/// Numbers left out.
#[derive(Debug)]
pub(super) struct Skips {
    rng: Rng,
    most: u64,
    /// From which number on the next one is left out.
    next: u64,
    skipped: VecDeque<u64>,
}

impl Skips {
    pub(super) fn new(seed: u64) -> Self {
        let mut skips = Skips {
            rng: Rng::seed_from_u64(seed),
            most: FIRST,
            next: 0,
            skipped: VecDeque::with_capacity(REMEMBERED),
        };
        skips.plan(0);
        skips
    }

    fn plan(&mut self, from: u64) {
        self.next = from + 1 + self.rng.next_u64() % self.most;
    }

    fn note(&mut self, number: u64) {
        if self.skipped.len() == REMEMBERED {
            self.skipped.pop_front();
        }
        self.skipped.push_back(number);
        self.most = (2 * self.most).min(MOST);
        self.plan(number);
    }
}

impl Endpoint {
    /// An ACK frame has been processed: closes if it acknowledges a number that was left out, and leaves one out from time to
    /// time.
    #[cold]
    pub(super) fn check_skips(&mut self, now: Instant, ack: &AckFrame) {
        let Some(skips) = &mut self.skips else { return };
        if skips.skipped.iter().any(|number| ack.acknowledges(*number)) {
            self.refuse_peer();
            return;
        }
        let number = self.sent.next_number();
        if number >= skips.next {
            skips.note(number);
            self.sent.skip(self.sender.rate.of_handshake(now));
            self.sender.path.next_packet = self.sent.next_number();
            self.sender.path.lowest_unacked = self.sent.lowest_outstanding();
        }
    }

    /// Closes if a frame acknowledges a number that has not been sent.
    #[cold]
    pub(super) fn check_unsent(&mut self, ack: &AckFrame) {
        if ack.largest >= self.sent.next_number() {
            self.refuse_peer();
        }
    }

    /// The peer has violated the protocol: closes the connection.
    fn refuse_peer(&mut self) {
        self.close();
    }
}
