//! Two endpoints of the real stack over a simple link: 20 Mbps and 40 ms each way, unlimited queue.

use rand_core::SeedableRng as _;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use thalweg_control::{ControllerSpec, Init, Rng};
use thalweg_quic::{Datagram, QuicEndpoint, StackController, Steering};
use thalweg_transport::{AppEvent, Role, TransportConfig};
use thalweg_units::{Bytes, Duration, Ecn, Instant, Rate};

const DELAY: Duration = Duration::from_millis(40);
const BULK: u8 = 9;

struct Wire {
    free_at: Instant,
    queue: VecDeque<(Instant, Datagram)>,
}

struct Pair {
    ends: [QuicEndpoint; 2],
    wires: [Wire; 2],
    now: Instant,
    /// Times and sizes of all datagrams, by their sender.
    log: Vec<(Instant, usize, usize)>,
    /// Which datagrams of the server are lost, and which are marked.
    is_lost: fn(u64) -> bool,
    is_marked: fn(u64) -> bool,
    events: [Vec<(Instant, AppEvent)>; 2],
    /// Datagrams that leave in one call.
    most: NonZeroUsize,
    sent: [u64; 2],
    /// The longest train.
    longest: usize,
}

fn pair(controller: &str, seed: u64) -> Pair {
    let config = TransportConfig {
        wakeup_noise: Duration::from_micros(20),
        ..TransportConfig::default()
    };
    let end = |role, seed| {
        let init = Init {
            now: Instant::START,
            mtu: config.initial_mtu,
            initial_window: config.initial_window,
            media: None,
        };
        let steering = if StackController::is_meant_by(controller) {
            Steering::Stack(controller.parse().expect("a controller of the stack"))
        } else {
            let spec: ControllerSpec = controller.parse().expect("a controller of the registry");
            Steering::Ours(spec.build(&init))
        };
        let rng = Rng::seed_from_u64(seed);
        let noise = Rng::seed_from_u64(seed + 1000);
        QuicEndpoint::new(role, config.clone(), init.now, steering, rng, noise)
    };
    let wire = || Wire {
        free_at: Instant::START,
        queue: VecDeque::new(),
    };
    Pair {
        ends: [end(Role::Client, 2 * seed), end(Role::Server, 2 * seed + 1)],
        wires: [wire(), wire()],
        now: Instant::START,
        log: Vec::new(),
        is_lost: |_| false,
        is_marked: |_| false,
        events: [Vec::new(), Vec::new()],
        most: NonZeroUsize::MIN,
        sent: [0; 2],
        longest: 1,
    }
}

impl Pair {
    /// What one call sends, as datagrams.
    fn leaving(&mut self, side: usize) -> Option<Vec<Datagram>> {
        if self.most == NonZeroUsize::MIN {
            return self.ends[side]
                .transmit(self.now)
                .map(|datagram| vec![datagram]);
        }
        let train = self.ends[side].transmit_train(self.now, self.most)?;
        let mut data = train.data;
        let mut datagrams = Vec::new();
        while !data.is_empty() {
            datagrams.push(Datagram {
                number: self.sent[side] + datagrams.len() as u64,
                ecn: train.ecn,
                data: data.split_to(train.size.min(data.len())),
            });
        }
        self.longest = self.longest.max(datagrams.len());
        Some(datagrams)
    }

    fn pump(&mut self) {
        for side in 0..2 {
            while let Some(event) = self.ends[side].poll_event() {
                self.events[side].push((self.now, event));
            }
            let mut leaving = VecDeque::new();
            loop {
                if leaving.is_empty() {
                    let Some(more) = self.leaving(side) else {
                        break;
                    };
                    leaving.extend(more);
                }
                let Some(mut datagram) = leaving.pop_front() else {
                    break;
                };
                assert_eq!(datagram.number, self.sent[side]);
                self.sent[side] += 1;
                let size = datagram.data.len();
                self.log.push((self.now, side, size));
                if side == 1 && (self.is_lost)(datagram.number) {
                    continue;
                }
                if side == 1 && (self.is_marked)(datagram.number) {
                    datagram.ecn = Ecn::Ce;
                }
                let wire = &mut self.wires[side];
                let time = Rate::from_bits_per_sec(20_000_000).time_for(Bytes::new(size as u64));
                wire.free_at = wire.free_at.max(self.now) + time;
                wire.queue.push_back((wire.free_at + DELAY, datagram));
            }
        }
    }

    /// Runs until `done`, or until no event is left.
    fn run_until(&mut self, mut done: impl FnMut(&mut Pair) -> bool) {
        self.pump();
        while !done(self) {
            let arrivals = [0, 1].map(|side| {
                let front = self.wires[side].queue.front();
                front.map_or(Instant::NEVER, |(time, _)| *time)
            });
            let timers = [0, 1].map(|side| self.ends[side].next());
            let next = arrivals.into_iter().chain(timers).min();
            let Some(next) = next.filter(|next| *next < Instant::START + Duration::from_secs(120))
            else {
                return;
            };
            self.now = self.now.max(next);
            for side in 0..2 {
                if arrivals[side] <= self.now
                    && let Some((_, datagram)) = self.wires[side].queue.pop_front()
                {
                    self.ends[1 - side].receive(self.now, datagram);
                }
                if timers[side] <= self.now {
                    self.ends[side].expire(self.now);
                }
            }
            self.pump();
        }
    }

    /// A download of `bytes`; returns when it was complete and when the connection was closed.
    fn download(&mut self, bytes: u64) -> (Duration, Duration) {
        self.ends[0].connect(self.now);
        let (mut asked, mut answered, mut complete) = (false, false, None);
        self.run_until(|pair| {
            let connected = |events: &[(Instant, AppEvent)]| {
                events.iter().any(|(_, e)| *e == AppEvent::Connected)
            };
            let ended = |events: &[(Instant, AppEvent)]| {
                (events.iter())
                    .any(|(_, e)| matches!(e, AppEvent::StreamData { complete, .. } if *complete))
            };
            if !asked && connected(&pair.events[0]) {
                pair.ends[0].write(0, 100, true, BULK, true);
                asked = true;
            }
            if !answered && ended(&pair.events[1]) {
                pair.ends[1].write(0, bytes, true, BULK, true);
                answered = true;
            }
            if complete.is_none() && ended(&pair.events[0]) {
                complete = Some(pair.now);
                pair.ends[0].close(pair.now);
            }
            pair.pump();
            pair.events[0].iter().any(|(_, e)| *e == AppEvent::Closed)
        });
        let complete = complete.expect("the download completes");
        (complete - Instant::START, self.now - Instant::START)
    }
}

#[test]
fn a_download_takes_a_little_longer_than_its_bytes_and_its_round_trips() {
    for controller in [
        "c4",
        "cubic",
        "reno",
        "bbr",
        "noq:cubic",
        "noq:newreno",
        "noq:bbr3",
    ] {
        let mut pair = pair(controller, 1);
        let (complete, closed) = pair.download(4_000_000);
        // 4 MB at 20 Mbps: 1.6 s, and two round trips of 80 ms before the first byte: 1.76 s; slow start
        // from 15 kB to 200 kB costs some 4 round trips, 0.32 s.
        let seconds = complete.as_secs_f64();
        assert!((1.76..2.6).contains(&seconds), "{controller}: {seconds}");
        let delivered = pair.ends[0].counters().stream_bytes_received;
        assert_eq!(delivered, 4_000_000);
        // The close crosses the path and is answered.
        let close = (closed - complete).as_secs_f64();
        assert!((0.080..0.3).contains(&close), "{controller}: {close}");
    }
}

#[test]
fn the_same_seed_has_the_same_packet_sizes_and_times_and_another_seed_has_not() {
    let run = |seed| {
        let mut pair = pair("c4", seed);
        pair.is_lost = |number| number % 97 == 50;
        pair.download(1_000_000);
        pair.log
    };
    let first = run(3);
    assert!(first.len() > 700, "{}", first.len());
    assert_eq!(first, run(3));
    assert_ne!(first, run(4));
}

#[test]
fn trains_are_the_packets_that_would_have_left_one_by_one() {
    for controller in ["c4", "cubic", "reno", "bbr", "prague", "cbr"] {
        for seed in 1..=2 {
            let run = |most| {
                let mut pair = pair(controller, seed);
                pair.most = NonZeroUsize::new(most).expect("some");
                pair.is_lost = |number| number > 20 && number % 83 < 2;
                pair.is_marked = |number| number % 61 == 7;
                let times = pair.download(700_000);
                let counters = pair
                    .ends
                    .each_ref()
                    .map(|end| format!("{:?}", end.counters()));
                (times, pair.log, counters, pair.longest)
            };
            let singly = run(1);
            for most in [2, 40] {
                let (times, log, counters, longest) = run(most);
                assert!(
                    (2..=most).contains(&longest),
                    "{controller}: {longest} of {most}"
                );
                let differs = singly
                    .1
                    .iter()
                    .zip(&log)
                    .position(|(row, other)| row != other);
                assert_eq!(
                    differs, None,
                    "{controller}, {seed}, {most}: the first packet that differs"
                );
                assert_eq!(
                    (times, &counters),
                    (singly.0, &singly.2),
                    "{controller}, {seed}, {most}"
                );
            }
        }
    }
}

#[test]
fn losses_are_counted_once_and_repaired() {
    let mut pair = pair("cubic", 5);
    pair.is_lost = |number| number > 20 && number % 100 == 0;
    pair.download(2_000_000);
    let server = pair.ends[1].counters();
    let lost = (0..).take_while(|n| *n < server.packets_sent);
    let dropped = lost.filter(|n| *n > 20 && n % 100 == 0).count() as u64;
    // Datagram numbers include handshake packets, so the last one may go either way.
    assert!(
        (dropped.saturating_sub(1)..=dropped + 1).contains(&server.packets_lost),
        "{} for {dropped}",
        server.packets_lost
    );
    assert_eq!(pair.ends[0].counters().stream_bytes_received, 2_000_000);
}

#[test]
fn the_measurements_match_the_link() {
    let mut pair = pair("c4", 6);
    pair.download(4_000_000);
    let path = pair.ends[1].path();
    // 40 ms each way, and at least the time of a packet and an acknowledgement.
    let min = path.min_rtt.as_secs_f64();
    assert!((0.080..0.0815).contains(&min), "{min}");
    // 20 Mbps minus tags and headers (16 of 1440 bytes); above the link only by ACK compression.
    let peak = path.peak_rate.as_bits_per_sec() as f64 / 20e6;
    assert!((0.95..=1.1).contains(&peak), "{peak}");
    assert_eq!(path.bytes_in_flight, Bytes::ZERO);
    assert_eq!(path.lowest_unacked, path.next_packet);
    // All of the data, plus some frame headers.
    let delivered = path.delivered.as_u64();
    assert!((4_000_000..4_150_000).contains(&delivered), "{delivered}");
}

#[test]
fn marks_reach_the_controller() {
    let mut plain = pair("reno", 7);
    let (without, _) = plain.download(2_000_000);
    assert_eq!(plain.ends[1].path().ecn.ce, 0);
    let mut marked = pair("reno", 7);
    marked.is_marked = |number| number % 100 == 60;
    let (with, _) = marked.download(2_000_000);
    let counted = marked.ends[1].path().ecn.ce;
    // 2 MB are some 1 430 packets, 14 of them marked.
    assert!((10..=15).contains(&counted), "{counted}");
    assert_eq!(marked.ends[1].counters().packets_lost, 0);
    assert!(with > without, "{with} against {without}");
}

#[test]
fn datagrams_and_stop_sending_work_as_in_the_model() {
    let mut pair = pair("c4", 8);
    pair.ends[0].connect(Instant::START);
    let is_connected = |pair: &mut Pair| {
        let events = &pair.events;
        (0..2).all(|side| events[side].iter().any(|(_, e)| *e == AppEvent::Connected))
    };
    pair.run_until(is_connected);
    // Stream 3 first: it opens those below.
    pair.ends[0].write(3, 16, true, 4, true);
    pair.ends[0].send_datagram(80, 77);
    pair.run_until(|pair| pair.events[1].len() >= 3);
    let events: Vec<AppEvent> = pair.events[1].iter().map(|(_, event)| *event).collect();
    assert!(events.contains(&AppEvent::Datagram { tag: 77, len: 80 }));
    assert!(events.contains(&AppEvent::StreamData {
        id: 3,
        contiguous: 16,
        complete: true
    }));
    pair.ends[1].write(3, 50_000_000, true, 4, true);
    let start = pair.now;
    pair.run_until(|pair| pair.now > start + Duration::from_millis(500));
    pair.ends[0].stop_receiving(3);
    pair.run_until(|_| false);
    assert!(
        (pair.events[1].iter()).any(|(_, event)| *event == AppEvent::StopSending(3)),
        "the sender learns of it"
    );
    let sent = pair.ends[1].counters().bytes_sent;
    // 0.5 s and half a round trip at 20 Mbps carry 1.35 MB at most; a queue may add as much again.
    assert!((300_000..3_000_000).contains(&sent), "{sent}");
}
