//! Builds the outcome at the end of a trial.

use super::link::MediumOutcome;
use super::media::{of_call, worst_delays};
use super::series::Series;
use super::sharing::Sharing;
use super::{FlowOutcome, LinkOutcome, Outcome, RequestOutcome};
use crate::scenario::hop::{Direction, LinkId};
use crate::scenario::{Scenario, Workload};
use crate::trial::connection::Connection;
use std::ops::Range;
use thalweg_path::wifi::MediumUse;
use thalweg_path::{Link, Packet};
use thalweg_transport::EventRtt;
use thalweg_units::{Bytes, Duration, Instant, Rate};

/// State at the end of a trial.
pub(crate) struct Summary<'a, P> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) events: u64,
    /// The fingerprint of the trial.
    pub(crate) hash: u64,
    pub(crate) now: Instant,
    /// Moved to that time.
    pub(crate) links: &'a [Link<P>],
    /// What the medium of each hop was used for; empty if no hop has one.
    pub(crate) media: &'a [Option<MediumUse>],
    pub(crate) connections: &'a [Connection],
    /// Which of them belong to each flow.
    pub(crate) flows: Vec<Range<usize>>,
    /// When the last flow started, and at the first completion after that.
    pub(crate) overlap: [&'a Option<Moment>; 2],
    /// When the first flow started, and the work that links had done by then.
    pub(crate) begun: Option<(Instant, Vec<u128>)>,
}

/// What each flow has sent and got at one time.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    at: Instant,
    /// UDP payloads of numbered packets.
    sent: Vec<Bytes>,
    /// Stream bytes.
    delivered: Vec<Bytes>,
}

impl Moment {
    /// The state of this many flows now.
    pub(crate) fn new(at: Instant, flows: usize, connections: &[Connection]) -> Self {
        let (mut sent, mut delivered) = (vec![Bytes::ZERO; flows], vec![Bytes::ZERO; flows]);
        for connection in connections {
            for side in connection.senders() {
                sent[connection.flow] += Bytes::new(connection.end(side).counters().bytes_sent);
            }
            delivered[connection.flow] += connection.delivered();
        }
        Moment {
            at,
            sent,
            delivered,
        }
    }

    /// What happened since an earlier time.
    fn since(&self, before: &Moment) -> Shared {
        let less = |after: &[Bytes], before: &[Bytes]| {
            let pairs = after.iter().zip(before);
            pairs.map(|(after, before)| *after - *before).collect()
        };
        Shared {
            span: self.at - before.at,
            sent: less(&self.sent, &before.sent),
            delivered: less(&self.delivered, &before.delivered),
        }
    }
}

/// What each flow sent and got while all flows were active.
struct Shared {
    span: Duration,
    sent: Vec<Bytes>,
    delivered: Vec<Bytes>,
}

impl<P: Packet> Summary<'_, P> {
    /// The outcome, with these series if the scenario asks for them.
    pub(crate) fn outcome(&self, series: Option<Series>) -> Outcome {
        let end = self.now - Instant::START;
        let now = Moment::new(self.now, self.flows.len(), self.connections);
        let shared = self.shared(&now);
        let mut flows: Vec<FlowOutcome> = (0..self.flows.len())
            .map(|flow| self.flow_outcome(flow, &shared, &now))
            .collect();
        let links: Vec<LinkOutcome> = LinkId::all(self.scenario.hops.len())
            .map(|link| self.link_outcome(link, end))
            .collect();
        for (criterion, link) in self.scenario.looks_at_links() {
            let value = links[link.index()].value(criterion.metric);
            flows[criterion.flow]
                .watched
                .push((criterion.column(), value));
        }
        if let Some(series) = series.as_ref().filter(|_| self.scenario.is_over_time()) {
            self.share_over_time(series, &mut flows);
        }
        // Over the time in which there was a flow: when the trial began before that does not matter.
        if let Some((first, before)) = self.begun.as_ref().filter(|(first, _)| *first < self.now) {
            for (flow, outcome) in flows.iter_mut().enumerate() {
                let connection = &self.connections[self.flows[flow].start];
                let used = connection.data_links().map(|(link, _)| {
                    let index = link.index();
                    self.links[index].utilisation(before[index], *first, self.now)
                });
                outcome.utilisation = used.reduce(f64::max);
            }
        }
        Outcome {
            seed: self.seed,
            end,
            events: self.events,
            packets: flows.iter().map(|flow| flow.packets_sent).sum(),
            overlap: shared.span,
            jain: jain(&shared.delivered),
            trace_hash: Some(self.hash),
            flows,
            links,
            requests: self.requests(),
            series: series.filter(|_| self.scenario.sample.is_some()),
        }
    }

    /// How the flows shared over time, from their starts to their completions or the end.
    fn share_over_time(&self, series: &Series, flows: &mut [FlowOutcome]) {
        let active: Vec<Range<Instant>> = (flows.iter())
            .map(|flow| {
                let at =
                    |time: Option<Duration>| time.map_or(self.now, |time| Instant::START + time);
                at(flow.start)..at(flow.completion)
            })
            .collect();
        let sharing = Sharing::new(series, &active);
        let convergence = sharing.convergence();
        for (flow, outcome) in flows.iter_mut().enumerate() {
            outcome.starvation = sharing.starvation(flow);
            outcome.convergence = convergence;
            outcome.oscillation = sharing.oscillation(flow);
        }
    }

    /// What happened while all flows were active.
    fn shared(&self, now: &Moment) -> Shared {
        match self.overlap {
            [Some(start), end] => end.as_ref().unwrap_or(now).since(start),
            [None, _] => now.since(now),
        }
    }

    /// The load of a flow (draft-huitema-ccwg-c4-test, of the version after -04): what its senders of data sent while all flows
    /// were active, over what the path could carry then at its first rate. If they never were, of the whole flow. Of a call whose
    /// media both ends send, both directions count.
    fn load(&self, flow: usize, shared: &Shared, now: &Moment, whole: Duration) -> Option<f64> {
        let (sent, span) = match shared.span.is_zero() {
            true => (now.sent[flow], whole),
            false => (shared.sent[flow], shared.span),
        };
        let connection = &self.connections[self.flows[flow].start];
        let rate =
            |link: &LinkId| self.scenario.hops[link.hop()].links[link.direction()].rate_at_start();
        let routes = connection.senders();
        let routes = routes.map(|side| connection.routes[Direction::from(side)].iter());
        let rates = routes.map(|links| links.map(rate).min());
        let capacity: Bytes = rates
            .map(|rate| Some(rate?.bytes_in(span)))
            .sum::<Option<_>>()?;
        (!capacity.is_zero()).then(|| sent.as_u64() as f64 / capacity.as_u64() as f64)
    }

    /// The share of time in which each limit held its senders of data back, of all its connections.
    fn limited(&self, flow: usize) -> Option<[f64; 6]> {
        let mut spent = [Duration::ZERO; 6];
        for connection in &self.connections[self.flows[flow].clone()] {
            for side in connection.senders() {
                let times = connection.end(side).limited_times(self.now)?;
                for (sum, time) in spent.iter_mut().zip(times) {
                    *sum += time;
                }
            }
        }
        let life = spent.iter().copied().sum::<Duration>().as_secs_f64();
        (life > 0.0).then(|| spent.map(|time| time.as_secs_f64() / life))
    }

    fn flow_outcome(&self, flow: usize, all: &Shared, now: &Moment) -> FlowOutcome {
        let shared = &all.delivered;
        let mut outcome = FlowOutcome {
            shared_bytes: shared[flow],
            shared_rate: Rate::over(shared[flow], all.span),
            ..FlowOutcome::default()
        };
        let mut event_rtt = EventRtt::default();
        let (mut rtt_sum, mut rtt_samples) = (Duration::ZERO, 0);
        let (mut waited, mut jittered, mut transmitted) = (Duration::ZERO, Duration::ZERO, 0);
        let mine = self.flows[flow].clone();
        for (index, connection) in mine.clone().zip(&self.connections[mine.clone()]) {
            outcome.bytes_delivered += connection.delivered();
            for side in connection.senders() {
                let counters = connection.end(side).counters();
                event_rtt.merge(&counters.event_rtt());
                outcome.packets_sent += counters.packets_sent;
                outcome.packets_lost += counters.packets_lost;
                outcome.spurious_losses += counters.spurious_losses;
                outcome.timeouts += counters.timeouts;
                if counters.rtt_samples > 0 {
                    rtt_sum += counters.rtt_sum;
                    rtt_samples += counters.rtt_samples;
                    let least = counters.rtt_min;
                    let min = outcome.min_rtt.map_or(least, |known| known.min(least));
                    outcome.min_rtt = Some(min);
                    outcome.max_rtt = outcome.max_rtt.max(Some(counters.rtt_max));
                }
            }
            for (link, is_first) in connection.data_links() {
                let stats = self.links[link.index()].flow_stats(index as u64);
                outcome.packets_dropped += stats.dropped.packets;
                outcome.packets_policed += stats.policed.packets;
                outcome.packets_lost_at_random += stats.lost.packets;
                outcome.packets_marked += stats.marked.packets;
                waited += stats.queue_wait;
                jittered += stats.jitter_experienced;
                if is_first {
                    // Each packet crosses all links: their waits add up to the wait of the route.
                    transmitted += stats.transmitted.packets;
                }
            }
            outcome.probe_bytes = connection.call.as_ref().and_then(|call| call.probed());
            let media = of_call(self.scenario, connection, self.now);
            outcome.media.extend(media);
        }
        let mean = |sum: Duration, count: u64| (count > 0).then(|| sum / count.max(1));
        outcome.limited = self.limited(flow);
        outcome.mean_rtt = mean(rtt_sum, rtt_samples);
        outcome.mean_queue_delay = mean(waited, transmitted);
        outcome.mean_jitter = mean(jittered, transmitted);
        let links = || self.connections[mine.start].data_links();
        let waited =
            |share| links().filter_map(move |(link, _)| self.links[link.index()].wait(flow, share));
        outcome.p95_queue_delay = waited(0.95).max();
        outcome.p99_queue_delay = waited(0.99).max();

        if let Some((mean, deviation)) = event_rtt.mean_and_deviation() {
            outcome.event_rtt = Some(mean);
            outcome.event_rtt_high = Some(mean + deviation);
        }
        if let Workload::Call(specs) = &self.scenario.flows[flow].workload {
            (outcome.frame_delay, outcome.max_frame_delay) =
                worst_delays(specs.iter().zip(&outcome.media));
        }

        let connections = || self.connections[mine.clone()].iter();
        let start = connections()
            .map(|c| c.start)
            .min()
            .unwrap_or(Instant::START);
        // Missing if it is missing for one of the connections.
        let last = |times: Vec<Option<Instant>>| {
            let times: Option<Vec<Instant>> = times.into_iter().collect();
            times.and_then(|times| times.into_iter().max())
        };
        let completion = last(connections().map(|c| c.completion).collect());
        let since_start = |time: Instant| time - Instant::START;
        let span = completion.unwrap_or(self.now) - start;
        outcome.start = Some(since_start(start));
        outcome.completion = completion.map(since_start);
        let mut tripped = connections().filter_map(|c| c.tripped);
        outcome.tripped = tripped.next().map(|(at, rule)| (since_start(at), rule));
        outcome.closed = last(connections().map(|c| c.closed).collect()).map(since_start);
        // What a breaker closes has not ended.
        outcome.closed = outcome.closed.filter(|_| outcome.tripped.is_none());
        outcome.load = self.load(flow, all, now, span);
        outcome.mean_rate = Rate::over(outcome.bytes_delivered, span);
        let total: Bytes = shared.iter().copied().sum();
        outcome.share =
            (!total.is_zero()).then(|| shared[flow].as_u64() as f64 / total.as_u64() as f64);
        outcome
    }

    /// Outcomes of the requests of flows of requests.
    fn requests(&self) -> Vec<RequestOutcome> {
        let mut requests = Vec::new();
        for (index, connection) in self.connections.iter().enumerate() {
            let flow = connection.flow;
            let (Workload::Requests(_), &Workload::Download { bytes, .. }) =
                (&self.scenario.flows[flow].workload, &connection.workload)
            else {
                continue;
            };
            if connection.start == Instant::NEVER {
                continue; // the trial ended before the round that it waits for
            }
            let counters = connection.server.counters();
            let samples = counters.rtt_samples;
            requests.push(RequestOutcome {
                flow,
                request: index - self.flows[flow].start,
                start: connection.start - Instant::START,
                bytes,
                completion: connection.completion.map(|at| at - Instant::START),
                packets_sent: counters.packets_sent,
                packets_lost: counters.packets_lost,
                mean_rtt: (samples > 0).then(|| counters.rtt_sum / samples.max(1)),
            });
        }
        requests
    }

    fn link_outcome(&self, link: LinkId, end: Duration) -> LinkOutcome {
        let hop = &self.scenario.hops[link.hop()];
        let config = &hop.links[link.direction()];
        let name = hop.names[link.direction()].clone();
        let mut outcome = LinkOutcome::of(name, &self.links[link.index()], config, end);
        let medium = self.media.get(link.hop()).and_then(Option::as_ref);
        outcome.medium = medium.map(|medium| MediumOutcome::of(medium, link.direction() as usize));
        outcome
    }
}

/// Jain's index of the bytes of the flows: (sum x)^2 / (n sum x^2); absent for one flow, or without any
/// bytes.
pub fn jain(shared: &[Bytes]) -> Option<f64> {
    let amounts = shared.iter().map(|bytes| bytes.as_u64() as f64);
    let (sum, squares) = amounts.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let several = shared.len() > 1 && squares > 0.0;
    several.then(|| sum * sum / (shared.len() as f64 * squares))
}
