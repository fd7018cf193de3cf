//! What both stacks report, in the terms of Thalweg's own sender.
//!
//! Packets are known by the time at which they left and, where the stack tells it, by their number; the sender
//! renumbers them, since each packet number space of a stack starts at 0.

use rand_core::SeedableRng as _;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time;
use thalweg_control::{Control, ControllerSpec, Init, Rng, SpecError};
use thalweg_transport::{StackFlow, TransportConfig};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

/// Makes controllers for the connections of a stack.
///
/// Read from the name of a controller with its options, such as `c4` or `cubic:start=classic`.
#[derive(Clone, Debug)]
pub struct Factory {
    spec: ControllerSpec,
    initial_window: Option<Bytes>,
    seed: Option<u64>,
}

impl Factory {
    /// Makes controllers as `spec` says.
    pub fn new(spec: ControllerSpec) -> Self {
        Factory {
            spec,
            initial_window: None,
            seed: None,
        }
    }
    /// Sets the window that connections start with; ten packets, and at least 14 720 bytes unless packets are
    /// larger, if not set (RFC 9002 section 7.2).
    pub fn initial_window(mut self, window: Bytes) -> Self {
        self.initial_window = Some(window);
        self
    }
    /// Sets the random seed of controllers; if not set, each connection draws its own.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    pub(crate) fn bridge(&self, now: time::Instant, mtu: u16) -> Bridge {
        let mtu = Bytes::new(u64::from(mtu));
        let recommended = (mtu * 10).min((mtu * 2).max(Bytes::new(14_720)));
        let config = TransportConfig {
            initial_window: self.initial_window.unwrap_or(recommended),
            initial_mtu: mtu,
            ..TransportConfig::default()
        };
        let init = Init {
            now: Instant::START,
            mtu,
            initial_window: config.initial_window,
            media: None,
        };
        let seed = self
            .seed
            .unwrap_or_else(|| RandomState::new().build_hasher().finish());
        let controller = self.spec.build(&init);
        let mut flow = StackFlow::new(Some(controller), config, init.now, Rng::seed_from_u64(seed));
        flow.set_codepoint(Ecn::Ect0); // the only one that the stacks send
        flow.establish();
        Bridge(Mutex::new(Sender {
            flow,
            epoch: now,
            sent: VecDeque::new(),
            next: 0,
            newest_acked: Instant::START,
        }))
    }
}

impl From<ControllerSpec> for Factory {
    fn from(spec: ControllerSpec) -> Self {
        Factory::new(spec)
    }
}

impl FromStr for Factory {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        text.parse().map(Factory::new)
    }
}

/// A packet whose fate is open.
#[derive(Debug)]
struct Open {
    /// Number that the sender gave it.
    number: u64,
    /// Number that the stack gave it, if reported.
    theirs: Option<u64>,
    size: Bytes,
    at: Instant,
}

/// One sender. The stack asks for the window through a shared reference, and the answer may first process pending
/// reports: hence the lock, which is never contended.
pub(crate) struct Bridge(Mutex<Sender>);

impl Bridge {
    pub(crate) fn sender(&self) -> MutexGuard<'_, Sender> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Sender {
    flow: StackFlow,
    epoch: time::Instant,
    sent: VecDeque<Open>,
    next: u64,
    newest_acked: Instant,
}

impl Sender {
    fn at(&self, time: time::Instant) -> Instant {
        let since = time.saturating_duration_since(self.epoch).as_nanos();
        Instant::START + Duration::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }

    /// A packet left.
    pub(crate) fn on_sent(&mut self, now: time::Instant, size: u64, theirs: Option<u64>) {
        let (at, size) = (self.at(now), Bytes::new(size));
        let open = Open {
            number: self.next,
            theirs,
            size,
            at,
        };
        self.flow.on_sent(at, self.next, size);
        self.sent.push_back(open);
        self.next += 1;
    }

    /// A packet that left at `sent` was acknowledged.
    pub(crate) fn on_acked(
        &mut self,
        now: time::Instant,
        sent: time::Instant,
        theirs: Option<u64>,
        app_limited: bool,
    ) {
        let (now, at) = (self.at(now), self.at(sent));
        let first = self.sent.partition_point(|open| open.at < at);
        let same = self.sent.range(first..).take_while(|open| open.at == at);
        let position = same
            .enumerate()
            .find(|(_, open)| theirs.is_none() || open.theirs == theirs);
        let Some((offset, _)) = position else {
            return;
        };
        let Some(open) = self.sent.remove(first + offset) else {
            return;
        };
        self.newest_acked = self.newest_acked.max(at);
        self.flow
            .on_acked(now, at, open.number, open.size, app_limited);
    }

    /// All acknowledgements of one frame are in.
    pub(crate) fn on_acks_ended(&mut self, now: time::Instant) {
        let now = self.at(now);
        self.flow.on_acks_ended(now);
        // What left two round trips before an acknowledged packet, and is not lost by now, never will be.
        let patience = self.flow.path().smoothed_rtt * 2;
        while let Some(oldest) = self.sent.front()
            && self.flow.path().has_rtt()
            && oldest.at + patience < self.newest_acked
        {
            self.flow.forget(oldest.number);
            self.sent.pop_front();
        }
    }

    /// One packet was declared lost.
    pub(crate) fn on_lost(&mut self, now: time::Instant, theirs: u64) {
        let now = self.at(now);
        let found = self
            .sent
            .iter()
            .position(|open| open.theirs == Some(theirs));
        if let Some(open) = found.and_then(|position| self.sent.remove(position)) {
            self.flow.on_lost(now, open.number, open.size);
        }
    }

    /// Packets of `bytes` in all were declared lost, the last of which left at `sent`: the oldest ones.
    pub(crate) fn on_lost_until(&mut self, now: time::Instant, sent: time::Instant, bytes: u64) {
        let (now, last) = (self.at(now), self.at(sent));
        let mut left = Bytes::new(bytes);
        while let Some(oldest) = self.sent.front()
            && oldest.at <= last
            && !left.is_zero()
        {
            let (number, size) = (oldest.number, oldest.size);
            left -= size.min(left);
            self.flow.on_lost(now, number, size);
            self.sent.pop_front();
        }
    }

    /// The present losses amount to persistent congestion.
    pub(crate) fn on_persistent_congestion(&mut self) {
        self.flow.on_persistent_congestion();
    }

    /// The peer has reported CE marks.
    pub(crate) fn on_marked(&mut self, now: time::Instant) {
        let now = self.at(now);
        self.flow.on_marked(now);
    }

    /// The loss was spurious: the packets arrived.
    #[cfg(feature = "noq")]
    pub(crate) fn on_spurious(&mut self) {
        self.flow.on_spurious();
    }

    /// The window was reached with data left to send.
    #[cfg(feature = "noq")]
    pub(crate) fn on_window_limited(&mut self) {
        self.flow.on_window_limited();
    }

    pub(crate) fn set_mtu(&mut self, mtu: u16) {
        self.flow.set_mtu(Bytes::new(u64::from(mtu)));
    }

    pub(crate) fn initial_window(&self) -> u64 {
        self.flow.initial_window().as_u64()
    }

    /// The decision of the controller, after all reports.
    pub(crate) fn control(&mut self) -> Control {
        self.flow.control()
    }

    /// The window as the stacks understand it. RFC 9002 section 7: no packet may make bytes in flight *larger* than the
    /// window. Both stacks also hold back a packet that would make them equal, so that a window of two packets would
    /// carry one, and a window below one packet none.
    pub(crate) fn window(&mut self) -> u64 {
        let window = self.flow.control().window.max(self.flow.path().mtu);
        window.as_u64().saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of full size that a stack lets leave before the first acknowledgement (`path_congestion_check` of noq,
    /// `poll_transmit` of quinn): the controller starts with a window for packets of 1200 bytes.
    fn packets_that_leave(window: u64, mtu: u16) -> u64 {
        let factory: Factory = "reno".parse().unwrap();
        let factory = factory.initial_window(Bytes::new(window)).seed(1);
        let now = time::Instant::now();
        let bridge = factory.bridge(now, 1200);
        let mut sender = bridge.sender();
        sender.set_mtu(mtu);
        let (mut packets, size) = (0, u64::from(mtu));
        while sender.flow.path().bytes_in_flight.as_u64() + size < sender.window() {
            sender.on_sent(now, size, Some(packets));
            packets += 1;
        }
        packets
    }

    /// RFC 9002 section 7.
    #[test]
    fn a_window_of_whole_packets_carries_all_of_them() {
        assert_eq!(packets_that_leave(2 * 1200, 1200), 2);
        assert_eq!(packets_that_leave(10 * 1200, 1200), 10);
        assert_eq!(packets_that_leave(10 * 1200 - 1, 1200), 9);
    }

    #[test]
    fn a_window_below_one_packet_carries_one() {
        assert_eq!(packets_that_leave(2 * 1200, 9000), 1);
    }
}
