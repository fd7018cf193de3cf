//! What limits a sender of data, at each instant of its life.
//!
//! # Model
//! A sender that could send and does not is limited by exactly one of [`LimitedBy`], from one attempt to send to the
//! next: the endpoint knows at each attempt why it has to wait. What it sends at an instant takes no time.
//!
//! A wait for a probe timeout that fires counts as [`LimitedBy::Stalled`] from the last packet sent on, whatever
//! limited the sender when it began to wait, and until an acknowledgement arrives.
//!
//! # Source
//! The causes that T-RAT tells apart (Zhang et al., "On the Characteristics and Origins of Internet Flow Rates", SIGCOMM
//! 2002), with names of RFC 9002 and RFC 9000 section 4.
//!
//! # Limits
//! Nothing is known of a real stack. A host that holds a bundle back for more window counts as limited by the window.

use thalweg_units::{Duration, Instant};

/// Why a sender does not send more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// The handshake is not complete, or the peer's address is not validated.
    Handshake,
    /// There is nothing to send.
    Application,
    /// The peer allows no more data of the connection or of its streams (RFC 9000 section 4).
    FlowControl,
    /// The pacer makes it wait.
    Pacing,
    /// The congestion window is full.
    Window,
    /// Nothing came back until a probe timeout, and nothing since (RFC 9002 section 6.2).
    Stalled,
}

impl LimitedBy {
    /// All, in the order of [`Limits::spent`].
    pub const ALL: [LimitedBy; 6] = [
        LimitedBy::Handshake,
        LimitedBy::Application,
        LimitedBy::FlowControl,
        LimitedBy::Pacing,
        LimitedBy::Window,
        LimitedBy::Stalled,
    ];

    /// Its name in scenarios, tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            LimitedBy::Handshake => "handshake",
            LimitedBy::Application => "application",
            LimitedBy::FlowControl => "flow-control",
            LimitedBy::Pacing => "pacing",
            LimitedBy::Window => "window",
            LimitedBy::Stalled => "stalled",
        }
    }

    /// When it holds, in words.
    pub fn meaning(self) -> &'static str {
        match self {
            LimitedBy::Handshake => "the handshake is not complete",
            LimitedBy::Application => "there is nothing to send",
            LimitedBy::FlowControl => "the receiver allows no more data",
            LimitedBy::Pacing => "the pacer makes the sender wait",
            LimitedBy::Window => "the congestion window is full",
            LimitedBy::Stalled => "nothing came back until a probe timeout, and nothing since",
        }
    }

    /// The limit of a name.
    pub fn from_name(name: &str) -> Option<LimitedBy> {
        LimitedBy::ALL.into_iter().find(|by| by.name() == name)
    }

    /// The column of outcomes that holds its share of time.
    pub fn column(self) -> String {
        format!("limited_{}", self.name().replace('-', "_"))
    }
}

/// The time that a sender has spent under each limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    by: LimitedBy,
    since: Instant,
    spent: [Duration; 6],
    /// The life of the flow is over.
    stopped: bool,
}

impl Limits {
    /// The limits of a connection that starts at `start`.
    pub(crate) fn new(start: Instant) -> Self {
        Limits {
            by: LimitedBy::Handshake,
            since: start,
            spent: [Duration::ZERO; 6],
            stopped: false,
        }
    }

    /// What limits the sender now.
    pub(crate) fn by(&self) -> LimitedBy {
        self.by
    }

    /// The sender has tried to send, and waits.
    #[inline]
    pub(crate) fn wait(&mut self, now: Instant, by: LimitedBy) {
        if by != self.by {
            self.change(now, by);
        }
    }

    #[inline(never)] // most attempts end as the one before
    fn change(&mut self, now: Instant, by: LimitedBy) {
        if !self.stopped {
            self.spent[self.by as usize] += now.since(self.since);
            self.since = self.since.max(now);
        }
        self.by = by;
    }

    /// A probe timeout has fired, since nothing has come back from `sent` on.
    pub(crate) fn stall(&mut self, now: Instant, sent: Instant) {
        self.change(sent, LimitedBy::Stalled);
        self.wait(now, LimitedBy::Stalled);
    }

    /// The flow has ended.
    pub(crate) fn stop(&mut self, now: Instant) {
        self.change(now, self.by);
        self.stopped = true;
    }

    /// The times spent by `now`.
    pub(crate) fn spent(&self, now: Instant) -> [Duration; 6] {
        let mut limits = *self;
        limits.change(now, self.by);
        limits.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }
    fn spent(limits: &Limits, now: u64) -> [u64; 6] {
        limits.spent(at(now)).map(|time| time.as_millis())
    }

    #[test]
    fn times_add_up_to_the_life_of_the_flow_and_stop_with_it() {
        let mut limits = Limits::new(at(100));
        limits.wait(at(150), LimitedBy::Window);
        limits.wait(at(170), LimitedBy::Window);
        limits.wait(at(190), LimitedBy::Application);
        assert_eq!(spent(&limits, 200), [50, 10, 0, 0, 40, 0]);
        limits.stop(at(210));
        limits.wait(at(300), LimitedBy::Pacing);
        assert_eq!(spent(&limits, 400), [50, 20, 0, 0, 40, 0]);
    }

    #[test]
    fn a_timeout_takes_the_wait_from_the_last_packet_on() {
        let mut limits = Limits::new(at(0));
        limits.wait(at(10), LimitedBy::Window);
        // The last packet left at 30 ms, the timeout fired at 230, and an ACK came at 280.
        limits.stall(at(230), at(30));
        limits.wait(at(280), LimitedBy::Pacing);
        assert_eq!(spent(&limits, 300), [10, 0, 0, 20, 20, 250]);
        // The next two of one stall: the wait between them is counted once.
        limits.wait(at(300), LimitedBy::Window);
        limits.stall(at(400), at(320));
        limits.stall(at(600), at(400));
        assert_eq!(spent(&limits, 610), [10, 0, 0, 20, 40, 250 + 290]);
    }
}
