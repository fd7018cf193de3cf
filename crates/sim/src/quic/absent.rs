//! What stands in for the QUIC stack where there is none. Each type that an endpoint needs has no value, so that no
//! method of it has anything to do.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use thalweg_control::{Control, Controller, Observer, PathState, Rng};
use thalweg_transport::{AppEvent, Counters, PacketEvent, Role, StreamId, TransportConfig};
use thalweg_units::{Bytes, Ecn, Instant, Rate};

/// Most ranges of an ACK frame of the stack.
pub const ACK_RANGES: usize = 0;
/// Least overhead of a packet of the stack.
pub const LEAST_STREAM_OVERHEAD: u64 = 0;

/// Whether an endpoint can be made.
pub fn is_available() -> bool {
    false
}

/// A packet of the stack.
#[derive(Debug)]
pub struct Datagram {
    pub(crate) number: u64,
    pub(crate) ecn: Ecn,
    pub(crate) data: Vec<u8>,
    /// No value of this type exists.
    pub(crate) never: Infallible,
}

/// A controller of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackController {}

impl StackController {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {}
    }
    /// Whether its random numbers are seeded.
    pub fn is_seeded(self) -> bool {
        match self {}
    }
    /// Whether `text` names one.
    pub fn is_meant_by(text: &str) -> bool {
        text.trim_start().starts_with("noq:")
    }
}

impl fmt::Display for StackController {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl FromStr for StackController {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Err(format!(
            "\"{text}\" belongs to the QUIC stack, which is not part of this build; accepted: a controller of Thalweg"
        ))
    }
}

/// The controller of a sender.
pub enum Steering {
    /// A controller of `thalweg-control`.
    Ours(Box<dyn Controller>),
    /// A controller of the stack.
    Stack(StackController),
}

/// One end of a connection of the stack.
pub struct QuicEndpoint(Infallible);

/// Methods that no value can have called.
macro_rules! never {
    ($endpoint:ident: $($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        #[allow(missing_docs)]
        impl $endpoint {
            $(pub fn $name(&self, $($argument: $kind),*) $(-> $result)? {
                match self.0 {}
            })*
        }
    };
}

never! { QuicEndpoint:
    reseed(_rng: Rng, _noise: Rng);
    connect(_now: Instant);
    write(_id: StreamId, _bytes: u64, _fin: bool, _priority: u8, _incremental: bool);
    send_datagram(_len: u32, _tag: u64);
    stop_receiving(_id: StreamId);
    close(_now: Instant);
    receive(_now: Instant, _datagram: Datagram);
    transmit(_now: Instant) -> Option<Datagram>;
    last_number() -> Option<u64>;
    next() -> Instant;
    expire(_now: Instant);
    poll_event() -> Option<AppEvent>;
    has_events() -> bool;
    failure() -> Option<String>;
    path() -> &PathState;
    control() -> &Control;
    reports() -> u64;
    counters() -> &Counters;
    record_packets();
    take_packets(_take: &mut dyn FnMut(PacketEvent));
    observe(_out: &mut dyn Observer);
    media_rate() -> Option<Rate>;
    pacing_rate() -> Option<Rate>;
}

impl QuicEndpoint {
    /// Never called: the check of a scenario refuses flows of the stack.
    pub fn new(_: Role, _: TransportConfig, _: Instant, _: Steering, _: Rng, _: Rng) -> Self {
        unreachable!("a scenario with the QUIC stack is refused by its check")
    }
}

/// What a library is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub(crate) named: String,
    pub(crate) inspected: Inspected,
    /// No value of this type exists.
    pub(crate) never: Infallible,
}

/// What it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) controllers: Vec<String>,
    pub(crate) max_streams: u32,
}

impl Description {
    /// There are no libraries.
    pub fn read(_: &str, _: &Path) -> Result<Description, String> {
        Err("cannot be loaded, since there are no libraries in this build".to_owned())
    }
}

/// One end of a connection of a library.
pub struct LibraryEndpoint(Infallible);

/// A packet of a library.
pub fn datagram_of(sent: Infallible) -> Datagram {
    match sent {}
}

never! { LibraryEndpoint:
    reseed(_noise: Rng);
    pair(_peer: &mut LibraryEndpoint);
    in_flight() -> Option<Bytes>;
    blame(_now: Instant, _problem: String);
    advance(_now: Instant);
    write(_id: StreamId, _bytes: u64, _fin: bool);
    close(_now: Instant);
    receive(_now: Instant, _ecn: Ecn, _data: &[u8]);
    transmit(_now: Instant) -> Option<Infallible>;
    next() -> Instant;
    expire(_now: Instant);
    poll_event() -> Option<AppEvent>;
    has_events() -> bool;
    path() -> &PathState;
    control() -> &Control;
    reports() -> u64;
    counters() -> &Counters;
    record_packets();
    take_packets(_take: &mut dyn FnMut(PacketEvent));
    observe(_out: &mut dyn Observer);
    pacing_rate() -> Option<Rate>;
}

impl LibraryEndpoint {
    /// Never called: the check of a scenario refuses libraries.
    pub fn new(
        of: &Description,
        _: Role,
        _: &TransportConfig,
        _: Instant,
        _: (&str, &str),
        _: (Rng, Rng),
    ) -> Self {
        match of.never {}
    }
}
