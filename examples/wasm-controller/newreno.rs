//! NewReno (RFC 9002 section 7) as a module for the page of the lab: trial for trial what `reno` of Thalweg does.
//!
//! rustc --edition 2024 --target wasm32-unknown-unknown --crate-type cdylib -C opt-level=3 -C strip=symbols newreno.rs
//!
//! The page writes the record of an event and of the path into the memory of the module and calls a handler with the
//! handle of a controller; then it reads the decision. docs/how-to/lab-controllers.md lists the numbers of each record.

use std::cell::{Cell, RefCell};

const WIDEST: usize = 32;

thread_local! {
    static EVENT: [Cell<f64>; WIDEST] = const { [const { Cell::new(0.0) }; WIDEST] };
    static PATH: [Cell<f64>; WIDEST] = const { [const { Cell::new(0.0) }; WIDEST] };
    static DECISION: [Cell<f64>; 4] = const { [const { Cell::new(0.0) }; 4] };
    static MADE: RefCell<Vec<NewReno>> = const { RefCell::new(Vec::new()) };
}

/// One controller of one end of a connection. Windows are whole bytes.
struct NewReno {
    mtu: f64,
    window: f64,
    ssthresh: f64,
    /// Bytes acknowledged in congestion avoidance and not yet turned into growth.
    acked: f64,
    /// First packet that the last reduction does not cover.
    recovery_end: f64,
    in_recovery: bool,
}

impl NewReno {
    /// Section 7.3.2: at most one reduction for each round trip.
    fn congestion(&mut self, packet: f64, next_packet: f64) {
        if packet < self.recovery_end {
            return;
        }
        self.recovery_end = next_packet;
        self.in_recovery = true;
        self.ssthresh = (self.window / 2.0).floor().max(2.0 * self.mtu);
        self.window = self.ssthresh;
        self.acked = 0.0;
    }
}

fn event(index: usize) -> f64 {
    EVENT.with(|record| record[index].get())
}

fn path(index: usize) -> f64 {
    PATH.with(|record| record[index].get())
}

/// Numbers of the path.
const MTU: usize = 1;
const NEXT_PACKET: usize = 11;
const WINDOW_LIMITED: usize = 20;

/// Changes a controller, and writes its decision.
fn decide(handle: u32, change: impl FnOnce(&mut NewReno)) {
    MADE.with_borrow_mut(|made| {
        let own = &mut made[handle as usize];
        change(own);
        let done = f64::from(u8::from(own.window >= own.ssthresh));
        DECISION.with(|decision| {
            for (cell, number) in decision.iter().zip([own.window, f64::NAN, f64::NAN, done]) {
                cell.set(number);
            }
        });
    });
}

#[unsafe(no_mangle)]
extern "C" fn thalweg_abi() -> u32 {
    1
}

#[unsafe(no_mangle)]
extern "C" fn event_at() -> u32 {
    EVENT.with(|record| record.as_ptr() as u32)
}

#[unsafe(no_mangle)]
extern "C" fn path_at() -> u32 {
    PATH.with(|record| record.as_ptr() as u32)
}

#[unsafe(no_mangle)]
extern "C" fn decision_at() -> u32 {
    DECISION.with(|record| record.as_ptr() as u32)
}

#[unsafe(no_mangle)]
extern "C" fn make(mtu: f64, initial_window: f64, _now: f64) -> u32 {
    let handle = MADE.with_borrow_mut(|made| {
        made.push(NewReno {
            mtu,
            window: initial_window.max(2.0 * mtu), // section 7.2
            ssthresh: f64::INFINITY,
            acked: 0.0,
            recovery_end: 0.0,
            in_recovery: false,
        });
        made.len() as u32 - 1
    });
    decide(handle, |_| {});
    handle
}

#[unsafe(no_mangle)]
extern "C" fn on_ack(handle: u32) {
    let (largest, newly_acked) = (event(0), event(1));
    // `snapshot.app_limited` and `snapshot.window_limited`: section 7.8.
    let underused = event(17) == 1.0 && event(18) == 0.0 && path(WINDOW_LIMITED) == 0.0;
    decide(handle, |own| {
        own.mtu = path(MTU);
        own.window = own.window.max(2.0 * own.mtu);
        if largest >= own.recovery_end {
            own.in_recovery = false;
        }
        if own.in_recovery || underused {
            return;
        }
        if own.window < own.ssthresh {
            own.window += newly_acked; // section 7.3.1
            return;
        }
        own.acked += newly_acked; // section 7.3.3
        if own.acked >= own.window {
            own.acked -= own.window;
            own.window += own.mtu;
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn on_lost(handle: u32) {
    let (packet, is_persistent) = (event(0), event(2) == 1.0);
    decide(handle, |own| {
        own.congestion(packet, path(NEXT_PACKET));
        if is_persistent {
            own.window = 2.0 * own.mtu; // section 7.6.2
            own.in_recovery = false;
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn on_ecn(handle: u32) {
    let largest = event(3);
    decide(handle, |own| own.congestion(largest, path(NEXT_PACKET))); // section 7.1
}
