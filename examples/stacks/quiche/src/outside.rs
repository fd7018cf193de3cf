//! The clock and the random numbers of everything in this library: quiche, BoringSSL and Rust's standard library.
//!
//! quiche asks `Instant::now()`, and so `clock_gettime`, and BoringSSL's `RAND_bytes`. The linker sends both here
//! (`build.rs`). One thread calls a library at a time.

use std::cell::Cell;
use std::ffi::{c_int, c_long};

/// What the clocks show at time 0, seconds: some day, so that durations can be subtracted.
const START_S: u64 = 1_000_000;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// Sets the clocks, in nanoseconds, for all ends.
pub(crate) fn set_now(now: u64) {
    NOW.set(now);
}

/// Puts the random numbers of another end in place, and returns those that were there.
pub(crate) fn replace_random(state: u64) -> u64 {
    RANDOM.replace(state)
}

/// `struct timespec`.
#[repr(C)]
struct Time {
    seconds: c_long,
    nanoseconds: c_long,
}

/// `clock_gettime` of any clock.
///
/// # Safety
/// `time` points to a time.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_clock_gettime(_clock: c_int, time: *mut Time) -> c_int {
    let now = NOW.get();
    let shown = Time {
        seconds: (START_S + now / 1_000_000_000) as c_long,
        nanoseconds: (now % 1_000_000_000) as c_long,
    };
    // SAFETY: as above.
    unsafe { time.write(shown) };
    0
}

/// `RAND_bytes` of BoringSSL (SplitMix64).
///
/// # Safety
/// `to` points to so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_RAND_bytes(to: *mut u8, length: usize) -> c_int {
    // SAFETY: as above; a slice must not be of a null pointer, even if it is empty.
    let to = match length {
        0 => &mut [],
        _ => unsafe { std::slice::from_raw_parts_mut(to, length) },
    };
    for part in to.chunks_mut(8) {
        part.copy_from_slice(&draw().to_le_bytes()[..part.len()]);
    }
    1
}

fn draw() -> u64 {
    let state = RANDOM.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    RANDOM.set(state);
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
