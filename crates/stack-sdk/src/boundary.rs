//! What the exported functions do: pointers become references, and a panic becomes a fault.
//!
//! The code of a stack is behind [`catch_unwind`]; after a panic it is not called again. The functions that
//! [`export_stack!`](crate::export_stack) makes do nothing but call those here.

use crate::abi;
use crate::stack::{Options, Probes, Role, Stack, Status, Written};
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// A stack, and what its panic said if it has panicked.
pub struct Guarded<S> {
    stack: S,
    fault: Option<CString>,
}

/// What a caller in C holds.
type Handle = abi::Handle;

impl<S: Stack> Guarded<S> {
    fn call<T>(&mut self, what: impl FnOnce(&mut S) -> T, fault: T) -> T {
        if self.fault.is_some() {
            return fault;
        }
        match catch_unwind(AssertUnwindSafe(|| what(&mut self.stack))) {
            Ok(result) => result,
            Err(panic) => {
                self.fault = Some(text_of(&message_of(panic)));
                fault
            }
        }
    }
}

/// The end behind a handle.
///
/// # Safety
/// The handle is one of [`create`] for the same type, not destroyed, and used by nobody else now.
unsafe fn end<'a, S: Stack>(handle: Handle) -> &'a mut Guarded<S> {
    // SAFETY: as above.
    unsafe { &mut *handle.cast::<Guarded<S>>() }
}

/// What a panic says. Its payload is forgotten: to drop it may panic again, where nothing catches it.
fn message_of(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    std::mem::forget(panic);
    format!("panicked: {}", text.unwrap_or_default())
}

/// A text of C: as far as it has no zero byte.
fn text_of(text: &str) -> CString {
    let until = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..until]).unwrap_or_default()
}

fn say(problem: &str, to: *mut c_char, room: usize) {
    let text = text_of(problem);
    let bytes = text.as_bytes();
    let length = bytes.len().min(room.saturating_sub(1));
    if room > 0 && !to.is_null() {
        // SAFETY: the caller has given room for `room` bytes, more than `length`.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), length);
            *to.cast::<u8>().add(length) = 0;
        }
    }
}

/// See `thalweg_stack_create`.
///
/// # Safety
/// The pointers are as the header declares them.
pub unsafe fn create<S: Stack>(
    options: *const abi::Options,
    now: u64,
    problem: *mut c_char,
    room: usize,
) -> Handle {
    // SAFETY: the caller's options and their text outlive the call.
    let (given, controller) = unsafe {
        let given = &*options;
        (given, CStr::from_ptr(given.controller).to_string_lossy())
    };
    let options = Options {
        role: match given.role {
            abi::CLIENT => Role::Client,
            _ => Role::Server,
        },
        seed: given.seed,
        connection: given.connection,
        controller: &controller,
        initial_window: given.initial_window,
        initial_mtu: given.initial_mtu,
        max_mtu: given.max_mtu,
        ack_every: given.ack_every,
        ack_frequency: given.ack_frequency != 0,
        max_ack_delay_ns: given.max_ack_delay_ns,
        receive_window: (given.receive_window > 0).then_some(given.receive_window),
        is_paced: given.paced != 0,
    };
    let created = catch_unwind(AssertUnwindSafe(|| S::create(&options, now)));
    let refused = match created {
        Ok(Ok(stack)) => {
            let fault = None;
            return Box::into_raw(Box::new(Guarded { stack, fault })).cast();
        }
        Ok(Err(refused)) => refused,
        Err(panic) => message_of(panic),
    };
    say(&refused, problem, room);
    ptr::null_mut()
}

/// See `thalweg_stack_destroy`.
///
/// # Safety
/// As for [`end`]; the handle is not used again.
pub unsafe fn destroy<S: Stack>(handle: Handle) {
    // SAFETY: it came from `create`.
    let guarded = unsafe { Box::from_raw(handle.cast::<Guarded<S>>()) };
    // Nobody is there to hear of a panic.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(move || drop(guarded))) {
        message_of(panic);
    }
}

/// See `thalweg_stack_datagram_in`.
///
/// # Safety
/// As for [`end`]; `data` has `length` bytes.
pub unsafe fn datagram_in<S: Stack>(
    handle: Handle,
    now: u64,
    ecn: u32,
    data: *const u8,
    length: usize,
) -> i32 {
    // SAFETY: as above.
    let (end, data) = unsafe { (end::<S>(handle), std::slice::from_raw_parts(data, length)) };
    let take = |stack: &mut S| {
        stack.datagram_in(now, (ecn & 3) as u8, data);
        abi::OK
    };
    end.call(take, abi::FAULT)
}

/// See `thalweg_stack_datagram_out`.
///
/// # Safety
/// As for [`end`]; `datagram` has room for as many bytes as it says.
pub unsafe fn datagram_out<S: Stack>(
    handle: Handle,
    now: u64,
    datagram: *mut abi::Datagram,
) -> i32 {
    // SAFETY: as above; the bytes of the room are initialised by the caller.
    let (end, datagram) = unsafe { (end::<S>(handle), &mut *datagram) };
    // SAFETY: as above.
    let room = unsafe { std::slice::from_raw_parts_mut(datagram.data, datagram.length) };
    let send = |stack: &mut S| match stack.datagram_out(now, room) {
        Some(departure) => {
            datagram.length = departure.length;
            datagram.ecn = u32::from(departure.ecn);
            datagram.not_before = departure.not_before;
            1
        }
        None => 0,
    };
    end.call(send, abi::FAULT)
}

/// See `thalweg_stack_next`. After a panic there is nothing to wait for: the next call says so.
///
/// # Safety
/// As for [`end`].
pub unsafe fn next<S: Stack>(handle: Handle) -> u64 {
    // SAFETY: as above.
    let end = unsafe { end::<S>(handle) };
    end.call(|stack| stack.next().unwrap_or(abi::NEVER), 0)
}

/// See `thalweg_stack_expire`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn expire<S: Stack>(handle: Handle, now: u64) -> i32 {
    let fire = |stack: &mut S| {
        stack.expire(now);
        abi::OK
    };
    // SAFETY: as above.
    unsafe { end::<S>(handle) }.call(fire, abi::FAULT)
}

/// See `thalweg_stack_open`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn open<S: Stack>(handle: Handle, now: u64) -> i64 {
    let open = |stack: &mut S| {
        let opened = stack.open(now);
        opened.map_or(i64::from(abi::BLOCKED), |stream| stream as i64)
    };
    // SAFETY: as above.
    unsafe { end::<S>(handle) }.call(open, i64::from(abi::FAULT))
}

/// See `thalweg_stack_write`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn write<S: Stack>(handle: Handle, now: u64, stream: u64, bytes: u64, fin: u32) -> i64 {
    let write = |stack_: &mut S| match stack_.write(now, stream, bytes, fin != 0) {
        Written::Taken(bytes) => bytes as i64,
        Written::Blocked => i64::from(abi::BLOCKED),
    };
    // SAFETY: as above.
    unsafe { end::<S>(handle) }.call(write, i64::from(abi::FAULT))
}

/// See `thalweg_stack_read`.
///
/// # Safety
/// As for [`end`]; `arrival` can be written to.
pub unsafe fn read<S: Stack>(handle: Handle, now: u64, arrival: *mut abi::Arrival) -> i32 {
    // SAFETY: as above.
    let (end, arrival) = unsafe { (end::<S>(handle), &mut *arrival) };
    let read = |stack: &mut S| match stack.read(now) {
        Some(found) => {
            arrival.stream = found.stream;
            arrival.bytes = found.bytes;
            arrival.fin = u32::from(found.fin);
            1
        }
        None => 0,
    };
    end.call(read, abi::FAULT)
}

/// See `thalweg_stack_close`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn close<S: Stack>(handle: Handle, now: u64) -> i32 {
    let close = |stack: &mut S| {
        stack.close(now);
        abi::OK
    };
    // SAFETY: as above.
    unsafe { end::<S>(handle) }.call(close, abi::FAULT)
}

/// See `thalweg_stack_status`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn status<S: Stack>(handle: Handle) -> i32 {
    let status = |stack: &mut S| match stack.status() {
        Status::Connecting => abi::CONNECTING,
        Status::Established => abi::ESTABLISHED,
        Status::Closed => abi::CLOSED,
    };
    // SAFETY: as above.
    unsafe { end::<S>(handle) }.call(status, abi::FAULT)
}

/// See `thalweg_stack_probe`.
///
/// # Safety
/// As for [`end`]; `probes` can be written to.
pub unsafe fn probe<S: Stack>(handle: Handle, probes: *mut abi::Probes) -> i32 {
    // SAFETY: as above.
    let (end, probes) = unsafe { (end::<S>(handle), &mut *probes) };
    let known = |value: Option<u64>| value.unwrap_or(abi::UNKNOWN);
    let tell = |stack: &mut S| match stack.probe() {
        Some(Probes {
            window,
            in_flight,
            smoothed_rtt_ns,
            latest_rtt_ns,
            pacing_rate,
            packets_lost,
            state,
        }) => {
            *probes = abi::Probes {
                window: known(window),
                in_flight: known(in_flight),
                smoothed_rtt_ns: known(smoothed_rtt_ns),
                latest_rtt_ns: known(latest_rtt_ns),
                pacing_rate: known(pacing_rate),
                packets_lost: known(packets_lost),
                state: state.map_or(ptr::null(), CStr::as_ptr),
            };
            1
        }
        None => 0,
    };
    end.call(tell, abi::FAULT)
}

/// See `thalweg_stack_fault`.
///
/// # Safety
/// As for [`end`].
pub unsafe fn fault<S: Stack>(handle: Handle) -> *const c_char {
    // SAFETY: as above.
    let fault = unsafe { end::<S>(handle) }.fault.as_deref();
    fault.map_or(ptr::null(), CStr::as_ptr)
}

/// Keeps a description that pointers lead to where threads may share it.
pub struct Described(pub abi::Info);

// SAFETY: its pointers lead to constant texts.
unsafe impl Sync for Described {}

/// Exports a type that implements [`Stack`](crate::Stack) under the names of `thalweg_stack.h`. Its arguments are those
/// of the trait; a library has one such type.
#[macro_export]
macro_rules! export_stack {
    ($stack:ty) => {
        #[allow(unsafe_code, clippy::missing_safety_doc)]
        mod thalweg_stack_exports {
            use super::*;
            use $crate::abi;
            use $crate::boundary;

            /// A text with a zero byte at its end.
            const fn with_zero<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
                let (from, mut to, mut at) = (text.as_bytes(), [0; LENGTH], 0);
                while at < from.len() {
                    to[at] = from[at];
                    at += 1;
                }
                to
            }
            const NAME_LENGTH: usize = <$stack as $crate::Stack>::NAME.len() + 1;
            const VERSION_LENGTH: usize = <$stack as $crate::Stack>::VERSION.len() + 1;
            const CONTROLLERS_LENGTH: usize = <$stack as $crate::Stack>::CONTROLLERS.len() + 1;
            static NAME: [u8; NAME_LENGTH] = with_zero(<$stack as $crate::Stack>::NAME);
            static VERSION: [u8; VERSION_LENGTH] = with_zero(<$stack as $crate::Stack>::VERSION);
            static CONTROLLERS: [u8; CONTROLLERS_LENGTH] =
                with_zero(<$stack as $crate::Stack>::CONTROLLERS);
            static INFO: boundary::Described = boundary::Described(abi::Info {
                abi: abi::ABI,
                max_streams: <$stack as $crate::Stack>::MAX_STREAMS,
                name: NAME.as_ptr().cast(),
                version: VERSION.as_ptr().cast(),
                controllers: CONTROLLERS.as_ptr().cast(),
            });

            #[unsafe(no_mangle)]
            extern "C" fn thalweg_stack_describe() -> *const abi::Info {
                &INFO.0
            }
            $crate::export_stack! { @each $stack;
                create(options: *const abi::Options, now: u64, problem: *mut std::ffi::c_char, room: usize) -> abi::Handle;
                destroy(stack: abi::Handle) -> ();
                datagram_in(stack: abi::Handle, now: u64, ecn: u32, data: *const u8, length: usize) -> i32;
                datagram_out(stack: abi::Handle, now: u64, datagram: *mut abi::Datagram) -> i32;
                next(stack: abi::Handle) -> u64;
                expire(stack: abi::Handle, now: u64) -> i32;
                open(stack: abi::Handle, now: u64) -> i64;
                write(stack: abi::Handle, now: u64, stream: u64, bytes: u64, fin: u32) -> i64;
                read(stack: abi::Handle, now: u64, arrival: *mut abi::Arrival) -> i32;
                close(stack: abi::Handle, now: u64) -> i32;
                status(stack: abi::Handle) -> i32;
                probe(stack: abi::Handle, probes: *mut abi::Probes) -> i32;
                fault(stack: abi::Handle) -> *const std::ffi::c_char;
            }
        }
    };
    (@each $stack:ty; $($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(
            const _: () = {
                #[unsafe(export_name = concat!("thalweg_stack_", stringify!($name)))]
                unsafe extern "C" fn exported($($argument: $kind),*) -> $result {
                    // SAFETY: the caller follows the header.
                    unsafe { boundary::$name::<$stack>($($argument),*) }
                }
            };
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{Arrival, Departure, Problem, Room};
    use std::panic::panic_any;

    /// A payload of a panic that panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    /// A stack that panics with a [`Bomb`]: when it is created if its controller is "never", else when it is dropped.
    struct Panicking;

    impl Drop for Panicking {
        fn drop(&mut self) {
            panic_any(Bomb);
        }
    }

    impl Stack for Panicking {
        const NAME: &'static str = "panicking";
        const VERSION: &'static str = "1";
        const CONTROLLERS: &'static str = "never, once";

        fn create(options: &Options<'_>, _now: u64) -> Result<Self, Problem> {
            match options.controller {
                "never" => panic_any(Bomb),
                _ => Ok(Panicking),
            }
        }
        fn datagram_in(&mut self, _now: u64, _ecn: u8, _data: &[u8]) {
            panic_any(Bomb);
        }
        fn datagram_out(&mut self, _now: u64, _room: Room<'_>) -> Option<Departure> {
            None
        }
        fn next(&mut self) -> Option<u64> {
            None
        }
        fn expire(&mut self, _now: u64) {}
        fn open(&mut self, _now: u64) -> Option<u64> {
            None
        }
        fn write(&mut self, _now: u64, _stream: u64, bytes: u64, _fin: bool) -> Written {
            Written::Taken(bytes)
        }
        fn read(&mut self, _now: u64) -> Option<Arrival> {
            None
        }
        fn close(&mut self, _now: u64) {}
        fn status(&self) -> Status {
            Status::Connecting
        }
    }

    /// Creates one, and what it says if it cannot be.
    fn created(controller: &CStr) -> (Handle, String) {
        let options = abi::Options {
            role: abi::CLIENT,
            ack_every: 2,
            seed: [0; 32],
            connection: [0; 32],
            controller: controller.as_ptr(),
            initial_window: 12_000,
            initial_mtu: 1200,
            max_mtu: 1440,
            max_ack_delay_ns: 25_000_000,
            receive_window: 0,
            paced: 0,
            ack_frequency: 0,
        };
        let mut problem = [0_u8; 64];
        // SAFETY: the options and the room outlive the call.
        let handle = unsafe {
            let (to, room) = (problem.as_mut_ptr().cast(), problem.len());
            create::<Panicking>(&raw const options, 0, to, room)
        };
        let text = CStr::from_bytes_until_nul(&problem).expect("a text of C");
        (handle, text.to_string_lossy().into_owned())
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_does_not_leave_create() {
        let (handle, problem) = created(c"never");
        assert!(handle.is_null());
        assert_eq!(problem, "panicked: ");
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_leaves_neither_a_call_nor_destroy() {
        let (handle, problem) = created(c"once");
        assert_eq!(problem, "");
        // SAFETY: the handle is valid until it is destroyed.
        unsafe {
            let data = [0_u8; 1];
            let answer = datagram_in::<Panicking>(handle, 0, 0, data.as_ptr(), data.len());
            assert_eq!(answer, abi::FAULT);
            destroy::<Panicking>(handle);
        }
    }
}
