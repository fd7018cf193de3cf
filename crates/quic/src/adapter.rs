//! Our controllers behind the `Controller` trait of the stack, and the stack's own under our measurements.
//!
//! The stack queries window and pacing rate before each packet; by then all reports of one acknowledgement
//! are in, and the controller gets them as one event (`thalweg_transport::StackFlow`). The stack uses the send
//! quantum to bound a batch of segments, and paces with its own token bucket (2 ms at the
//! pacing rate, at least ten packets, at most 10 ms).

use crate::clock::Clock;
use crate::header::{self, Space};
use crate::unacked::Unacked;
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thalweg_control::Control;
use thalweg_transport::StackFlow;
use thalweg_units::{Bytes, Rate};

/// A rate in bytes per second above the rate of any path.
const UNPACED: u64 = 1 << 40;

/// A packet built by the stack.
#[derive(Clone, Copy, Debug)]
struct Made {
    number: u64,
    size: Bytes,
    /// Whether the stack had queried the window before; not for probes.
    asked: bool,
}

/// Ack-eliciting packets that the stack has sent.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// The datagrams that it builds now.
    made: Vec<Made>,
    pub(crate) unacked: Unacked,
}

/// One sender, shared by a connection of the stack and by whoever moves its datagrams: `QuicEndpoint` in virtual time,
/// `thalweg-quic-sockets` over UDP.
///
/// The stack reports acknowledgements and losses to it by itself. Its user calls [`take_asked`](SharedSender::take_asked)
/// before the stack builds datagrams, and [`note_sent`](SharedSender::note_sent) after it has; if it had built none and
/// had not queried the window, its user tells the flow that there was nothing to send.
pub struct SharedSender {
    pub(crate) clock: Clock,
    flow: Mutex<StackFlow>,
    sent: Mutex<Sent>,
    /// Whether the stack has queried the window: it does so when it has ack-eliciting data to send other than
    /// a probe.
    asked: AtomicBool,
}

impl SharedSender {
    /// A sender whose virtual time starts now.
    pub fn new(flow: StackFlow) -> Self {
        SharedSender {
            clock: Clock::new(),
            flow: Mutex::new(flow),
            sent: Mutex::new(Sent::default()),
            asked: AtomicBool::new(false),
        }
    }

    /// Makes the controller of its connection: ours, or else one of the stack's own under our measurements.
    pub fn factory(
        self: &Arc<Self>,
        theirs: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    ) -> Arc<dyn ControllerFactory + Send + Sync> {
        Arc::new(Factory {
            shared: Arc::clone(self),
            theirs,
        })
    }

    /// The virtual time of an instant of the stack.
    pub fn virtual_time(&self, instant: Instant) -> thalweg_units::Instant {
        self.clock.virtual_time(instant)
    }

    /// What is measured of it, and its controller.
    pub fn flow(&self) -> MutexGuard<'_, StackFlow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports the ack-eliciting packets of the application space that the stack has built since the last call, and
    /// returns the number of the last one. Until the handshake is confirmed, a datagram may hold packets of several
    /// spaces: the stack then builds datagrams one at a time, and `unconfirmed` is the one that it has built. Later there
    /// are not packets of other spaces, and `unconfirmed` is `None`.
    pub fn note_sent(
        &self,
        now: thalweg_units::Instant,
        unconfirmed: Option<&[u8]>,
    ) -> Option<u64> {
        let mut sent = self.sent();
        let Sent { made, unacked } = &mut *sent;
        if let Some(datagram) = unconfirmed {
            let packets: Vec<_> = header::packets(datagram).collect();
            let mut packets = packets.into_iter();
            let mut data = None;
            while let Some(packet) = made.pop() {
                let is_same = |(_, length): &(Space, usize)| *length as u64 == packet.size.as_u64();
                match packets.rfind(is_same) {
                    Some((Space::Data, _)) => data = Some(packet),
                    Some((space, _)) => unacked.note_sent(space, now, packet.number, packet.size),
                    None => {}
                }
            }
            made.extend(data);
        }
        if let Some(last) = made.last() {
            unacked.note_sent(Space::Data, now, last.number, last.size);
        }
        if made.is_empty() {
            return None;
        }
        let mut flow = self.flow();
        let mut last = None;
        for Made {
            number,
            size,
            asked,
        } in made.drain(..)
        {
            let is_mtu_probe = size > flow.path().mtu;
            flow.on_sent(now, number, size);
            last = Some(number);
            if !asked && !is_mtu_probe {
                flow.on_probe_sent();
            }
        }
        last
    }

    pub(crate) fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the stack has queried the window since the last call.
    pub fn take_asked(&self) -> bool {
        self.asked.swap(false, Ordering::Relaxed)
    }
}

/// Makes adapters to one flow: an endpoint has one connection.
struct Factory {
    shared: Arc<SharedSender>,
    /// Builds the controller, if it is one of the stack's own.
    theirs: Option<Arc<dyn ControllerFactory + Send + Sync>>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Adapter {
            shared: Arc::clone(&self.shared),
            theirs: self.theirs.clone().map(|factory| factory.build(now, mtu)),
        })
    }
}

struct Adapter {
    shared: Arc<SharedSender>,
    /// The stack's own controller, if in use.
    theirs: Option<Box<dyn Controller>>,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter").finish_non_exhaustive()
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_sent(now, bytes, largest_pn);
        }
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_packet_sent(now, bytes, pn);
        }
        let made = Made {
            number: pn,
            size: Bytes::new(u64::from(bytes)),
            asked: self.shared.asked.load(Ordering::Relaxed),
        };
        self.shared.sent().made.push(made);
    }

    fn on_cwnd_limited(&mut self) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_cwnd_limited();
        }
        self.shared.flow().on_window_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_ack(now, sent, bytes, pn, app_limited, rtt);
        }
        let (now, sent) = (
            self.shared.clock.virtual_time(now),
            self.shared.clock.virtual_time(sent),
        );
        let size = Bytes::new(bytes);
        self.shared.sent().unacked.note_acked(sent, pn, size);
        self.shared
            .flow()
            .on_acked(now, sent, pn, size, app_limited);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_acked: Option<u64>,
    ) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_end_acks(now, in_flight, app_limited, largest_acked);
        }
        if let Some(number) = largest_acked {
            self.shared.sent().unacked.note_largest_acked(number);
        }
        self.shared
            .flow()
            .on_acks_ended(self.shared.clock.virtual_time(now));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_congestion_event(
                now,
                sent,
                is_persistent_congestion,
                is_ecn,
                lost_bytes,
                largest_lost_pn,
            );
        }
        let mut flow = self.shared.flow();
        if is_ecn {
            flow.on_marked(self.shared.clock.virtual_time(now));
        }
        if is_persistent_congestion {
            flow.on_persistent_congestion();
        }
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_packet_lost(lost_bytes, pn, now);
        }
        let now = self.shared.clock.virtual_time(now);
        let size = Bytes::new(u64::from(lost_bytes));
        self.shared.flow().on_lost(now, pn, size);
    }

    fn on_spurious_congestion_event(&mut self) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_spurious_congestion_event();
        }
        self.shared.flow().on_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_mtu_update(new_mtu);
        }
        self.shared.flow().set_mtu(Bytes::new(u64::from(new_mtu)));
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, max_ack_delay: Duration) {
        if let Some(theirs) = &mut self.theirs {
            theirs.on_ack_frequency_update(threshold, max_ack_delay);
        }
    }

    fn window(&self) -> u64 {
        self.shared.asked.store(true, Ordering::Relaxed);
        if let Some(theirs) = &self.theirs {
            let mut flow = self.shared.flow();
            flow.flush();
            let metrics = theirs.metrics();
            flow.follow(decided(&metrics), metrics.ssthresh);
            return theirs.window();
        }
        // RFC 9002 section 7: a sender must not make bytes in flight *larger* than the window. The stack also holds
        // back a packet that would make them equal (`path_congestion_check` in its `connection/mod.rs`), so it
        // would send one packet with a window of two.
        let mut flow = self.shared.flow();
        let window = flow.control().window.as_u64();
        // With a window below one packet, for which the modelled endpoint sends one at a time, it would send none.
        window.max(flow.path().mtu.as_u64()).saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut flow = self.shared.flow();
        if let Some(theirs) = &self.theirs {
            let mut metrics = theirs.metrics();
            metrics.pacing_rate = metrics
                .pacing_rate
                .or((!flow.is_paced()).then_some(UNPACED));
            return metrics;
        }
        let control = flow.control();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = control.window.as_u64().max(1);
        // The first window may be sent at once (RFC 9002 section 7.7), as by the modelled endpoint;
        // later, the stack paces a controller without a rate like its own.
        let is_first = flow.path().largest_acked.is_none();
        let unpaced = (is_first || !flow.is_paced()).then_some(UNPACED);
        let rate = control.pacing.map(|rate| rate.as_bits_per_sec() / 8);
        metrics.pacing_rate = rate.or(unpaced);
        metrics.send_quantum = Some(control.quantum.as_u64());
        metrics
    }

    /// The stack clones the controller when the path changes, which ours never do: both then share the flow.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Adapter {
            shared: Arc::clone(&self.shared),
            theirs: self.theirs.as_ref().map(|theirs| theirs.clone_box()),
        })
    }

    fn initial_window(&self) -> u64 {
        if let Some(theirs) = &self.theirs {
            return theirs.initial_window();
        }
        self.shared.flow().initial_window().as_u64()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The decision of the stack's own controller, in our terms.
fn decided(metrics: &ControllerMetrics) -> Control {
    let pacing = metrics.pacing_rate.map(|rate| rate.saturating_mul(8));
    Control {
        window: Bytes::new(metrics.congestion_window),
        pacing: pacing.map(Rate::from_bits_per_sec),
        quantum: Bytes::new(metrics.send_quantum.unwrap_or(0)),
        startup_done: true,
    }
}
