//! Connections of the real stack in real time; the caller moves their datagrams.
//!
//! # Model
//! Both endpoints, and the applications on them, are as for a flow with `stack = "quic"` in the simulator: the same
//! code runs downloads, uploads, requests and media calls, and decides when they are complete and closed.
//! The driver of a connection passes in what has arrived ([`RealConnection::receive`]), handles timers
//! ([`RealConnection::expire`] at [`RealConnection::next`]), and moves what both endpoints
//! [`transmit`](RealConnection::transmit).
//!
//! # Units
//! Times are times of the trial, which starts at [`Instant::START`] under any clock.
//!
//! # Limits
//! Timers are as exact as the driver; `wakeup_noise` of a scenario, which models hosts, does not
//! apply on a host.

use crate::outcome::media::{MediaOutcome, of_call};
use crate::outcome::senders::Senders;
use crate::outcome::trace::sample_sender;
use crate::quic::RealEndpoint;
use crate::scenario::library::FlowStack;
use crate::scenario::{FlowSpec, Scenario, StartNoise};
use crate::trial::connection::{Connection, plans};
use crate::trial::stack::{Endpoint, Payload};
use std::num::NonZeroUsize;
use thalweg_quic::{Datagram, Train};
use thalweg_transport::{Counters, Role, SenderRecorder};
use thalweg_units::{Bytes, Duration, Instant};

/// One connection: both endpoints, and their applications.
pub struct RealConnection(Connection);

impl FlowSpec {
    /// The connections of this flow, which is number `flow` of its scenario, in the trial with seed `trial`: in the
    /// order of [`FlowSpec::transfers`], each created on demand.
    pub fn real_connections(
        &self,
        flow: usize,
        trial: u64,
    ) -> impl Iterator<Item = RealConnection> + use<> {
        let mut spec = self.clone();
        spec.stack = FlowStack::Quic;
        spec.transport.wakeup_noise = Duration::ZERO;
        let plans = plans(&spec, trial, StartNoise::default()).into_iter();
        plans.map(move |plan| RealConnection(Connection::new(&spec, flow, trial, plan)))
    }
}

impl RealConnection {
    /// The client starts to connect.
    pub fn begin(&mut self) {
        self.0.begin();
    }

    /// A datagram has arrived at one end.
    pub fn receive(&mut self, now: Instant, to: Role, datagram: Datagram) {
        let mut payload = Payload::Real(datagram);
        self.0.endpoint(to).receive(now, &mut payload);
    }

    /// The next datagrams that one end may send now, at most `most`; call until there are none, and then
    /// [`settle`](RealConnection::settle).
    pub fn transmit(&mut self, now: Instant, from: Role, most: NonZeroUsize) -> Option<Train> {
        match self.0.endpoint(from) {
            Endpoint::Real(endpoint) => match &mut **endpoint {
                RealEndpoint::Quic(endpoint) => endpoint.transmit_train(now, most),
                RealEndpoint::Library(_) => None,
            },
            Endpoint::Modelled(_) => None,
        }
    }

    /// Lets the applications process events; returns whether there were any.
    pub fn settle(&mut self, now: Instant) -> bool {
        let mut has_happened = false;
        for side in Role::BOTH {
            while self.0.endpoint(side).has_events() {
                has_happened = true;
                self.0.serve(now, side);
            }
        }
        has_happened
    }

    /// When to call [`expire`](RealConnection::expire), if no datagram arrives before.
    pub fn next(&self) -> Instant {
        let ends = self.0.client.next().min(self.0.server.next());
        ends.min(self.0.next_app())
    }

    /// Handles everything that is due.
    pub fn expire(&mut self, now: Instant) {
        for side in Role::BOTH {
            let endpoint = self.0.endpoint(side);
            if endpoint.next() <= now {
                endpoint.expire(now);
            }
        }
        if self.0.next_app() <= now {
            self.0.tick_app(now);
        }
    }

    /// When the last byte was delivered, or the call ended.
    pub fn completion(&self) -> Option<Instant> {
        self.0.completion
    }

    /// When the close exchange ended.
    pub fn closed(&self) -> Option<Instant> {
        self.0.closed
    }

    /// Why it failed, if it did, as reported by the endpoint that noticed. It is then inactive.
    pub fn failure(&self) -> Option<String> {
        let ends = [("client", &self.0.client), ("server", &self.0.server)];
        ends.into_iter().find_map(|(end, endpoint)| {
            let reason = endpoint.failure()?;
            Some(format!("the QUIC connection of the {end} broke: {reason}"))
        })
    }

    /// Bytes of the workload delivered so far.
    pub fn delivered(&self) -> Bytes {
        self.0.delivered()
    }

    /// Counters of each sender of data or media.
    pub fn counters(&self) -> impl Iterator<Item = Counters> {
        (self.0.senders()).map(|side| self.0.end(side).counters())
    }

    /// Results of each stream of a call so far.
    pub fn media(&self, scenario: &Scenario, now: Instant) -> Vec<MediaOutcome> {
        of_call(scenario, &self.0, now)
    }

    /// Records from now on the fates of packets of the senders of data or media.
    pub fn record_packets(&mut self) {
        for side in self.0.senders() {
            self.0.endpoint(side).record_packets();
        }
    }

    /// Records a sample of each sender of data or media, as connection number `index`; `places` are the places of senders among
    /// the names of the trace. `events` of client and server are "received", "sent" or "timer".
    pub fn sample(
        &mut self,
        now: Instant,
        index: usize,
        events: [&'static str; 2],
        (places, recorder): (&Senders, &mut SenderRecorder),
    ) {
        for side in self.0.senders() {
            let (place, event) = (places.place(index, side), events[side.index()]);
            sample_sender(recorder, now, place, event, self.0.endpoint(side));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use thalweg_units::Ecn;

    fn connection(workload: &str) -> RealConnection {
        let text = format!(
            "title = \"one\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\n[[flow]]\nname = \"main\"\n\
             controller = \"c4\"\n{workload}\n"
        );
        let scenario = Scenario::from_toml(text.as_bytes(), "one.toml", &[], &[]).expect("valid");
        let mut all = scenario.flows[0].real_connections(0, 1);
        all.next().expect("a connection")
    }

    /// Moves datagrams in 10 ms each way, without a limit, until the connection is closed or 30 s have passed.
    fn carry(workload: &str, most: NonZeroUsize) -> RealConnection {
        let mut connection = connection(workload);
        let mut way: VecDeque<(Instant, Role, Datagram)> = VecDeque::new();
        let mut now = Instant::START;
        connection.begin();
        while connection.closed().is_none() && now < Instant::START + Duration::from_secs(30) {
            connection.expire(now);
            while way.front().is_some_and(|(at, ..)| *at <= now) {
                let (_, to, datagram) = way.pop_front().expect("a datagram");
                connection.receive(now, to, datagram);
            }
            connection.settle(now);
            for (from, to) in [(Role::Client, Role::Server), (Role::Server, Role::Client)] {
                while let Some(train) = connection.transmit(now, from, most) {
                    for data in train.data.chunks(train.size) {
                        let datagram = Datagram {
                            number: 0,
                            ecn: train.ecn,
                            data: data.into(),
                        };
                        way.push_back((now + Duration::from_millis(10), to, datagram));
                    }
                }
            }
            if !connection.settle(now) {
                let arrival = way.front().map_or(Instant::NEVER, |(at, ..)| *at);
                now = connection.next().min(arrival).max(now);
            }
        }
        connection
    }

    #[test]
    fn a_transfer_arrives_whole_is_complete_and_then_closed() {
        for (workload, most) in [("download = \"300 kB\"", 1), ("upload = \"300 kB\"", 8)] {
            let connection = carry(workload, NonZeroUsize::new(most).expect("some"));
            assert_eq!(connection.delivered(), Bytes::new(300_000), "{workload}");
            let completion = connection.completion().expect("complete");
            let closed = connection.closed().expect("closed");
            // Handshake, then data: not before two one-way trips and the answer to them. No limit but the
            // window: at 15 kB that doubles each 20 ms, 300 kB take some 5 round trips.
            assert!(completion >= Instant::START + Duration::from_millis(30));
            assert!(completion <= Instant::START + Duration::from_millis(400));
            assert!(
                closed >= completion + Duration::from_millis(20),
                "{workload}"
            );
            assert_eq!(connection.failure(), None);
            // 300 kB in packets of at most 1440 bytes.
            let senders: Vec<Counters> = connection.counters().collect();
            assert_eq!(senders.len(), 1, "{workload}");
            assert!(senders[0].packets_sent >= 208);
            assert_eq!(senders[0].rtt_min, Duration::from_millis(20));
        }
    }

    #[test]
    fn a_call_has_its_media() {
        let scenario = Scenario::from_toml(
            b"title = \"x\"\n[path]\nrate = \"10 Mbps\"\nrtt = \"20 ms\"\n[[flow]]\nname = \"main\"\ncontroller = \"c4\"\ncall = \"2 s\"\n",
            "one.toml",
            &[],
            &[],
        );
        let scenario = scenario.expect("valid");
        let connection = carry("call = \"2 s\"", NonZeroUsize::MIN);
        let media = connection.media(&scenario, connection.closed().expect("closed"));
        let frames: Vec<_> = media.iter().map(|m| (m.name.as_str(), m.frames)).collect();
        // 2 s of 50 audio frames and 30 frames of each video in a second.
        assert_eq!(frames, [("audio", 100), ("video", 60), ("video-high", 60)]);
        assert!(
            media
                .iter()
                .all(|m| m.mean_delay >= Some(Duration::from_millis(20)))
        );
    }

    #[test]
    fn a_call_has_the_numbers_of_the_ends_that_send_media() {
        let stream = |name: &str, from: &str| {
            format!(
                "[[flow.media]]\nname = \"{name}\"\nper_second = 10\nduration = \"2 s\"\nframe = \"5 kB\"\ngroup = 10\nfrom = \"{from}\"\n"
            )
        };
        let (down, up) = (stream("down", "server"), stream("up", "client"));
        for (media, senders) in [(&down, 1), (&up, 1), (&format!("{down}{up}"), 2)] {
            let connection = carry(media, NonZeroUsize::MIN);
            // 20 frames of 5 kB from each, and none of the 16 bytes of each of two requests.
            assert_eq!(
                connection.delivered(),
                Bytes::new(senders * 100_000),
                "{media}"
            );
            let counters: Vec<Counters> = connection.counters().collect();
            assert_eq!(counters.len() as u64, senders, "{media}");
            // 5 kB in packets of at most 1440 bytes: four, twenty times.
            assert!(
                counters.iter().all(|end| end.packets_sent >= 80),
                "{counters:?}"
            );
        }
    }

    #[test]
    fn a_connection_that_breaks_says_why() {
        let mut connection = connection("download = \"300 kB\"");
        connection.begin();
        assert_eq!(connection.failure(), None);
        let first = connection.transmit(Instant::START, Role::Client, NonZeroUsize::MIN);
        let first = first.expect("a datagram").data;
        // The answer of a server that speaks another version only, which echoes the connection IDs (RFC 9000 section
        // 17.2.1). The first datagram has them after its first byte and version, each behind its length.
        let destination = &first[5..6 + usize::from(first[5])];
        let rest = &first[5 + destination.len()..];
        let source = &rest[..1 + usize::from(rest[0])];
        let other_version = [0x1a, 0x2a, 0x3a, 0x4a];
        let answer = [&[0xc0, 0, 0, 0, 0], source, destination, &other_version].concat();
        let datagram = Datagram {
            number: 0,
            ecn: Ecn::NotEct,
            data: answer.as_slice().into(),
        };
        let now = Instant::START + Duration::from_millis(20);
        connection.receive(now, Role::Client, datagram);
        connection.settle(now);
        let failure = connection.failure().expect("a broken connection");
        assert!(failure.contains("client"), "{failure}");
        assert!(failure.contains("version"), "{failure}");
        assert_eq!(connection.completion(), None);
    }
}
