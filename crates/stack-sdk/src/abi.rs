//! The types and constants of `include/thalweg_stack.h`, which says what they mean.

#![allow(missing_docs, reason = "they have the names of the header")]

use std::ffi::{c_char, c_void};

/// Version of the interface.
pub const ABI: u32 = 1;

pub const OK: i32 = 0;
pub const BLOCKED: i32 = -1;
pub const FAULT: i32 = -2;

/// A timer that is not set.
pub const NEVER: u64 = u64::MAX;
/// A number that a probe does not know.
pub const UNKNOWN: u64 = u64::MAX;
/// Most datagrams that a stack may send at one instant.
pub const MOST_AT_ONCE: u32 = 131_072;

pub const CLIENT: u32 = 0;
pub const SERVER: u32 = 1;

pub const CONNECTING: i32 = 0;
pub const ESTABLISHED: i32 = 1;
pub const CLOSED: i32 = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Info {
    pub abi: u32,
    pub max_streams: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub controllers: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub role: u32,
    pub ack_every: u32,
    pub seed: [u8; 32],
    pub connection: [u8; 32],
    pub controller: *const c_char,
    pub initial_window: u64,
    pub initial_mtu: u64,
    pub max_mtu: u64,
    pub max_ack_delay_ns: u64,
    pub receive_window: u64,
    pub paced: u32,
    pub ack_frequency: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    pub data: *mut u8,
    pub length: usize,
    pub ecn: u32,
    pub reserved: u32,
    pub not_before: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    pub stream: u64,
    pub bytes: u64,
    pub fin: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Probes {
    pub window: u64,
    pub in_flight: u64,
    pub smoothed_rtt_ns: u64,
    pub latest_rtt_ns: u64,
    pub pacing_rate: u64,
    pub packets_lost: u64,
    pub state: *const c_char,
}

impl Probes {
    /// Nothing is known.
    pub const NONE: Probes = Probes {
        window: UNKNOWN,
        in_flight: UNKNOWN,
        smoothed_rtt_ns: UNKNOWN,
        latest_rtt_ns: UNKNOWN,
        pacing_rate: UNKNOWN,
        packets_lost: UNKNOWN,
        state: std::ptr::null(),
    };
}

/// `thalweg_stack *`.
pub type Handle = *mut c_void;

pub type Describe = unsafe extern "C" fn() -> *const Info;
pub type Create = unsafe extern "C" fn(*const Options, u64, *mut c_char, usize) -> Handle;
pub type Destroy = unsafe extern "C" fn(Handle);
pub type DatagramIn = unsafe extern "C" fn(Handle, u64, u32, *const u8, usize) -> i32;
pub type DatagramOut = unsafe extern "C" fn(Handle, u64, *mut Datagram) -> i32;
pub type Next = unsafe extern "C" fn(Handle) -> u64;
pub type Expire = unsafe extern "C" fn(Handle, u64) -> i32;
pub type Open = unsafe extern "C" fn(Handle, u64) -> i64;
pub type Write = unsafe extern "C" fn(Handle, u64, u64, u64, u32) -> i64;
pub type Read = unsafe extern "C" fn(Handle, u64, *mut Arrival) -> i32;
pub type Close = unsafe extern "C" fn(Handle, u64) -> i32;
pub type Status = unsafe extern "C" fn(Handle) -> i32;
pub type Probe = unsafe extern "C" fn(Handle, *mut Probes) -> i32;
pub type Fault = unsafe extern "C" fn(Handle) -> *const c_char;

#[cfg(test)]
mod tests {
    use super::*;

    /// The header as a C compiler reads it on a machine of 64 bits, the only ones that are supported.
    #[test]
    fn types_have_the_sizes_of_the_header() {
        assert_eq!(size_of::<Info>(), 4 + 4 + 3 * 8);
        assert_eq!(size_of::<Options>(), 4 + 4 + 32 + 32 + 8 + 5 * 8 + 4 + 4);
        assert_eq!(size_of::<Datagram>(), 8 + 8 + 4 + 4 + 8);
        assert_eq!(size_of::<Arrival>(), 8 + 8 + 4 + 4);
        assert_eq!(size_of::<Probes>(), 6 * 8 + 8);
    }
}
