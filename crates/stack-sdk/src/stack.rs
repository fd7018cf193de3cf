//! The trait of a stack in Rust.

use std::ffi::CStr;

/// Why an end cannot be created, in words.
pub type Problem = String;

/// One end of a connection, client or server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It opens the connection, and all streams.
    Client,
    /// It accepts them.
    Server,
}

/// How an end of a connection shall be. A stack follows what it can and ignores the rest.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Client or server.
    pub role: Role,
    /// Seed of all random numbers; the two ends of a connection have different ones.
    pub seed: [u8; 32],
    /// The same for the two ends of a connection, such as for a shared key.
    pub connection: [u8; 32],
    /// One of its controllers, with options after a colon if the user gave some.
    pub controller: &'a str,
    /// Initial congestion window, bytes.
    pub initial_window: u64,
    /// UDP payload of a full packet at the start, bytes.
    pub initial_mtu: u64,
    /// Largest UDP payload that the path carries, bytes.
    pub max_mtu: u64,
    /// Ack-eliciting packets for each acknowledgement (RFC 9000 section 13.2.2).
    pub ack_every: u32,
    /// Whether the sender asks for fewer acknowledgements.
    pub ack_frequency: bool,
    /// Largest delay of an acknowledgement, nanoseconds.
    pub max_ack_delay_ns: u64,
    /// Flow-control window of the connection, bytes; `None` for one that never limits.
    pub receive_window: Option<u64>,
    /// Whether a controller without a rate of its own is paced.
    pub is_paced: bool,
}

/// Room for a datagram, as long as the longest that may be sent.
pub type Room<'a> = &'a mut [u8];

/// A datagram that was written to the room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Bytes written.
    pub length: usize,
    /// ECN codepoint, as in the IP header (RFC 3168 section 5).
    pub ecn: u8,
    /// Earliest time of departure, nanoseconds; 0 for now.
    pub not_before: u64,
}

/// What came of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// So many bytes were taken; if all were, the end too.
    Taken(u64),
    /// Neither bytes nor the end.
    Blocked,
}

/// Bytes of a stream that have arrived in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the stream.
    pub stream: u64,
    /// How many more than the last time.
    pub bytes: u64,
    /// Whether these are the last.
    pub fin: bool,
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Before the end of the handshake.
    Connecting,
    /// Streams can be used.
    Established,
    /// Both ends know of the end, or nothing will be sent any more.
    Closed,
}

/// What a stack thinks, for traces and outcomes; `None` where it does not know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Probes {
    /// Congestion window, bytes.
    pub window: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// Smoothed RTT, nanoseconds; none before the first sample.
    pub smoothed_rtt_ns: Option<u64>,
    /// Latest RTT sample, nanoseconds; if unknown, changes of the smoothed RTT count as samples.
    pub latest_rtt_ns: Option<u64>,
    /// Bits per second.
    pub pacing_rate: Option<u64>,
    /// Packets declared lost so far.
    pub packets_lost: Option<u64>,
    /// State of the controller, such as `c"startup"`.
    pub state: Option<&'static CStr>,
}

/// One end of one connection, without I/O: times in nanoseconds and random numbers come from outside.
///
/// `include/thalweg_stack.h` has the order of calls.
pub trait Stack: Sized {
    /// What it is called: `quinn-proto`.
    const NAME: &'static str;
    /// Its version.
    const VERSION: &'static str;
    /// Names of its controllers, with commas between them.
    const CONTROLLERS: &'static str;
    /// Most streams of a connection; 0 for as many as a scenario may have.
    const MAX_STREAMS: u32 = 0;

    /// An end of a connection that starts at `now`.
    ///
    /// # Errors
    /// Why it cannot be.
    fn create(options: &Options<'_>, now: u64) -> Result<Self, Problem>;
    /// A datagram has arrived, with this ECN codepoint.
    fn datagram_in(&mut self, now: u64, ecn: u8, data: &[u8]);
    /// The next datagram to send, written to `room`.
    fn datagram_out(&mut self, now: u64, room: Room<'_>) -> Option<Departure>;
    /// When to call [`expire`](Stack::expire).
    fn next(&mut self) -> Option<u64>;
    /// Timers that are due at `now` fire.
    fn expire(&mut self, now: u64);
    /// Opens a stream: its number, 0 for the first of a connection; `None` if that is not possible now.
    fn open(&mut self, now: u64) -> Option<u64>;
    /// Writes bytes of any content to a stream, and its end after them if `fin`.
    fn write(&mut self, now: u64, stream: u64, bytes: u64, fin: bool) -> Written;
    /// Consumes bytes that have arrived in order, of any stream.
    fn read(&mut self, now: u64) -> Option<Arrival>;
    /// Closes the connection.
    fn close(&mut self, now: u64);
    /// The state of the connection.
    fn status(&self) -> Status;
    /// What the stack thinks now.
    fn probe(&self) -> Option<Probes> {
        None
    }
}
