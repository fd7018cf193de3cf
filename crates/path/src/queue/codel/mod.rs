//! CoDel: controlled delay (RFC 8289).
//!
//! # Model
//! The sojourn time of a packet is evaluated when it leaves. When it has stayed above `target`
//! for a whole `interval`, packets are dropped (or marked), the next one `interval / sqrt(count)` after
//! the last, until it falls below `target` again. Drops are at the head of the queue.
//!
//! The packet in transmission does not wait and does not count.
//!
//! # Limits
//! The square root has double precision, not the reciprocal root of Newton's method in 16 bits
//! that Linux iterates, whose first drops come up to 3 % later.

use super::discipline::Discipline;
use super::fifo::Fifo;
use crate::DropCause;
use crate::buffer::Queued;
use crate::port::Port;
use thalweg_units::{Bytes, Duration, Instant};

#[cfg(test)]
mod tests;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// Standing wait that is acceptable (RFC 8289 section 4.3): 5 ms.
    pub target: Duration,
    /// A round-trip time that most flows stay below (RFC 8289 section 4.2): 100 ms.
    pub interval: Duration,
    /// Nothing is dropped while no more than this waits (`maxpacket`, RFC 8289 section 5.3): 1514 bytes.
    pub mtu: Bytes,
    /// Whether ECN-capable packets are marked instead of dropped (RFC 8289 section 1): yes.
    pub ecn: bool,
    /// ECN-capable packets that have waited longer than this are marked, whatever the state of the
    /// control law, as `tc-codel` does for data centres and L4S: none.
    pub ce_threshold: Option<Duration>,
}

impl Default for CodelConfig {
    fn default() -> Self {
        CodelConfig {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            mtu: Bytes::new(1514),
            ecn: true,
            ce_threshold: None,
        }
    }
}

/// CoDel over one queue.
#[derive(Debug)]
pub(crate) struct Codel {
    config: CodelConfig,
    control: Control,
    fifo: Fifo,
}

impl Codel {
    pub(super) fn new(config: &CodelConfig) -> Self {
        Codel {
            config: *config,
            control: Control::default(),
            fifo: Fifo::default(),
        }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, newest: Queued, port: &mut Port) {
        if port.fits(newest.size) {
            self.fifo.push(newest);
        } else {
            port.drop(newest, DropCause::Full);
        }
    }

    fn dequeue(&mut self, port: &mut Port) -> Option<Queued> {
        self.control.dequeue(&self.config, &mut self.fifo, port)
    }

    fn shed(&mut self, port: &mut Port) {
        self.fifo.shed(port);
    }

    fn drain(&mut self, _: &Port) -> Vec<Queued> {
        self.fifo.drain()
    }

    fn adopt(&mut self, waiting: Queued) {
        self.fifo.push(waiting);
    }
}

/// The state of the control law (RFC 8289 section 5.2), one for each queue under CoDel.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the wait will have been above the target for an interval; none while it is below.
    first_above: Option<Instant>,
    /// When the next packet is due to be dropped. Kept after dropping ends, for the time since then.
    drop_next: Instant,
    dropping: bool,
    /// Drops since dropping began.
    count: u32,
    /// `count` when dropping began.
    last_count: u32,
}

impl Control {
    /// The packet that leaves `fifo` now, after what the control law drops (RFC 8289 section 5.5).
    pub(super) fn dequeue(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo,
        port: &mut Port,
    ) -> Option<Queued> {
        let now = port.now();
        let mut ok_to_drop;
        let mut head;
        (head, ok_to_drop) = self.judge(config, fifo, now);
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if mark_or_drop(config, &mut head, port) {
                    self.drop_next = law(self.drop_next, config.interval, self.count);
                    break;
                }
                (head, ok_to_drop) = self.judge(config, fifo, now);
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = law(self.drop_next, config.interval, self.count);
                }
            }
        } else if ok_to_drop {
            if !mark_or_drop(config, &mut head, port) {
                (head, _) = self.judge(config, fifo, now);
            }
            self.dropping = true;
            // Dropping that ended recently resumes near its last rate.
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now - self.drop_next < config.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.last_count = self.count;
            self.drop_next = law(now, config.interval, self.count);
        }
        if let (Some(packet), Some(threshold)) = (&mut head, config.ce_threshold)
            && packet.ecn.is_capable()
            && now - packet.arrived > threshold
        {
            port.mark(packet);
        }
        head
    }

    /// Takes the oldest packet, and tells whether it may be dropped: the wait has been above the target
    /// for an interval (`dodequeue`, RFC 8289 section 5.6).
    fn judge(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo,
        now: Instant,
    ) -> (Option<Queued>, bool) {
        let head = fifo.pop();
        let above = head.is_some_and(|packet| {
            now - packet.arrived >= config.target && fifo.bytes() > config.mtu
        });
        if !above {
            self.first_above = None;
            return (head, false);
        }
        let first_above = *self.first_above.get_or_insert(now + config.interval);
        // Set just now it lies an interval ahead.
        (head, now >= first_above)
    }
}

/// The control law: the time of the next drop, `interval / sqrt(count)` after `at` (RFC 8289 section 3.3).
fn law(at: Instant, interval: Duration, count: u32) -> Instant {
    let gap = interval.as_nanos() as f64 / libm::sqrt(f64::from(count));
    at + Duration::from_nanos(gap as u64)
}

/// Marks the packet if enabled and possible; otherwise drops it. Returns whether it was marked.
fn mark_or_drop(config: &CodelConfig, head: &mut Option<Queued>, port: &mut Port) -> bool {
    match head {
        Some(packet) if config.ecn && packet.ecn.is_capable() => {
            port.mark(packet);
            true
        }
        _ => {
            if let Some(packet) = head.take() {
                port.drop(packet, DropCause::Early);
            }
            false
        }
    }
}
