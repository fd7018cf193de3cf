//! Whether a scenario exceeds the limits of a trial, by its text and by its counts.

use super::link::loss;
use super::{Checker, queue};
use crate::scenario::error::ScenarioError;
use crate::scenario::limits::{
    ALL_STREAMS, CHANGES, CHANGES_IN_TRIAL, CONNECTIONS, COUNTERS, FLOWS, FRAMES, KEYS, LINKS,
    MEDIA, NOISE_INTERVALS, QUEUES, QUEUES_IN_TRIAL, SERIES, STREAMS, TEXT, TRAFFIC, UPDATES,
};
use crate::scenario::schema::{self, ScenarioFile};
use thalweg_units::Duration;

/// Limits of the text, checked before it is parsed.
pub(in crate::scenario) fn check_text(text: &str, origin: &str) -> Result<(), ScenarioError> {
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
            "has about {keys} keys, tables and list entries; accepted: at most {KEYS}"
        ));
    }
    Ok(())
}

impl Checker<'_> {
    /// Limits of all counts.
    pub(super) fn check_counts(&self, file: &ScenarioFile) -> Result<(), ScenarioError> {
        let at_most = |key: &str, count: usize, most: usize, what: &str| {
            if count > most {
                let problem = format!("{count} {what} are too many; accepted: at most {most}");
                return self.fail(key, problem);
            }
            Ok(())
        };
        at_most("link", file.link.len(), LINKS, "links")?;
        at_most("flow", file.flow.len(), FLOWS, "flows")?;
        at_most("traffic", file.traffic.len(), TRAFFIC, "sources of traffic")?;
        let (table, hops) = tables(file);
        let changes = hops.iter().map(|hop| hop.change.len()).sum();
        at_most(table, changes, CHANGES, "changes")?;
        let queues = hops.iter().map(|hop| queues(hop)).sum::<u64>();
        if queues > QUEUES {
            let problem = format!(
                "{queues} queues of fair queueing in total are too many; accepted: at most {QUEUES}"
            );
            return self.fail(&format!("{table}.queue"), problem);
        }
        // Links count the packets of sources as packets of connections.
        let mut connections = file.traffic.len() as u64;
        let (mut streams, mut frames) = (0_u64, 0.0);
        for (index, flow) in file.flow.iter().enumerate() {
            let key = |name: &str| format!("flow.{index}.{name}");
            let media = flow.media.len();
            at_most(&key("media"), media, MEDIA, "streams of media")?;
            let own = flow.requests.as_ref().map_or(1, connections_of);
            connections = own.saturating_add(connections);
            let crossings = connections.saturating_mul(2 * hops.len() as u64);
            if connections > CONNECTIONS || crossings > COUNTERS {
                let most = CONNECTIONS.min(COUNTERS / (2 * hops.len() as u64).max(1));
                let problem = format!(
                    "flows and requests so far make {connections} connections; accepted: at most {most} over {} links",
                    2 * hops.len()
                );
                return self.fail(&format!("flow.{index}"), problem);
            }
            let (own, what) = streams_of(flow);
            streams = own.saturating_add(streams);
            if streams > ALL_STREAMS {
                let problem = format!(
                    "{streams} streams, chunks and objects in the flows so far are too many; accepted: at most {ALL_STREAMS}"
                );
                return self.fail(&key(what), problem);
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
                    "{frames:.0} frames in the calls so far are too many; accepted: at most {FRAMES}"
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
            // Rounded up to a readable value.
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

    /// Repeated work of a hop.
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
            // A discipline that a change starts makes its queues anew.
            if hop
                .change
                .iter()
                .any(|change| change.queue.is_some() || change.up_queue.is_some())
            {
                too_often("repeat", repeat, queues(hop), QUEUES_IN_TRIAL)?;
            }
        }
        if let Some(noise) = &hop.noise {
            too_often("noise.every", noise.every, 1, NOISE_INTERVALS)?;
        }
        for (key, loss) in loss::all(hop) {
            let cycle = loss::cycle(loss).unwrap_or(Duration::MAX);
            let least = limit * 2 / CHANGES_IN_TRIAL; // two changes of its state
            if cycle < least {
                let problem = format!(
                    "good and bad, \"{cycle}\" together, are too short for a trial of \"{limit}\" (time_limit); accepted: at least \"{least}\""
                );
                return self.fail(&format!("{table}.{key}"), problem);
            }
        }
        for (key, queue) in queue::all(hop) {
            if let Some((name, every)) = queue::update(queue) {
                too_often(&format!("{key}.{name}"), every, 1, UPDATES)?;
            }
        }
        Ok(())
    }
}

/// Connections of a flow of requests.
fn connections_of(requests: &schema::Requests) -> u64 {
    let factors = [requests.users, requests.count, requests.parallel];
    factors
        .into_iter()
        .map(u64::from)
        .fold(1, u64::saturating_mul)
}

/// Streams of a flow, of which each chunk and object has one, and the key that says how many.
fn streams_of(flow: &schema::Flow) -> (u64, &'static str) {
    if let Some(requests) = flow.requests.as_ref().filter(|given| given.objects > 1) {
        let objects = connections_of(requests).saturating_mul(u64::from(requests.objects));
        return (objects, "requests.objects");
    }
    match (flow.download, flow.chunk) {
        (Some(bytes), Some(chunk)) => {
            let chunks = bytes.as_u64().div_ceil(chunk.as_u64().max(1));
            (chunks.min(u64::from(STREAMS)), "chunk") // no flow may have more
        }
        _ => (u64::from(flow.streams), "streams"),
    }
}

/// The key of the hops and the hops.
fn tables(file: &ScenarioFile) -> (&'static str, Vec<&schema::Path>) {
    match &file.path {
        Some(path) => ("path", vec![path]),
        None => ("link", file.link.iter().collect()),
    }
}

/// Queues that flows are hashed to, in both directions, the queues of changes included.
fn queues(hop: &schema::Path) -> u64 {
    let of = |queue: Option<&schema::Queue>| queue.map_or(0, queue::queues);
    let both =
        |queue: Option<&schema::Queue>, up: Option<&schema::Queue>| of(queue) + of(up.or(queue));
    let changes = hop.change.iter();
    let changed = changes.map(|change| both(change.queue.as_deref(), change.up_queue.as_deref()));
    let up = hop.up.as_ref().and_then(|up| up.queue.as_deref());
    both(hop.queue.as_deref(), up) + changed.sum::<u64>()
}
