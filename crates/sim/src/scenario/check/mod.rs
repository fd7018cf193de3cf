//! Checks of a scenario beyond the types of its keys: each refusal names file, line, key, value and the
//! accepted forms.

mod bound;
mod breaker;
pub(super) mod characters;
pub(super) mod counts;
mod criteria;
mod dead_end;
mod flow;
mod host;
mod link;
mod media;
mod names;
mod packets;
mod path;
mod queue;
mod requests;
mod supply;
mod tied;
mod traffic;
mod transport;
mod watch;
mod workload;

use super::clock::Clock;
use super::error::ScenarioError;
use super::schema::ScenarioFile;
use super::{Scenario, StartNoise};
use std::sync::Arc;
use thalweg_control::Registry;
use thalweg_random::{Tape, TapeError};
use thalweg_units::{Bytes, Duration, did_you_mean};

/// The server's flight still fits into three times the client's first datagram of 1252 bytes (RFC 9000 section 8.1):
/// 1252 + 511 + 1440 + 512 = 3715 of 3756.
const MOST_HANDSHAKE_NOISE: Bytes = Bytes::new(512);

/// A day: the seeds of all blocks of a link take 7 MB.
const LONGEST_TAPE: Duration = Duration::from_secs(86_400);

/// Checks what the types cannot express.
pub(crate) struct Checker<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: &'a str,
    pub(crate) clock: Clock,
    pub(crate) registry: &'a Registry,
    /// Flows and the controllers that `--controller` gives them.
    pub(crate) controllers: &'a [(String, String)],
}

impl Checker<'_> {
    pub(crate) fn fail<T>(
        &self,
        key: &str,
        problem: impl Into<String>,
    ) -> Result<T, ScenarioError> {
        Err(ScenarioError::at(self.text, self.origin, &[], key, problem))
    }

    /// The index of the flow that a key names.
    fn flow_named(
        &self,
        key: &str,
        name: &str,
        file: &ScenarioFile,
    ) -> Result<usize, ScenarioError> {
        let names = || file.flow.iter().map(|flow| &*flow.name);
        let Some(flow) = names().position(|known| known == name) else {
            let hint = did_you_mean(name, names());
            let accepted = names().collect::<Vec<_>>().join(", ");
            let problem = format!("there is no flow \"{name}\"{hint}; accepted: {accepted}");
            return self.fail(key, problem);
        };
        Ok(flow)
    }

    /// The scenario, if it passes all checks.
    pub(crate) fn check(
        &self,
        file: ScenarioFile,
        toml: String,
    ) -> Result<Scenario, ScenarioError> {
        if file.flow.is_empty() {
            return self.fail(
                "flow",
                "there is no flow; accepted: one or more [[flow]] tables",
            );
        }
        if file.time_limit.is_zero() {
            return self.fail("time_limit", "\"0 s\" leaves no time; accepted: \"600 s\"");
        }
        let overhead = u32::try_from(file.overhead.as_u64())
            .ok()
            .filter(|bytes| *bytes <= 1000);
        let Some(overhead) = overhead else {
            let problem = format!(
                "\"{}\" is too large; accepted: \"0 B\" to \"1000 B\"",
                file.overhead
            );
            return self.fail("overhead", problem);
        };
        self.check_counts(&file)?;
        self.check_names(&file)?;
        let hops = self.hops(&file, overhead)?;
        let mut flows = Vec::new();
        for (index, flow) in file.flow.iter().enumerate() {
            flows.push(self.flow(index, flow, &file)?);
        }
        let traffic = self.sources(&file)?;
        let tunnels = self.tunnels(&file, &flows)?;
        self.check_packets(&file, (&flows, &traffic), &hops)?;
        self.check_bundles(&file, &flows, &hops, overhead)?;
        for (index, flow) in flows.iter().enumerate() {
            self.check_can_finish(index, flow, &file, &hops)?;
        }
        let criteria = self.criteria(&flows, &hops, &file, overhead)?;
        self.check_time_limit(file.time_limit, &flows, &criteria)?;
        let start_noise = self.start_noise(&file)?;
        let tape = self.tape(&file)?;
        Ok(Scenario {
            title: file.title,
            source: file.source,
            note: file.note,
            flows,
            criteria,
            overhead,
            time_limit: file.time_limit,
            start_noise,
            jitter_seed: file.noise.jitter_seed,
            tape,
            sample: file.sample,
            hops,
            traffic,
            tunnels,
            toml,
        })
    }

    fn tape(&self, file: &ScenarioFile) -> Result<Option<Arc<Tape>>, ScenarioError> {
        let Some(text) = &file.noise.tape else {
            return Ok(None);
        };
        if file.time_limit > LONGEST_TAPE {
            let problem = format!(
                "a tape ends after \"{LONGEST_TAPE}\", and the time_limit is \"{}\"",
                file.time_limit
            );
            return self.fail("noise.tape", problem);
        }
        match text.parse() {
            Ok(tape) => Ok(Some(Arc::new(tape))),
            Err(error) => {
                let error: TapeError = error;
                self.fail("noise.tape", error.to_string())
            }
        }
    }

    fn start_noise(&self, file: &ScenarioFile) -> Result<StartNoise, ScenarioError> {
        let noise = &file.noise;
        if noise.phase >= file.time_limit {
            let problem = format!(
                "\"{}\" leaves no time for trials that start so late; accepted: less than the time_limit, \"{}\"",
                noise.phase, file.time_limit
            );
            return self.fail("noise.phase", problem);
        }
        if noise.handshake > MOST_HANDSHAKE_NOISE {
            let problem = format!(
                "\"{}\" is more than handshakes differ by; accepted: at most \"{MOST_HANDSHAKE_NOISE}\"",
                noise.handshake
            );
            return self.fail("noise.handshake", problem);
        }
        Ok(StartNoise {
            flow: noise.start,
            phase: noise.phase,
            handshake: noise.handshake,
        })
    }
}
