//! The handshake (RFC 9001 section 4) as far as it affects timing: the size and time of its packets.
//!
//! ```text
//! client                                  server
//! Initial                1252  ->
//!                              <-   1252  Initial + Handshake           (ServerHello)
//!                              <-    511  Handshake + first 1-RTT packet (ServerFinished)
//!                              <-   1440  path MTU probe
//! ACK                     197  ->
//! Finished + request      591  ->
//! path MTU probe         1440  ->
//! ```
//!
//! A connection may have a few bytes more in the server's second datagram (`handshake_excess`).
//! Sizes are the sizes of the reference's first flight. They matter because its acknowledgements give
//! the first rate estimates, and with them the size of the second flight.
//!
//! # Limits
//! No Retry, no version negotiation: each side retransmits its flight on one timer that starts
//! at three initial RTTs (RFC 9002 section 6.2.2) and doubles. Copies of a flight have different numbers, so
//! an answer yields the RTT of the copy that it acknowledges (section 5.1).

use thalweg_units::{Bytes, Duration, Instant};

pub(crate) const INITIAL_SIZE: u32 = 1252;
pub(crate) const SERVER_HELLO_SIZE: u32 = 1252;
pub(crate) const HANDSHAKE_ACK_SIZE: u32 = 197;
/// The datagram that completes the server's flight ...
const SERVER_FINISHED_SIZE: u32 = 511;
/// ... and the 1-RTT packet in it; the rest is of the Handshake space.
pub(crate) const SERVER_FINISHED_APP: u32 = 222;
/// The client's Finished, coalesced with its first 1-RTT packet.
pub(crate) const CLIENT_FINISHED_SIZE: u32 = 160;
/// What the client's first acknowledgement reports as delivered, without AEAD tags.
pub(crate) const DELIVERED_BY_ACK: Bytes = Bytes::new(1152);
/// What its Finished acknowledges: the rest of the ServerHello datagram and the Handshake part of the
/// next, without their tags.
const DELIVERED_BY_FINISHED: Bytes = Bytes::new(
    (SERVER_HELLO_SIZE - 32 - 1152 + SERVER_FINISHED_SIZE - SERVER_FINISHED_APP - 16) as u64,
);
/// Handshake bytes in flight until the client's Finished.
const IN_FLIGHT: u32 = SERVER_HELLO_SIZE + SERVER_FINISHED_SIZE - SERVER_FINISHED_APP;
/// Until its peer's address is validated, a server sends at most this many times what it received
/// (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;
/// The first timer: three times the initial RTT of 333 ms (RFC 9002 section 6.2.2).
const FIRST_TIMEOUT: Duration = Duration::from_millis(999);

/// Progress of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing has happened.
    Idle,
    /// The first flight is due or in flight: Initial (client), ServerHello (server).
    Started,
    /// The other side has received it: ServerHello received (client), acknowledged (server).
    Answered,
    /// Both Finished have arrived.
    Complete,
}

#[derive(Debug)]
pub(crate) struct Handshake {
    /// Bytes that the second datagram of the server has beyond the usual, in the Handshake space.
    excess: u32,
    pub(crate) stage: Stage,
    /// A first-flight packet waits to be sent.
    pub(crate) flight_pending: bool,
    /// The client has to acknowledge the ServerHello.
    pub(crate) ack_pending: bool,
    /// The Finished of this side waits to be sent.
    pub(crate) finished_pending: bool,
    /// The client has the server's Finished, maybe before its ServerHello.
    pub(crate) peer_finished: bool,
    /// Send time of each copy of the first flight.
    flights: Vec<Instant>,
    /// Number of the newest copy of the peer's flight that has arrived.
    pub(crate) newest_received: u64,
    /// The address of the peer is validated (RFC 9000 section 8.1).
    pub(crate) validated: bool,
    received: u64,
    sent: u64,
    timeouts: u32,
    pub(crate) deadline: Instant,
}

impl Handshake {
    pub(crate) fn new(excess: Bytes) -> Self {
        Handshake {
            excess: excess.as_u64() as u32,
            stage: Stage::Idle,
            flight_pending: false,
            ack_pending: false,
            finished_pending: false,
            peer_finished: false,
            flights: Vec::new(),
            newest_received: 0,
            validated: false,
            received: 0,
            sent: 0,
            timeouts: 0,
            deadline: Instant::NEVER,
        }
    }

    /// Size of the datagram that completes the server's flight.
    pub(crate) fn server_finished_size(&self) -> u32 {
        SERVER_FINISHED_SIZE + self.excess
    }

    /// Handshake bytes of the server in flight until the client's Finished.
    pub(crate) fn in_flight(&self) -> Bytes {
        Bytes::new(u64::from(IN_FLIGHT + self.excess))
    }

    /// What the client's Finished reports as delivered.
    pub(crate) fn delivered_by_finished(&self) -> Bytes {
        DELIVERED_BY_FINISHED + Bytes::new(u64::from(self.excess))
    }

    pub(crate) fn start(&mut self) {
        self.stage = Stage::Started;
        self.flight_pending = true;
    }

    pub(crate) fn on_received(&mut self, size: u32) {
        self.received += u64::from(size);
    }

    /// A copy of the peer's flight arrives.
    pub(crate) fn on_flight(&mut self, number: u64) {
        self.newest_received = self.newest_received.max(number);
    }

    pub(crate) fn on_sent(&mut self, size: u32) {
        self.sent += u64::from(size);
    }

    /// Whether the anti-amplification limit lets a server send `size` more bytes.
    pub(crate) fn may_send(&self, size: u32) -> bool {
        self.validated || self.sent + u64::from(size) <= AMPLIFICATION * self.received
    }

    /// The first flight leaves; the number of this copy.
    pub(crate) fn on_flight_sent(&mut self, now: Instant) -> u64 {
        self.flight_pending = false;
        self.flights.push(now);
        self.deadline = now + FIRST_TIMEOUT * (1 << self.timeouts.min(6));
        self.flights.len() as u64 - 1
    }

    /// When copy `number` of the first flight left, if it did.
    pub(crate) fn flight_sent(&self, number: u64) -> Option<Instant> {
        self.flights.get(usize::try_from(number).ok()?).copied()
    }

    /// The client's acknowledgement of the ServerHello is sent. If the rest of the server's flight does not
    /// arrive within `period`, it is sent again: the server may lack the credit to retransmit
    /// (RFC 9002 section 6.2.2.1).
    pub(crate) fn on_ack_sent(&mut self, now: Instant, period: Duration) {
        self.ack_pending = false;
        if self.stage == Stage::Answered {
            self.deadline = now + period * (1 << self.timeouts.min(6));
        }
    }

    /// The timer fired: retransmits the flight, or a client's acknowledgement of the answer.
    pub(crate) fn on_timeout(&mut self) {
        self.timeouts += 1;
        self.deadline = Instant::NEVER;
        if self.stage == Stage::Started {
            self.flight_pending = true;
        } else {
            self.ack_pending = true;
        }
    }

    /// The other side has answered.
    pub(crate) fn on_answer(&mut self, stage: Stage) {
        self.stage = stage;
        self.flight_pending = false;
        self.deadline = Instant::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unvalidated_client_gets_three_times_what_it_sent() {
        let mut handshake = Handshake::new(Bytes::ZERO);
        handshake.on_received(1252);
        assert!(handshake.may_send(3756) && !handshake.may_send(3757));
        handshake.on_sent(3000);
        assert!(handshake.may_send(756) && !handshake.may_send(757));
        handshake.validated = true;
        assert!(handshake.may_send(1_000_000));
    }

    #[test]
    fn the_first_flight_adds_up_to_what_the_reference_delivers() {
        // 1252 + 511 + 1440 = 3203 bytes less five tags of 16 = 3123
        let app = u64::from(SERVER_FINISHED_APP - 16 + 1440 - 16);
        let handshake = DELIVERED_BY_ACK + DELIVERED_BY_FINISHED;
        assert_eq!(handshake.as_u64() + app, 3203 - 5 * 16);
    }
}
