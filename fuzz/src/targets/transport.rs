//! Two modelled endpoints and a hostile path between them: packets lost, doubled, delayed, exchanged, changed and
//! made up.

use super::{Plays, Target};
use crate::failure::{Failure, Held, Verdict, require};
use crate::random::Random;
use crate::registry::registry;
use crate::script::{Line, step};
use crate::values;
use crate::watch::Watch;
use rand_core::SeedableRng;
use std::collections::VecDeque;
use thalweg_control::{Init, Rng};
use thalweg_transport::packet::{Frame, Kind, MAX_FRAMES};
use thalweg_transport::{AppEvent, Endpoint, Packet, Role, TransportConfig};
use thalweg_units::{Bytes, Duration, Ecn, Instant};

pub(super) const TARGET: Target = Target {
    name: "transport",
    ending: "txt",
    plays: Plays::Engine { make, check },
};

/// Most packets that the path holds, and that are kept for replay.
const HELD: usize = 2_000;
/// Most packets that an endpoint may send at one time, whatever its window.
const BURST: usize = 100_000;

/// A case takes no longer. Some windows grow with the cube of time.
const END: Instant = Instant::from_nanos(3_600_000_000_000);

fn make(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..2 {
        text += &format!(
            "controller {}\n",
            values::controller(random, false).replace(' ', "")
        );
    }
    let settings = [
        ("max-ack-delay", random.magnitude(1, 1_000_000_000)),
        ("ack-every", random.magnitude(1, 1000)),
        ("max-data", random.magnitude(4096, 1 << 40)),
        ("max-stream-data", random.magnitude(4096, 1 << 40)),
        ("max-mtu", random.between(1252, 9000)),
        ("wakeup", random.magnitude(1, 100_000_000)),
        ("zero-rtt", 1),
        ("no-ack-frequency", 1),
    ];
    for (word, number) in settings {
        if random.percent(25) {
            step(&mut text, word, &[number]);
        }
    }
    let delay = random.magnitude(1, 1_000_000_000);
    let hostile = random.below(60);
    for _ in 0..random.between(0, 4) {
        write(&mut text, random);
    }
    for _ in 0..random.magnitude(5, 500) {
        let (side, position) = (random.below(2), random.below(10));
        if random.percent(hostile) {
            attack(&mut text, random);
            continue;
        }
        match random.below(20) {
            0..=9 => step(
                &mut text,
                "deliver",
                &[side, position, random.magnitude(1, 100)],
            ),
            10 | 11 => step(
                &mut text,
                "drop",
                &[side, position, random.magnitude(1, 100)],
            ),
            12 | 13 => step(&mut text, "wait", &[random.magnitude(1, 4 * delay)]),
            14..=16 => step(&mut text, "next", &[]),
            17 => step(&mut text, "expire", &[side]),
            _ => write(&mut text, random),
        }
    }
    text.into_bytes()
}

fn write(text: &mut String, random: &mut Random) {
    let (side, id) = (random.below(2), random.below(4));
    match random.below(12) {
        0 => step(
            text,
            "datagram",
            &[
                side,
                random.magnitude(1, 3000),
                random.any(),
                random.below(256),
            ],
        ),
        1 => step(text, "stop", &[side, id]),
        2 if random.percent(20) => step(text, "close", &[side]),
        _ => {
            let bytes = random.magnitude(1, 10_000_000);
            let numbers = [
                side,
                id,
                bytes,
                random.below(2),
                random.below(256),
                random.below(2),
            ];
            step(text, "write", &numbers);
        }
    }
}

fn attack(text: &mut String, random: &mut Random) {
    let (side, position) = (random.below(2), random.below(10));
    // No field of QUIC holds more (RFC 9000 section 16).
    let value = random.any() >> 2;
    match random.below(11) {
        0 => step(text, "again", &[side, random.below(HELD as u64)]),
        1 if random.percent(5) => step(text, "number", &[side, position, value]),
        2 => step(
            text,
            "number-ahead",
            &[side, position, random.magnitude(1, 1 << 20)],
        ),
        3 => step(text, "ack-largest", &[side, random.below(50), value]),
        4 => step(
            text,
            "ack-ahead",
            &[side, random.below(50), random.magnitude(1, 1 << 20)],
        ),
        5 => step(text, "kind", &[side, position, random.below(6)]),
        6 => step(text, "marked", &[side, position]),
        7 => step(text, "size", &[side, position, random.below(65_536)]),
        _ => {
            let numbers = [
                side,
                random.below(13),
                random.below(6),
                value,
                random.below(65_536),
                random.below(2),
            ];
            step(text, "forge", &numbers);
        }
    }
}

fn check(text: &[u8], watch: &Watch) -> Verdict {
    watch.stage("connection");
    let lines = Line::all(text);
    let mut pair = Pair::new(&lines);
    for line in &lines {
        pair.apply(line);
        pair.settle()?;
    }
    Ok(Held::Played)
}

/// Client and server, by number 0 and 1, and what is on its way to each.
struct Pair {
    now: Instant,
    ends: [Endpoint; 2],
    flying: [VecDeque<Packet>; 2],
    /// What has arrived, kept for replay.
    past: [VecDeque<Packet>; 2],
    /// The number after the largest that each end has sent.
    numbers: [u64; 2],
}

impl Pair {
    fn new(lines: &[Line<'_>]) -> Pair {
        let mut config = TransportConfig::default();
        let mut names = Vec::new();
        for line in lines {
            let (number, bytes) = (line.number(0), Bytes::new(line.number(0).max(4096)));
            match line.word {
                "controller" => names.push(line.text(0)),
                "max-ack-delay" => {
                    config.max_ack_delay = Duration::from_nanos(number);
                    config.min_ack_delay = config.min_ack_delay.min(config.max_ack_delay);
                }
                "ack-every" => config.ack_every = number.clamp(1, 1 << 31) as u32,
                "max-data" => config.initial_max_data = bytes,
                "max-stream-data" => config.initial_max_stream_data = bytes,
                "max-mtu" => config.max_mtu = Bytes::new(number.clamp(1252, 65_527)),
                "wakeup" => config.wakeup_noise = Duration::from_nanos(number),
                "zero-rtt" => config.zero_rtt = true,
                "no-ack-frequency" => config.ack_frequency = false,
                _ => {}
            }
        }
        config.initial_window = config.initial_window.max(config.max_mtu * 2);
        let end = |role: Role| {
            let position = role as usize;
            let spec = names
                .get(position)
                .and_then(|name| registry().read(name).ok());
            let spec =
                spec.unwrap_or_else(|| registry().read("reno").expect("a controller of ours"));
            let controller = spec.build(&Init {
                now: Instant::START,
                mtu: config.initial_mtu,
                initial_window: config.initial_window,
                media: None,
            });
            let rng = |number| Rng::seed_from_u64(2 * position as u64 + number);
            Endpoint::new(
                role,
                config.clone(),
                Instant::START,
                controller,
                rng(0),
                rng(1),
            )
        };
        let mut pair = Pair {
            now: Instant::START,
            ends: [end(Role::Client), end(Role::Server)],
            flying: Default::default(),
            past: Default::default(),
            numbers: [0; 2],
        };
        pair.ends[0].connect();
        pair
    }

    fn apply(&mut self, line: &Line<'_>) {
        let [side, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|position| line.number(position));
        let side = (side & 1) as usize;
        let end = &mut self.ends[side];
        let id = b as u32 & 0xff;
        match line.word {
            "write" => end.write(id, c.min(1 << 40), d == 1, e as u8, f == 1),
            "datagram" => end.send_datagram(b.min(65_535) as u32, c, d as u8),
            "stop" => end.stop_receiving(id),
            "close" => end.close(),
            "wait" => {
                let now = self.now + Duration::from_nanos(line.number(0).min(1 << 40));
                self.now = now.min(END);
            }
            "expire" => end.expire(self.now),
            "next" => {
                let next = self.ends[0].next().min(self.ends[1].next());
                if next <= END {
                    self.now = self.now.max(next);
                    self.ends.iter_mut().for_each(|end| end.expire(self.now));
                }
            }
            "deliver" => {
                for _ in 0..c.clamp(1, HELD as u64) {
                    self.deliver(side, b as usize, |_| {});
                }
            }
            "drop" => {
                for _ in 0..c.clamp(1, HELD as u64) {
                    self.flying[side].remove(b as usize);
                }
            }
            "again" => {
                if let Some(packet) = self.past[side].get(b as usize) {
                    self.ends[side].receive(self.now, packet);
                }
            }
            "number" => self.deliver(side, b as usize, |packet| packet.number = c),
            "number-ahead" => self.deliver(side, b as usize, |packet| packet.number += c),
            // A bit map cannot reach below 0.
            "ack-largest" => {
                self.acknowledge(side, b as usize, |largest| *largest = c.max(*largest))
            }
            "ack-ahead" => self.acknowledge(side, b as usize, |largest| *largest += c),
            "kind" => self.deliver(side, b as usize, |packet| packet.kind = kind(c)),
            "marked" => self.deliver(side, b as usize, |packet| packet.ecn = Ecn::Ce),
            "size" => self.deliver(side, b as usize, |packet| {
                packet.size = c.min(65_535) as u32
            }),
            "forge" => {
                let frame = forge(b, c as u32, d, e, f);
                let mut packet = Packet {
                    kind: Kind::Data,
                    ecn: Ecn::NotEct,
                    size: 1252,
                    number: self.numbers[1 - side],
                    ack: None,
                    frames: [Frame::None; MAX_FRAMES],
                };
                packet.frames[0] = frame;
                self.numbers[1 - side] += 1;
                self.ends[side].receive(self.now, &packet);
            }
            _ => {}
        }
    }

    /// A packet on its way to `side` arrives, changed.
    fn deliver(&mut self, side: usize, position: usize, change: impl FnOnce(&mut Packet)) {
        let Some(mut packet) = self.flying[side].remove(position) else {
            return;
        };
        change(&mut packet);
        self.ends[side].receive(self.now, &packet);
        self.past[side].push_back(packet);
        if self.past[side].len() > HELD {
            self.past[side].pop_front();
        }
    }

    /// The next packet from `position` on that carries an acknowledgement arrives, changed.
    fn acknowledge(&mut self, side: usize, position: usize, change: impl FnOnce(&mut u64)) {
        let mut later = self.flying[side].iter().enumerate().skip(position);
        let Some((position, _)) = later.find(|(_, packet)| packet.ack.is_some()) else {
            return;
        };
        self.deliver(side, position, |packet| {
            if let Some(ack) = &mut packet.ack {
                change(&mut ack.largest);
            }
        });
    }

    /// Both ends send what they may; the server answers what it is asked for.
    fn settle(&mut self) -> Result<(), Failure> {
        for side in 0..2 {
            let mut sent = 0;
            loop {
                while let Some(event) = self.ends[side].poll_event() {
                    if let AppEvent::StreamData {
                        id, complete: true, ..
                    } = event
                        && side == 1
                    {
                        self.ends[1].write(id, 100_000, true, 4, true);
                    }
                }
                let Some(packet) = self.ends[side].transmit(self.now) else {
                    break;
                };
                sent += 1;
                require(sent < BURST, "endless sending", || {
                    format!("end {side} at {}", self.now)
                })?;
                if packet.kind == Kind::Data {
                    self.numbers[side] = self.numbers[side].max(packet.number + 1);
                }
                let flying = &mut self.flying[1 - side];
                if flying.len() < HELD {
                    flying.push_back(packet);
                }
            }
            bounded(&self.ends[side])?;
        }
        Ok(())
    }
}

fn bounded(end: &Endpoint) -> Result<(), Failure> {
    let (role, path, control) = (end.role(), end.path(), end.control());
    let most = Bytes::new(1 << 60);
    require(
        !control.window.is_zero() && control.window <= most,
        "window",
        || format!("{role:?}: {control:?}"),
    )?;
    require(path.bytes_in_flight <= most, "in flight", || {
        format!("{role:?}: {}", path.bytes_in_flight)
    })?;
    // Samples are counted less the delay of their acknowledgement, the latest one is raw (RFC 9002 section 5.3).
    let largest = end.counters().rtt_max.max(path.latest_rtt);
    let rtt = !path.has_rtt() || (!path.smoothed_rtt.is_zero() && path.min_rtt <= largest);
    require(rtt, "rtt", || format!("{role:?}: {path:?}"))?;
    let acked = path
        .largest_acked
        .is_none_or(|largest| largest < path.next_packet);
    require(acked, "acknowledged what was never sent", || {
        format!("{role:?}: {path:?}")
    })
}

fn kind(number: u64) -> Kind {
    use Kind::{AckOnly, ClientInitial, Close, Data, HandshakeAck, ServerHello};
    [
        ClientInitial,
        ServerHello,
        HandshakeAck,
        Data,
        AckOnly,
        Close,
    ][number as usize % 6]
}

fn forge(kind: u64, id: u32, value: u64, len: u64, fin: u64) -> Frame {
    match kind {
        0..=3 => Frame::Stream {
            id,
            offset: if kind < 2 { value & 0xffff } else { value },
            len: len as u16,
            fin: fin == 1,
        },
        4 => Frame::MaxData(value),
        5 => Frame::MaxStreamData { id, limit: value },
        6 => Frame::AckFrequency {
            every: len as u32,
            delay: Duration::from_nanos(value),
        },
        7 => Frame::StopSending(id),
        8 => Frame::ResetStream {
            id,
            final_size: value,
        },
        9 => Frame::ServerFinished,
        10 => Frame::ClientFinished { hello: value },
        11 => Frame::HandshakeAck { largest: value },
        _ => Frame::Datagram {
            tag: value,
            len: len as u32,
        },
    }
}
