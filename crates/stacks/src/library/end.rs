//! One end of a connection of a library, with calls that are safe as long as the library keeps to the header.

use super::Functions;
use super::present::{self, Call};
use crate::description::Description;
use crate::fault::Fault;
use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;
use thalweg_stack_sdk::abi::{self, Probes};
use thalweg_units::{Ecn, Instant, visible};

/// Most bytes of a reason why a stack cannot be created.
const MOST_REASON: usize = 1024;
/// Room behind the longest datagram, into which a library that writes too much writes.
const MARGIN: usize = 64 << 10;

/// A datagram that a library has written into the room of its end.
pub(crate) struct Departing {
    pub(crate) length: usize,
    pub(crate) ecn: Ecn,
    pub(crate) not_before: Instant,
}

/// Bytes that have arrived in order.
pub(crate) struct Arrived {
    pub(crate) stream: u64,
    pub(crate) bytes: u64,
    pub(crate) fin: bool,
}

/// An end.
pub(crate) struct End {
    functions: Arc<Functions>,
    handle: abi::Handle,
    number: u64,
    library: String,
    label: String,
    /// Room for a datagram that leaves.
    room: Vec<u8>,
    most: usize,
}

// SAFETY: one thread uses it at a time, as the header allows.
unsafe impl Send for End {}

impl End {
    /// An end that is called `label` in messages, such as `server of flow main`.
    pub(crate) fn create(
        description: &Description,
        options: &mut abi::Options,
        controller: &str,
        label: &str,
        now: Instant,
    ) -> End {
        let number = present::number(label);
        let fault = |call: Call, problem: String| Fault {
            library: description.named.clone(),
            call: call.name(),
            end: label.to_owned(),
            now,
            problem,
        };
        let functions = super::functions(description)
            .unwrap_or_else(|problem| fault(Call::Load, problem).unwind());
        let name = CString::new(controller).unwrap_or_default();
        options.controller = name.as_ptr();
        let mut reason = vec![0_u8; MOST_REASON];
        present::note(Call::Create, now, number);
        // SAFETY: options, their text and the room for the reason outlive the call.
        let handle = unsafe {
            let to = reason.as_mut_ptr().cast::<c_char>();
            (functions.create)(options, now.as_nanos(), to, MOST_REASON)
        };
        options.controller = std::ptr::null();
        if handle.is_null() {
            let until = reason.iter().position(|byte| *byte == 0);
            let said = String::from_utf8_lossy(&reason[..until.unwrap_or(MOST_REASON)]);
            let problem = match said.trim() {
                "" => "creates no stack, and does not say why".to_owned(),
                said => format!("creates no stack: {}", visible(said)),
            };
            fault(Call::Create, problem).unwind();
        }
        let most = options.max_mtu as usize;
        End {
            functions,
            handle,
            number,
            library: description.named.clone(),
            label: label.to_owned(),
            room: vec![0; most + MARGIN],
            most,
        }
    }

    /// Ends the trial.
    #[cold]
    pub(crate) fn fault(&self, call: Call, now: Instant, problem: String) -> ! {
        Fault {
            library: self.library.clone(),
            call: call.name(),
            end: self.label.clone(),
            now,
            problem,
        }
        .unwind()
    }

    fn note(&self, call: Call, now: Instant) {
        present::note(call, now, self.number);
    }

    /// The answer, if it is not less than `least`; else the fault that it stands for.
    fn checked(&self, call: Call, now: Instant, answer: i64, least: i64, most: i64) -> i64 {
        if answer == i64::from(abi::FAULT) {
            self.fault(call, now, format!("failed: {}", self.reason(now)));
        }
        if !(least..=most).contains(&answer) {
            self.fault(
                call,
                now,
                format!("answered {answer}, which has no meaning"),
            );
        }
        answer
    }

    /// Why the library failed, in its own words.
    fn reason(&self, now: Instant) -> String {
        let unknown = "it does not say why".to_owned();
        let Some(fault) = self.functions.fault else {
            return unknown;
        };
        self.note(Call::Fault, now);
        // SAFETY: the text is valid until the next call.
        unsafe {
            let reason = fault(self.handle);
            match reason.is_null() {
                true => unknown,
                false => {
                    let reason = CStr::from_ptr(reason).to_string_lossy();
                    let reason: String = reason.chars().take(MOST_REASON).collect();
                    visible(&reason).into_owned()
                }
            }
        }
    }

    pub(crate) fn datagram_in(&self, now: Instant, ecn: Ecn, data: &[u8]) {
        self.note(Call::DatagramIn, now);
        // SAFETY: the data outlives the call.
        let answer = unsafe {
            let (from, length) = (data.as_ptr(), data.len());
            (self.functions.datagram_in)(self.handle, now.as_nanos(), ecn as u32, from, length)
        };
        self.checked(Call::DatagramIn, now, answer.into(), 0, 0);
    }

    /// The next datagram, with its contents in [`room`](End::room).
    pub(crate) fn datagram_out(&mut self, now: Instant) -> Option<Departing> {
        let mut datagram = abi::Datagram {
            data: self.room.as_mut_ptr(),
            length: self.most,
            ecn: 0,
            reserved: 0,
            not_before: 0,
        };
        self.note(Call::DatagramOut, now);
        // SAFETY: the room outlives the call, and is larger than it says.
        let answer = unsafe {
            (self.functions.datagram_out)(self.handle, now.as_nanos(), &raw mut datagram)
        };
        if self.checked(Call::DatagramOut, now, answer.into(), 0, 1) == 0 {
            return None;
        }
        let (length, most, ecn) = (datagram.length, self.most, datagram.ecn);
        if !(1..=most).contains(&length) {
            let problem = format!("sent {length} bytes; accepted: 1 to {most}");
            self.fault(Call::DatagramOut, now, problem);
        }
        if ecn > 3 {
            let problem = format!("sent ECN codepoint {ecn}; accepted: 0 to 3");
            self.fault(Call::DatagramOut, now, problem);
        }
        Some(Departing {
            length,
            ecn: Ecn::from_bits(ecn as u8),
            not_before: Instant::from_nanos(datagram.not_before),
        })
    }

    /// The room for a datagram.
    pub(crate) fn room(&self) -> &[u8] {
        &self.room
    }

    pub(crate) fn next(&self, now: Instant) -> Instant {
        self.note(Call::Next, now);
        // SAFETY: the handle is valid.
        Instant::from_nanos(unsafe { (self.functions.next)(self.handle) })
    }

    pub(crate) fn expire(&self, now: Instant) {
        self.note(Call::Expire, now);
        // SAFETY: the handle is valid.
        let answer = unsafe { (self.functions.expire)(self.handle, now.as_nanos()) };
        self.checked(Call::Expire, now, answer.into(), 0, 0);
    }

    /// The number of a new stream; `None` if there can be none now.
    pub(crate) fn open(&self, now: Instant) -> Option<u64> {
        self.note(Call::Open, now);
        // SAFETY: the handle is valid.
        let answer = unsafe { (self.functions.open)(self.handle, now.as_nanos()) };
        let blocked = i64::from(abi::BLOCKED);
        let answer = self.checked(Call::Open, now, answer, blocked, i64::MAX);
        u64::try_from(answer).ok()
    }

    /// How many of these bytes were taken; `None` if the end without bytes was not.
    pub(crate) fn write(&self, now: Instant, stream: u64, bytes: u64, fin: bool) -> Option<u64> {
        self.note(Call::Write, now);
        // SAFETY: the handle is valid.
        let answer = unsafe {
            let now = now.as_nanos();
            (self.functions.write)(self.handle, now, stream, bytes, fin.into())
        };
        let blocked = i64::from(abi::BLOCKED);
        let most = i64::try_from(bytes).unwrap_or(i64::MAX);
        let answer = self.checked(Call::Write, now, answer, blocked, most);
        u64::try_from(answer).ok()
    }

    pub(crate) fn read(&self, now: Instant) -> Option<Arrived> {
        let mut arrival = abi::Arrival::default();
        self.note(Call::Read, now);
        // SAFETY: the arrival outlives the call.
        let answer =
            unsafe { (self.functions.read)(self.handle, now.as_nanos(), &raw mut arrival) };
        let found = self.checked(Call::Read, now, answer.into(), 0, 1) == 1;
        found.then_some(Arrived {
            stream: arrival.stream,
            bytes: arrival.bytes,
            fin: arrival.fin != 0,
        })
    }

    pub(crate) fn close(&self, now: Instant) {
        self.note(Call::Close, now);
        // SAFETY: the handle is valid.
        let answer = unsafe { (self.functions.close)(self.handle, now.as_nanos()) };
        self.checked(Call::Close, now, answer.into(), 0, 0);
    }

    /// One of the states of the header.
    pub(crate) fn status(&self, now: Instant) -> i32 {
        self.note(Call::Status, now);
        // SAFETY: the handle is valid.
        let answer = unsafe { (self.functions.status)(self.handle) };
        let most = i64::from(abi::CLOSED);
        self.checked(Call::Status, now, answer.into(), 0, most);
        answer
    }

    /// What the library thinks, and the state of its controller, of which `read` gets the bytes.
    pub(crate) fn probe(&self, now: Instant, read: impl FnOnce(&[u8])) -> Option<Probes> {
        let probe = self.functions.probe?;
        let mut probes = Probes::NONE;
        self.note(Call::Probe, now);
        // SAFETY: the probes outlive the call.
        let answer = unsafe { probe(self.handle, &raw mut probes) };
        if self.checked(Call::Probe, now, answer.into(), 0, 1) == 0 {
            return None;
        }
        if !probes.state.is_null() {
            // SAFETY: the text is valid until the next call.
            read(unsafe { CStr::from_ptr(probes.state) }.to_bytes());
        }
        Some(probes)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        // A library that has failed is not trusted to free anything.
        if std::thread::panicking() {
            return;
        }
        self.note(Call::Destroy, Instant::NEVER);
        // SAFETY: it is not used again.
        unsafe { (self.functions.destroy)(self.handle) }
    }
}
