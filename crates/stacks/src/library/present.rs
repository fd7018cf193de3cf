//! Which function of which end is being called, for whoever asks after a crash.
//!
//! It is noted before each call, in memory that another process may share:
//!
//! ```text
//! 0   calls so far         8   function, by its number     16  simulated time in ns     24  end, by its number
//! 64  labels of ends, each of 64 bytes, padded with zeros
//! ```
//!
//! All numbers have 64 bits and the order of bytes of the machine.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use thalweg_units::Instant;

/// Bytes of the record.
pub const SIZE: usize = 64 << 10;
const LABEL: usize = 64;
const LABELS: u64 = (SIZE / LABEL - 1) as u64;
/// The number of no end.
pub(crate) const NOBODY: u64 = u64::MAX;

/// A function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
#[allow(missing_docs, reason = "they have the names of the header")]
pub enum Call {
    Load,
    Describe,
    Create,
    Destroy,
    DatagramIn,
    DatagramOut,
    Next,
    Expire,
    Open,
    Write,
    Read,
    Close,
    Status,
    Probe,
    Fault,
}

impl Call {
    /// All of them, by their numbers.
    pub const ALL: [Call; 15] = [
        Call::Load,
        Call::Describe,
        Call::Create,
        Call::Destroy,
        Call::DatagramIn,
        Call::DatagramOut,
        Call::Next,
        Call::Expire,
        Call::Open,
        Call::Write,
        Call::Read,
        Call::Close,
        Call::Status,
        Call::Probe,
        Call::Fault,
    ];

    /// The name of the function.
    pub fn name(self) -> &'static str {
        match self {
            Call::Load => "its constructor",
            Call::Describe => "thalweg_stack_describe",
            Call::Create => "thalweg_stack_create",
            Call::Destroy => "thalweg_stack_destroy",
            Call::DatagramIn => "thalweg_stack_datagram_in",
            Call::DatagramOut => "thalweg_stack_datagram_out",
            Call::Next => "thalweg_stack_next",
            Call::Expire => "thalweg_stack_expire",
            Call::Open => "thalweg_stack_open",
            Call::Write => "thalweg_stack_write",
            Call::Read => "thalweg_stack_read",
            Call::Close => "thalweg_stack_close",
            Call::Status => "thalweg_stack_status",
            Call::Probe => "thalweg_stack_probe",
            Call::Fault => "thalweg_stack_fault",
        }
    }
}

#[repr(C)]
struct Record {
    calls: AtomicU64,
    function: AtomicU64,
    now: AtomicU64,
    end: AtomicU64,
}

static OWN: Record = Record {
    calls: AtomicU64::new(0),
    function: AtomicU64::new(0),
    now: AtomicU64::new(0),
    end: AtomicU64::new(NOBODY),
};
/// The record in use: our own until another one is given.
static RECORD: AtomicPtr<Record> = AtomicPtr::new((&raw const OWN).cast_mut());
/// Where labels go; null if nobody reads them.
static LABELLED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static ENDS: AtomicUsize = AtomicUsize::new(0);
static LABELLING: Mutex<()> = Mutex::new(());

/// Notes calls from now on in memory of the caller, who may share it with another process.
///
/// # Safety
/// It has [`SIZE`] bytes, is aligned to 8 bytes, and stays until the process ends.
pub unsafe fn share(memory: *mut u8) {
    RECORD.store(memory.cast(), Ordering::Release);
    LABELLED.store(memory, Ordering::Release);
}

/// Notes a call that is about to happen.
#[inline]
pub(crate) fn note(call: Call, now: Instant, end: u64) {
    // SAFETY: it points to `OWN` or to memory that stays.
    let record = unsafe { &*RECORD.load(Ordering::Relaxed) };
    record.function.store(call as u64, Ordering::Relaxed);
    record.now.store(now.as_nanos(), Ordering::Relaxed);
    record.end.store(end, Ordering::Relaxed);
    let calls = record.calls.load(Ordering::Relaxed);
    record.calls.store(calls.wrapping_add(1), Ordering::Release);
}

/// The number of a new end with this label.
pub(crate) fn number(label: &str) -> u64 {
    let number = ENDS.fetch_add(1, Ordering::Relaxed) as u64;
    let memory = LABELLED.load(Ordering::Acquire);
    if !memory.is_null() && number < LABELS {
        let _alone = LABELLING.lock();
        let mut until = label.len().min(LABEL);
        while !label.is_char_boundary(until) {
            until -= 1;
        }
        // SAFETY: the memory has room for this label, and nobody else has its number.
        unsafe {
            let to = memory.add(LABEL * (number as usize + 1));
            std::ptr::copy_nonoverlapping(label.as_ptr(), to, until);
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_numbers_of_their_positions() {
        for (number, call) in Call::ALL.iter().enumerate() {
            assert_eq!(*call as usize, number);
        }
    }
}
