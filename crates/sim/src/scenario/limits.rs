//! What a scenario may ask for. Everything is refused before anything is allocated for it, so that a trial ends, or can
//! be stopped, and fits into memory. The numbers stand in the table of docs/scenarios.md.

use crate::scenario::check::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{self, ScenarioFile};
use thalweg_path::{CapacitySchedule, Limit, LinkConfig};
use thalweg_units::{Bytes, Duration, Instant};

use crate::scenario::hop::{DOWN, Hop, UP};
use crate::scenario::queue;
use crate::scenario::{FlowSpec, Workload};

/// Bytes of a scenario file, traces in it included.
pub(crate) const TEXT: usize = 80 << 20;
/// Keys, tables and list entries of a scenario file.
pub(crate) const KEYS: usize = 1_000_000;
/// Bytes of one file with a trace.
pub(crate) const TRACE: u64 = 32 << 20;
/// Bytes of all files with traces.
pub(crate) const TRACES: u64 = 64 << 20;
/// Hops of the path, `[[link]]` tables.
pub(crate) const LINKS: usize = 1_000;
/// `[[path.change]]` tables of all hops.
const CHANGES: usize = 100_000;
/// Changes of one hop in a trial, those that repeat included.
const CHANGES_IN_TRIAL: u64 = 10_000_000;
/// Queues of all links with fair queueing.
const QUEUES: u64 = 1 << 20;
/// Intervals of noise of one link in a trial.
const NOISE_INTERVALS: u64 = 1_000_000_000;
/// Updates of an active queue management in a trial.
const UPDATES: u64 = 10_000_000;
/// `[[flow]]` tables.
const FLOWS: usize = 10_000;
/// Connections: flows, and each request.
const CONNECTIONS: u64 = 100_000;
/// Connections times links: each link counts the packets of each connection.
const COUNTERS: u64 = 4_000_000;
/// Streams of one flow, and of all flows.
pub(crate) const STREAMS: u32 = 10_000;
const ALL_STREAMS: u64 = 200_000;
/// Streams of one flow of the real stack, which goes through all of them for each that is written to.
pub(crate) const REAL_STREAMS: u32 = 1_000;
/// Streams of media of one flow.
const MEDIA: usize = 100;
/// Frames of all streams of media.
const FRAMES: f64 = 10_000_000.0;
/// Numbers in the series of a trial.
const SERIES: u64 = 30_000_000;
/// Packets that can be inside the network at one time.
const INSIDE: u64 = 50_000_000;
/// Packets that the links can carry in a trial.
const PACKETS: u64 = 1_000_000_000_000;

/// Whether a text is worth reading: looked at before it is parsed.
pub(crate) fn check_text(text: &str, origin: &str) -> Result<(), ScenarioError> {
    let refuse = |problem: String| {
        Err(ScenarioError {
            origin: origin.to_owned(),
            line: None,
            key: None,
            problem,
        })
    };
    if text.len() > TEXT {
        let (size, most) = (text.len().div_ceil(1 << 20), TEXT >> 20);
        return refuse(format!("has {size} MiB; accepted: at most {most} MiB"));
    }
    let marks = |byte: &u8| matches!(byte, b'=' | b'[' | b'{' | b',');
    let keys = text.as_bytes().iter().filter(|byte| marks(byte)).count();
    if keys > KEYS {
        return refuse(format!(
            "has some {keys} keys, tables and list entries; accepted: at most {KEYS}"
        ));
    }
    Ok(())
}

impl Checker<'_> {
    /// How much of everything there is.
    pub(crate) fn check_counts(&self, file: &ScenarioFile) -> Result<(), ScenarioError> {
        let at_most = |key: &str, count: usize, most: usize, what: &str| {
            if count > most {
                let problem = format!("{count} {what} are too many; accepted: at most {most}");
                return self.fail(key, problem);
            }
            Ok(())
        };
        at_most("link", file.link.len(), LINKS, "links")?;
        at_most("flow", file.flow.len(), FLOWS, "flows")?;
        let (table, hops) = tables(file);
        let changes = hops.iter().map(|hop| hop.change.len()).sum();
        at_most(table, changes, CHANGES, "changes")?;
        let queues = hops.iter().map(|hop| queues(hop)).sum::<u64>();
        if queues > QUEUES {
            let problem = format!(
                "{queues} queues of fair queueing in all are too many; accepted: at most {QUEUES}"
            );
            return self.fail(&format!("{table}.queue"), problem);
        }
        let (mut connections, mut streams, mut frames) = (0, 0, 0.0);
        for (index, flow) in file.flow.iter().enumerate() {
            let key = |name: &str| format!("flow.{index}.{name}");
            let media = flow.media.len();
            at_most(&key("media"), media, MEDIA, "streams of media")?;
            let requests = flow.requests.as_ref().map_or(1, |requests| requests.count);
            connections += u64::from(requests);
            let crossings = connections * 2 * hops.len() as u64;
            if connections > CONNECTIONS || crossings > COUNTERS {
                let most = CONNECTIONS.min(COUNTERS / (2 * hops.len() as u64).max(1));
                let problem = format!(
                    "flows and requests so far make {connections} connections; accepted: at most {most} over {} links",
                    2 * hops.len()
                );
                return self.fail(&format!("flow.{index}"), problem);
            }
            streams += u64::from(flow.streams);
            if streams > ALL_STREAMS {
                let problem = format!(
                    "{streams} streams of all flows so far are too many; accepted: at most {ALL_STREAMS}"
                );
                return self.fail(&key("streams"), problem);
            }
            let asked = flow
                .media
                .iter()
                .map(|media| (media.duration, media.per_second));
            // The standard call has 110 frames a second.
            let call = flow.call.map(|duration| (duration, 110));
            frames += asked
                .chain(call)
                .map(|(duration, rate)| duration.as_secs_f64() * f64::from(rate))
                .sum::<f64>();
            if frames > FRAMES {
                let problem = format!(
                    "{frames:.0} frames of all calls so far are too many; accepted: at most {FRAMES}"
                );
                return self.fail(&format!("flow.{index}"), problem);
            }
        }
        self.check_series(file, hops.len())?;
        for (index, hop) in hops.iter().enumerate() {
            let table = match file.path {
                Some(_) => "path".to_owned(),
                None => format!("link.{index}"),
            };
            self.check_steps(&table, hop, file.time_limit)?;
        }
        Ok(())
    }

    /// Series hold, in each bin, two numbers for each flow and one for each link, of which a hop has two.
    fn check_series(&self, file: &ScenarioFile, hops: usize) -> Result<(), ScenarioError> {
        let Some(bin) = file.sample else {
            return Ok(());
        };
        let limit = file.time_limit;
        let finest = Duration::from_micros(100);
        let series = 2 * (file.flow.len() + hops) as u64;
        let least = (limit * series / SERIES + Duration::from_nanos(1)).max(finest);
        if bin < finest || limit.as_nanos() / bin.as_nanos().max(1) * series > SERIES {
            // Rounded up to what is easily read.
            let least = Duration::from_micros(least.as_nanos().div_ceil(100_000) * 100);
            let problem = format!(
                "\"{bin}\" is too fine for \"{limit}\" (time_limit) and {series} series; accepted: bins of \"{least}\" or more"
            );
            return self.fail("sample", problem);
        }
        if bin > limit {
            let problem = format!(
                "\"{bin}\" is longer than the trial; accepted: at most the time_limit, \"{limit}\""
            );
            return self.fail("sample", problem);
        }
        Ok(())
    }

    /// What a hop does again and again.
    fn check_steps(
        &self,
        table: &str,
        hop: &schema::Path,
        limit: Duration,
    ) -> Result<(), ScenarioError> {
        let too_often = |key: &str, every: Duration, steps: u64, most: u64| {
            let least = u128::from(limit.as_nanos()) * u128::from(steps) / u128::from(most);
            let least = u64::try_from(least.div_ceil(1_000)).unwrap_or(u64::MAX);
            let least = Duration::from_micros(least);
            if every < least {
                let problem = format!(
                    "\"{every}\" is too short for a trial of \"{limit}\" (time_limit); accepted: at least \"{least}\""
                );
                return self.fail(&format!("{table}.{key}"), problem);
            }
            Ok(())
        };
        if let Some(repeat) = hop.repeat {
            let changes = hop.change.len() as u64 + 1;
            too_often("repeat", repeat, changes, CHANGES_IN_TRIAL)?;
        }
        if let Some(noise) = &hop.noise {
            too_often("noise.every", noise.every, 1, NOISE_INTERVALS)?;
        }
        let up = hop.up.as_ref().and_then(|up| up.queue.as_ref());
        for (key, queue) in [("queue", hop.queue.as_ref()), ("up.queue", up)] {
            if let Some((name, every)) = queue.and_then(queue::update) {
                too_often(&format!("{key}.{name}"), every, 1, UPDATES)?;
            }
        }
        Ok(())
    }

    /// How many packets there may be at a time, and in all: no more than the flows send, than the links carry, and
    /// than fits into them.
    pub(crate) fn check_packets(
        &self,
        file: &ScenarioFile,
        flows: &[FlowSpec],
        hops: &[Hop],
    ) -> Result<(), ScenarioError> {
        let packet = u128::from(
            file.transport
                .initial_mtu
                .unwrap_or(Bytes::new(1252))
                .as_u64()
                .max(1),
        );
        let end = Instant::START + file.time_limit;
        let (mut carried, mut inside) = (0u128, 0u128);
        for (index, hop) in hops.iter().enumerate() {
            for direction in [DOWN, UP] {
                let sent: u128 = (flows.iter())
                    .filter(|flow| flow.route.contains(&index))
                    .map(|flow| data(flow, direction))
                    .sum();
                let link = &hop.links[direction];
                let able = CapacitySchedule::new(link).bytes_between(Instant::START, end);
                let moved = sent.min(u128::from(able.as_u64()));
                carried += moved / packet;
                inside += moved.min(room(link)) / packet;
            }
        }
        for (packets, most, what) in [
            (inside, INSIDE, "can be inside the network at one time"),
            (carried, PACKETS, "can cross links in one trial"),
        ] {
            if packets > u128::from(most) {
                let problem = format!(
                    "{packets} packets of these flows {what}; accepted: at most {most}, by less data, a lower rate, a shorter rtt or a smaller buffer"
                );
                return self.fail("flow", problem);
            }
        }
        Ok(())
    }
}

/// The key of the hops and the hops.
fn tables(file: &ScenarioFile) -> (&'static str, Vec<&schema::Path>) {
    match &file.path {
        Some(path) => ("path", vec![path]),
        None => ("link", file.link.iter().collect()),
    }
}

/// Queues that flows are hashed to, in both directions.
fn queues(hop: &schema::Path) -> u64 {
    let of = |queue: Option<&schema::Queue>| queue.map_or(0, queue::queues);
    let up = hop.up.as_ref().and_then(|up| up.queue.as_ref());
    of(hop.queue.as_ref()) + of(up.or(hop.queue.as_ref()))
}

/// The most bytes that a flow sends in one direction; requests and receipts are small.
fn data(flow: &FlowSpec, direction: usize) -> u128 {
    match &flow.workload {
        Workload::Download { bytes, .. } if direction == DOWN => u128::from(bytes.as_u64()),
        Workload::Upload { bytes, .. } if direction == UP => u128::from(bytes.as_u64()),
        Workload::Download { .. } | Workload::Upload { .. } => 0,
        Workload::Call(media) => (media.iter())
            .map(|stream| {
                let largest = stream.frame.max(stream.first_frame).as_u64();
                u128::from(stream.frames) * u128::from(largest)
            })
            .sum(),
        // Lengths have no bound, but hardly one is 100 times the 95th percentile.
        Workload::Requests(arrivals) => {
            u128::from(arrivals.count) * u128::from(arrivals.p95.as_u64()) * 100
        }
    }
}

/// Bytes that the queue of a link, and the way behind it, hold at most.
fn room(link: &LinkConfig) -> u128 {
    let mean = link.trace.as_ref().map(|trace| trace.mean_rate());
    let rates = link.changes.iter().filter_map(|change| change.rate);
    let rate = rates
        .chain(mean)
        .fold(link.rate, |most, rate| most.max(rate));
    let delays = link.changes.iter().filter_map(|change| change.delay);
    let delay = delays.fold(link.delay, Duration::max);
    let limits = link.changes.iter().filter_map(|change| change.limit);
    let queue = |limit: Limit| match limit {
        Limit::Unlimited => u128::MAX >> 1,
        Limit::Time(time) => u128::from(rate.bytes_in(time).as_u64()),
        Limit::Bytes(bytes) => u128::from(bytes.as_u64()),
        Limit::Packets(packets) => u128::from(packets) * 65_527,
    };
    let buffer = limits.map(queue).fold(queue(link.limit), u128::max);
    buffer + u128::from(rate.bytes_in(delay).as_u64())
}
