//! An endpoint of a library, with the calls of the modelled endpoint.

use crate::description::Description;
use crate::library::present::Call;
use crate::library::{Departing, End};
use crate::probes::{Thought, named};
use crate::streams::Streams;
use bytes::BytesMut;
use rand_core::Rng as _;
use std::collections::VecDeque;
use thalweg_control::{Control, Observer, PathState, Rng};
use thalweg_stack_sdk::abi;
use thalweg_transport::{
    AppEvent, Counters, PacketEvent, PacketLog, Role, StreamId, TransportConfig,
};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

/// Least time between two firings of timers.
const GRANULARITY: Duration = Duration::from_nanos(1);
/// How often in a row a timer may stay in the past although it has fired.
const MOST_STALE: u32 = 1000;
/// Most arrivals that a library may report at one instant.
const MOST_ARRIVALS: u32 = 1 << 20;

/// A datagram that leaves.
#[derive(Debug)]
pub struct Sent {
    /// Number of datagrams that left before.
    pub number: u64,
    /// ECN codepoint of its IP header.
    pub ecn: Ecn,
    /// UDP payload.
    pub data: BytesMut,
}

/// One end of a connection of a library.
///
/// Driven like the modelled endpoint. Each call may unwind with a [`Fault`](crate::Fault).
pub struct LibraryEndpoint {
    role: Role,
    end: End,
    streams: Streams,
    events: VecDeque<AppEvent>,
    is_connected: bool,
    is_closed: bool,
    sent: u64,
    /// Datagrams that may not leave before a time, in the order of these times.
    held: VecDeque<(Instant, Ecn, BytesMut)>,
    /// Datagrams that the library has handed over at this instant.
    handed_over: (Instant, u32),
    noise: Rng,
    /// Largest lateness of a wake-up, and the lateness of the next one.
    wakeup_noise: Duration,
    lateness: Duration,
    /// Time until which timers have fired, and how often in a row they were late before that.
    expired: Instant,
    stale: u32,
    now: Instant,
    thought: Thought,
    /// Changes of it.
    reports: u64,
    is_recorded: bool,
    log: PacketLog,
    path: PathState,
    control: Control,
    counters: Counters,
}

impl LibraryEndpoint {
    /// The lateness of wake-ups has another stream from now on; the library keeps its own.
    pub fn reseed(&mut self, noise: Rng) {
        self.noise = noise;
    }

    /// An endpoint of a connection that starts at `start`, with a controller of the library, called `label` in messages.
    /// `noise` has its random numbers, `shared` those that both ends of a connection have.
    pub fn new(
        description: &Description,
        role: Role,
        config: &TransportConfig,
        start: Instant,
        (controller, label): (&str, &str),
        (mut noise, mut shared): (Rng, Rng),
    ) -> Self {
        let mut options = abi::Options {
            role: match role {
                Role::Client => abi::CLIENT,
                Role::Server => abi::SERVER,
            },
            ack_every: config.ack_every,
            seed: key(&mut noise),
            connection: key(&mut shared),
            controller: std::ptr::null(),
            initial_window: config.initial_window.as_u64(),
            initial_mtu: config.initial_mtu.as_u64(),
            max_mtu: config.max_mtu.as_u64(),
            max_ack_delay_ns: config.max_ack_delay.as_nanos(),
            receive_window: config.receive_window.map_or(0, Bytes::as_u64),
            paced: config.pacing.into(),
            ack_frequency: config.ack_frequency.into(),
        };
        let end = End::create(description, &mut options, controller, label, start);
        LibraryEndpoint {
            role,
            end,
            streams: Streams::default(),
            events: VecDeque::new(),
            is_connected: false,
            is_closed: false,
            sent: 0,
            held: VecDeque::new(),
            handed_over: (start, 0),
            noise,
            wakeup_noise: config.wakeup_noise,
            lateness: Duration::ZERO,
            expired: start,
            stale: 0,
            now: start,
            thought: Thought::default(),
            reports: 0,
            is_recorded: false,
            log: PacketLog::default(),
            path: PathState::new(config.initial_mtu, start),
            control: Control {
                window: config.initial_window,
                pacing: None,
                quantum: config.max_mtu, // a library does not tell its bursts
                startup_done: false,
            },
            counters: Counters::default(),
        }
    }

    /// Sets the other end of the connection, to which nothing has been written: by what one writes, the arrivals at the
    /// other are judged.
    pub fn pair(&self, peer: &mut LibraryEndpoint) {
        peer.streams = self.streams.of_peer();
    }

    /// The library has done what physics forbids. Ends the trial.
    pub fn blame(&self, now: Instant, problem: String) -> ! {
        self.end.fault(Call::Read, now, problem)
    }

    /// Time has come to `now` without a datagram or a timer of the stack: an application is due.
    pub fn advance(&mut self, now: Instant) {
        self.now = now;
    }

    /// Writes `bytes` to stream `id`, opening it if necessary, and ends it if `fin`.
    pub fn write(&mut self, id: StreamId, bytes: u64, fin: bool) {
        self.streams.write(id, bytes, fin);
        self.streams.flush(self.now, self.role, &self.end);
    }

    /// Closes the connection.
    pub fn close(&mut self, now: Instant) {
        self.now = now;
        self.end.close(now);
    }

    /// Receives a datagram.
    pub fn receive(&mut self, now: Instant, ecn: Ecn, data: &[u8]) {
        self.now = now;
        if self.is_closed {
            return;
        }
        self.end.datagram_in(now, ecn, data);
        self.process(now);
        self.reconsider(true);
    }

    /// The next datagram that may leave now.
    pub fn transmit(&mut self, now: Instant) -> Option<Sent> {
        self.now = now;
        loop {
            if self.held.front().is_some_and(|(at, ..)| *at <= now) {
                let held = self.held.pop_front();
                return held.map(|(_, ecn, data)| self.leaving(ecn, data));
            }
            let Some(departing) = self.end.datagram_out(now) else {
                if self.is_recorded {
                    self.reconsider(false);
                }
                return None;
            };
            self.count_handed_over(now);
            let Departing {
                length,
                ecn,
                not_before,
            } = departing;
            let data = BytesMut::from(&self.end.room()[..length]);
            if not_before <= now {
                return Some(self.leaving(ecn, data));
            }
            let later = self.held.partition_point(|(at, ..)| *at <= not_before);
            self.held.insert(later, (not_before, ecn, data));
        }
    }

    fn leaving(&mut self, ecn: Ecn, data: BytesMut) -> Sent {
        let number = self.sent;
        self.sent += 1;
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += data.len() as u64;
        self.path.next_packet = self.sent;
        self.log.sent(self.now, number, data.len() as u64);
        Sent { number, ecn, data }
    }

    /// Refuses datagrams without end at one instant, and those that wait without end.
    fn count_handed_over(&mut self, now: Instant) {
        if self.handed_over.0 != now {
            self.handed_over = (now, 0);
        }
        self.handed_over.1 += 1;
        let most = abi::MOST_AT_ONCE;
        if self.handed_over.1 > most {
            let problem = format!("sent more than {most} datagrams at one instant");
            self.end.fault(Call::DatagramOut, now, problem);
        }
        if self.held.len() > most as usize {
            let problem = format!("had more than {most} datagrams wait for their departure");
            self.end.fault(Call::DatagramOut, now, problem);
        }
    }

    /// When it is due again.
    pub fn next(&self) -> Instant {
        let timer = self.end.next(self.now);
        let timer = match timer {
            Instant::NEVER => timer,
            // A timer that has fired and stays fires again, but not at the same instant.
            timer if timer <= self.expired => self.expired + GRANULARITY + self.lateness,
            timer => timer + self.lateness,
        };
        let held = self.held.front().map_or(Instant::NEVER, |(at, ..)| *at);
        timer.min(held)
    }

    /// Handles every timer that is due.
    pub fn expire(&mut self, now: Instant) {
        self.now = now;
        let timer = self.end.next(now);
        if timer > now {
            return; // it was called for a datagram that waited
        }
        self.stale = match timer <= self.expired {
            true => self.stale + 1,
            false => 0,
        };
        if self.stale > MOST_STALE {
            let problem = format!(
                "answered {} s, which is past, {MOST_STALE} times in a row: a timer that has fired must move on",
                timer.as_secs_f64()
            );
            self.end.fault(Call::Next, now, problem);
        }
        self.expired = now;
        self.end.expire(now);
        if !self.wakeup_noise.is_zero() {
            // The high half of a product is uniform below `most + 1` without a division.
            let most = u128::from(self.wakeup_noise.as_nanos()) + 1;
            let drawn = (u128::from(self.noise.next_u64()) * most) >> 64;
            self.lateness = Duration::from_nanos(drawn as u64);
        }
        self.process(now);
        self.reconsider(false);
    }

    /// Passes on what has happened to the application.
    fn process(&mut self, now: Instant) {
        let status = self.end.status(now);
        if !self.is_connected && status == abi::ESTABLISHED {
            self.is_connected = true;
            self.path.established = true;
            self.events.push_back(AppEvent::Connected);
        }
        let mut arrivals = 0;
        while let Some(arrived) = self.end.read(now) {
            arrivals += 1;
            if arrivals > MOST_ARRIVALS {
                let problem = format!("reported more than {MOST_ARRIVALS} arrivals at one instant");
                self.end.fault(Call::Read, now, problem);
            }
            let (id, contiguous) = (self.streams.arrive(self.role, &arrived))
                .unwrap_or_else(|problem| self.end.fault(Call::Read, now, problem));
            self.counters.stream_bytes_received += arrived.bytes;
            self.events.push_back(AppEvent::StreamData {
                id,
                contiguous,
                complete: arrived.fin,
            });
        }
        if self.streams.has_left() && self.is_connected {
            self.streams.flush(now, self.role, &self.end);
        }
        if !self.is_closed && status == abi::CLOSED {
            self.is_closed = true;
            self.events.push_back(AppEvent::Closed);
        }
    }

    /// Asks the library what it thinks. A changed RTT is a sample if a datagram has `arrived`.
    fn reconsider(&mut self, arrived: bool) {
        let mut state = None;
        let read = |name: &[u8]| state = Some(named(name));
        let Some(probes) = self.end.probe(self.now, read) else {
            return;
        };
        let thought = Thought::of(&probes, state);
        if thought == self.thought {
            return;
        }
        let last = std::mem::replace(&mut self.thought, thought);
        self.reports += 1;
        if let Some(window) = thought.window {
            self.control.window = window;
        }
        self.control.pacing = thought.pacing;
        self.path.bytes_in_flight = thought.in_flight.unwrap_or(Bytes::ZERO);
        self.counters.packets_lost = thought.packets_lost.unwrap_or(0);
        if let Some(smoothed) = thought.smoothed_rtt {
            self.path.smoothed_rtt = smoothed;
        }
        if let Some(sample) = thought.latest_rtt
            && arrived
            && last.latest_rtt != Some(sample)
            && !sample.is_zero()
        {
            self.path.latest_rtt = sample;
            self.path.min_rtt = match self.path.has_rtt() {
                true => self.path.min_rtt.min(sample),
                false => sample,
            };
            self.counters.count_rtt(sample);
        }
    }

    /// The next event for the application.
    pub fn poll_event(&mut self) -> Option<AppEvent> {
        self.events.pop_front()
    }
    /// Whether [`poll_event`](LibraryEndpoint::poll_event) has an event.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }
    /// The state of the path, as far as the library tells.
    pub fn path(&self) -> &PathState {
        &self.path
    }
    /// The bytes in flight, if the library tells.
    pub fn in_flight(&self) -> Option<Bytes> {
        self.thought.in_flight
    }
    /// Window and pacing rate, as far as the library tells.
    pub fn control(&self) -> &Control {
        &self.control
    }
    /// Number of times that the library has changed what it thinks.
    pub fn reports(&self) -> u64 {
        self.reports
    }
    /// The counters so far: all datagrams count as packets.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// Asks the library what it thinks after it has sent, too, and records departures: all datagrams count as packets.
    pub fn record_packets(&mut self) {
        self.is_recorded = true;
        self.log.start();
    }
    /// Takes what was recorded since the last call: a library tells no acknowledgements and no losses.
    pub fn take_packets(&mut self, take: &mut dyn FnMut(PacketEvent)) {
        self.log.take().for_each(take);
    }
    /// The state of the controller, for traces.
    pub fn observe(&self, out: &mut dyn Observer) {
        if let Some(state) = self.thought.state {
            out.state(state);
        }
    }
    /// The current pacing rate, if the library tells.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.thought.pacing
    }
}

/// Random bytes.
fn key(random: &mut Rng) -> [u8; 32] {
    let mut key = [0; 32];
    for part in key.chunks_exact_mut(8) {
        part.copy_from_slice(&random.next_u64().to_le_bytes());
    }
    key
}
