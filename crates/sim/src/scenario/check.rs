//! Checks of a scenario beyond the types of its keys: each refusal names file, line, key, value and the
//! accepted forms.

use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::floor;
use crate::scenario::hop::Hop;
use crate::scenario::limits::{REAL_STREAMS, STREAMS};
use crate::scenario::schema::{self, ScenarioFile};
use crate::scenario::{Criterion, FlowSpec, Metric, Scenario, Workload, column_name};
use crate::trial::connection::Side;
use crate::trial::media::{Carriage, MediaSpec, standard_call};
use crate::trial::requests::Arrivals;
use std::collections::BTreeSet;
use thalweg_transport::{Rules, TransportConfig};
use thalweg_units::{Bytes, Duration};

/// Checks what the types cannot say.
pub(crate) struct Checker<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: &'a str,
    pub(crate) clock: Clock,
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

    /// The scenario, if nothing speaks against it.
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
                "\"{}\" is too much; accepted: \"0 B\" to \"1000 B\"",
                file.overhead
            );
            return self.fail("overhead", problem);
        };
        self.check_counts(&file)?;
        let hops = self.hops(&file, overhead)?;
        let mut flows = Vec::new();
        let mut names = BTreeSet::new();
        for (index, flow) in file.flow.iter().enumerate() {
            if !names.insert(flow.name.as_str()) {
                let problem = format!("\"{}\" names two flows; accepted: unique names", flow.name);
                return self.fail(&format!("flow.{index}.name"), problem);
            }
            flows.push(self.flow(index, flow, &file)?);
        }
        self.check_packets(&file, &flows, &hops)?;
        for (index, flow) in flows.iter().enumerate() {
            self.check_can_finish(index, flow, &file, &hops)?;
        }
        let criteria = self.criteria(&file.pass, &flows, &hops, overhead)?;
        self.check_time_limit(file.time_limit, &flows, &criteria)?;
        Ok(Scenario {
            title: file.title,
            source: file.source,
            note: file.note,
            flows,
            criteria,
            overhead,
            time_limit: file.time_limit,
            start_noise: file.noise.start,
            jitter_seed: file.noise.jitter_seed,
            sample: file.sample,
            hops,
            toml,
        })
    }

    fn flow(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<FlowSpec, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        if flow.name.is_empty() {
            return self.fail(
                &key("name"),
                "\"\" is not a name; accepted: a text such as \"main\"",
            );
        }
        let controller = self.controller(index, flow, file)?;
        let most = match flow.stack {
            schema::Stack::Model => STREAMS,
            schema::Stack::Quic => REAL_STREAMS,
        };
        if flow.streams == 0 || flow.streams > most {
            return self.fail(
                &key("streams"),
                format!("{} is out of range; accepted: 1 to {most}", flow.streams),
            );
        }
        let workload = self.workload(index, flow)?;
        let transport = self.transport(flow, file)?;
        if flow.stack == schema::Stack::Quic && !thalweg_quic::is_available() {
            let problem = "\"quic\" cannot make a key, since the system gives no random numbers; accepted: \"model\"";
            return self.fail(&key("stack"), problem);
        }
        if flow.stack == schema::Stack::Quic && flow.zero_rtt {
            let problem = "true needs the modelled endpoint; accepted: stack = \"model\", or false";
            return self.fail(&key("zero_rtt"), problem);
        }
        let spec = FlowSpec {
            name: flow.name.clone(),
            controller,
            stack: flow.stack,
            start: flow.start,
            background: flow.background,
            route: self.route(index, flow, file)?,
            workload,
            transport,
        };
        self.check_carried(index, &spec)?;
        Ok(spec)
    }

    fn workload(&self, index: usize, flow: &schema::Flow) -> Result<Workload, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        let is_call = flow.call.is_some() || !flow.media.is_empty();
        let (request, streams) = (flow.request, flow.streams);
        match (flow.download, flow.upload, is_call, &flow.requests) {
            (Some(bytes), None, false, None) => Ok(Workload::Download {
                bytes,
                request,
                streams,
            }),
            (None, Some(bytes), false, None) => Ok(Workload::Upload { bytes, streams }),
            (None, None, true, None) => self.call(index, flow),
            (None, None, false, Some(requests)) => self.requests(index, requests, request),
            (None, None, false, None) => {
                let accepted = "download = \"10 MB\", upload = \"10 MB\", call = \"5 s\", requests = { ... } or [[flow.media]]";
                let problem = format!(
                    "flow \"{}\" has no workload; accepted: {accepted}",
                    flow.name
                );
                self.fail(&format!("flow.{index}"), problem)
            }
            _ => {
                let second = match (flow.requests.is_some(), is_call) {
                    (true, _) => "requests",
                    (false, true) => "call",
                    (false, false) => "upload",
                };
                let problem = "a flow has one workload; accepted: one of download, upload, requests, call and media";
                self.fail(&key(second), problem)
            }
        }
    }

    fn requests(
        &self,
        index: usize,
        given: &schema::Requests,
        request: Bytes,
    ) -> Result<Workload, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.requests.{name}");
        if !(1..=100_000).contains(&given.count) {
            let problem = format!("{} is out of range; accepted: 1 to 100000", given.count);
            return self.fail(&key("count"), problem);
        }
        if given.p5.is_zero() {
            return self.fail(
                &key("p5"),
                "\"0 B\" is too small; accepted: \"1 B\" or more",
            );
        }
        if given.p95 < given.p5 {
            let problem = format!(
                "\"{}\" is below p5; accepted: at least \"{}\"",
                given.p95, given.p5
            );
            return self.fail(&key("p95"), problem);
        }
        Ok(Workload::Requests(Arrivals {
            count: given.count,
            mean_gap: given.mean_gap,
            gap: given.gap,
            p5: given.p5,
            p95: given.p95,
            request,
        }))
    }

    fn call(&self, index: usize, flow: &schema::Flow) -> Result<Workload, ScenarioError> {
        let mut specs: Vec<MediaSpec> = Vec::new();
        if let Some(duration) = flow.call {
            if !(Duration::from_millis(100)..=Duration::from_secs(3600)).contains(&duration) {
                let problem =
                    format!("\"{duration}\" is out of range; accepted: \"100 ms\" to \"1 h\"");
                return self.fail(&format!("flow.{index}.call"), problem);
            }
            specs = standard_call(duration, flow.measure_from);
        }
        for (place, media) in flow.media.iter().enumerate() {
            let key = |name: &str| format!("flow.{index}.media.{place}.{name}");
            if media.per_second == 0 || media.per_second > 10_000 {
                let problem = format!("{} is out of range; accepted: 1 to 10000", media.per_second);
                return self.fail(&key("per_second"), problem);
            }
            let frames = (media.duration.as_secs_f64() * f64::from(media.per_second)).ceil();
            if !(1.0..=10_000_000.0).contains(&frames) {
                let problem = format!(
                    "\"{}\" is out of range; accepted: one frame to ten million",
                    media.duration
                );
                return self.fail(&key("duration"), problem);
            }
            let frames = frames as u32;
            let group = media.group.unwrap_or(frames);
            if group == 0 {
                return self.fail(
                    &key("group"),
                    "a group of 0 frames is empty; accepted: 1 or more",
                );
            }
            let carriage = match media.carriage {
                schema::Carriage::Streams => Carriage::Streams,
                schema::Carriage::Datagrams => Carriage::Datagrams,
            };
            let first_frame = media.first_frame.unwrap_or(media.frame);
            let largest = if carriage == Carriage::Datagrams {
                1150
            } else {
                100_000_000
            };
            if media.frame.is_zero()
                || media.frame.max(first_frame).as_u64() > largest
                || first_frame.is_zero()
            {
                let problem = format!(
                    "\"{}\" is out of range; accepted: \"1 B\" to \"{} B\"",
                    media.frame, largest
                );
                return self.fail(&key("frame"), problem);
            }
            if specs
                .iter()
                .any(|other| column_name(&other.name) == column_name(&media.name))
            {
                let problem = format!(
                    "\"{}\" names two streams of media; accepted: unique names",
                    media.name
                );
                return self.fail(&key("name"), problem);
            }
            specs.push(MediaSpec {
                name: media.name.clone(),
                carriage,
                from: match media.from {
                    schema::From::Server => Side::Server,
                    schema::From::Client => Side::Client,
                },
                per_second: media.per_second,
                frames,
                group: if carriage == Carriage::Datagrams {
                    frames
                } else {
                    group
                },
                first_frame,
                frame: media.frame,
                priority: media.priority,
                skip_after: media.skip_after,
                deadline: media.deadline,
                measure_from: media.measure_from,
            });
        }
        Ok(Workload::Call(specs))
    }

    fn transport(
        &self,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<TransportConfig, ScenarioError> {
        let given = &file.transport;
        let rules = match given.rules {
            schema::Rules::Rfc => Rules::Rfc,
            schema::Rules::Picoquic => Rules::Picoquic,
        };
        let standard = TransportConfig::new(rules);
        let initial_mtu = given.initial_mtu.unwrap_or(standard.initial_mtu);
        let config = TransportConfig {
            rules,
            initial_window: given
                .initial_window
                .unwrap_or_else(|| rules.initial_window(initial_mtu)),
            initial_mtu,
            max_mtu: given
                .max_mtu
                .or(given.initial_mtu)
                .unwrap_or(standard.max_mtu),
            max_ack_delay: given.max_ack_delay.unwrap_or(standard.max_ack_delay),
            min_ack_delay: standard
                .min_ack_delay
                .min(given.max_ack_delay.unwrap_or(Duration::MAX)),
            ack_every: given.ack_every.unwrap_or(standard.ack_every),
            ack_frequency: given.ack_frequency.unwrap_or(standard.ack_frequency),
            initial_max_data: given.initial_max_data.unwrap_or(standard.initial_max_data),
            initial_max_stream_data: given
                .initial_max_stream_data
                .unwrap_or(standard.initial_max_stream_data),
            zero_rtt: flow.zero_rtt,
            seed: flow.seed.as_ref().map(|seed| (seed.window, seed.rtt)),
            wakeup_noise: file.noise.wakeup,
            // Bulk data is counted; only a call looks at what it has got so far.
            stream_progress: flow.call.is_some() || !flow.media.is_empty(),
        };
        for (key, bytes) in [
            ("initial_mtu", config.initial_mtu),
            ("max_mtu", config.max_mtu),
        ] {
            if !(1200..=65_527).contains(&bytes.as_u64()) {
                return self.fail(&format!("transport.{key}"), format!("\"{bytes}\" is not a size of a QUIC packet; accepted: \"1200 B\" to \"65527 B\""));
            }
        }
        if config.max_mtu < config.initial_mtu {
            return self.fail(
                "transport.max_mtu",
                format!(
                    "\"{}\" is below initial_mtu; accepted: at least \"{}\"",
                    config.max_mtu, config.initial_mtu
                ),
            );
        }
        if config.initial_window < config.max_mtu * 2 {
            return self.fail(
                "transport.initial_window",
                format!(
                    "\"{}\" is below two packets; accepted: at least \"{}\"",
                    config.initial_window,
                    config.max_mtu * 2
                ),
            );
        }
        for (key, bytes) in [
            ("initial_max_data", config.initial_max_data),
            ("initial_max_stream_data", config.initial_max_stream_data),
        ] {
            if bytes.as_u64() < 4096 {
                return self.fail(
                    &format!("transport.{key}"),
                    format!("\"{bytes}\" is too small; accepted: at least \"4096 B\""),
                );
            }
        }
        Ok(config)
    }

    /// A trial that ends too early answers no question about the times of a flow.
    fn check_time_limit(
        &self,
        limit: Duration,
        flows: &[FlowSpec],
        criteria: &[Criterion],
    ) -> Result<(), ScenarioError> {
        let of_times = |criterion: &Criterion| !criterion.metric.is_of_media();
        for (index, criterion) in criteria.iter().enumerate().filter(|(_, c)| of_times(c)) {
            if let Some(floor) = criterion.floor.filter(|floor| *floor > limit) {
                let name = &flows[criterion.flow].name;
                let enough = Duration::from_secs(floor.as_millis() / 1000 + 1);
                return self.fail("time_limit", format!("\"{limit}\" is too short for flow \"{name}\" to finish on this path; accepted: at least \"{enough}\""));
            }
            if criterion.at_most > limit {
                return self.fail(&format!("pass.{index}.at_most"), format!("\"{}\" is beyond the end of the trial; accepted: at most the time_limit, \"{limit}\"", criterion.at_most));
            }
        }
        Ok(())
    }

    fn criteria(
        &self,
        pass: &[schema::Pass],
        flows: &[FlowSpec],
        hops: &[Hop],
        overhead: u32,
    ) -> Result<Vec<Criterion>, ScenarioError> {
        let mut criteria = Vec::new();
        for (index, pass) in pass.iter().enumerate() {
            let key = |name: &str| format!("pass.{index}.{name}");
            let Some(flow) = flows.iter().position(|flow| flow.name == pass.flow) else {
                let names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
                return self.fail(
                    &key("flow"),
                    format!(
                        "there is no flow \"{}\"; accepted: {}",
                        pass.flow,
                        names.join(", ")
                    ),
                );
            };
            let Some(metric) = Metric::from_name(&pass.metric) else {
                let names = Metric::ALL.map(Metric::name).join(", ");
                let problem = format!("unknown metric \"{}\"; accepted: {names}", pass.metric);
                return self.fail(&key("metric"), problem);
            };
            let specs = match &flows[flow].workload {
                Workload::Call(specs) => specs.as_slice(),
                _ => &[],
            };
            let media: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            match pass.stream.as_deref() {
                None if metric.is_of_media() => {
                    let problem = format!(
                        "is missing for \"{}\"; accepted: {}",
                        pass.metric,
                        media.join(", ")
                    );
                    return self.fail(&key("stream"), problem);
                }
                Some(name) if !metric.is_of_media() || !media.contains(&name) => {
                    let problem = format!(
                        "flow \"{}\" has no \"{}\" of a stream \"{name}\"; accepted: {}",
                        pass.flow,
                        pass.metric,
                        media.join(", ")
                    );
                    return self.fail(&key("stream"), problem);
                }
                _ => {}
            }
            let stream = specs
                .iter()
                .find(|spec| pass.stream.as_ref() == Some(&spec.name));
            if let Some(spec) =
                stream.filter(|spec| !metric.counts_from_start() && !spec.is_measured())
            {
                let problem = format!(
                    "\"{}\" ends before measure_from, \"{}\": no frame counts; accepted: an earlier measure_from, or a delay from-start",
                    spec.name, spec.measure_from
                );
                return self.fail(&key("metric"), problem);
            }
            criteria.push(Criterion {
                flow,
                metric,
                stream: pass.stream.clone(),
                at_most: pass.at_most,
                source: pass.source.clone(),
                informative: pass.informative,
                floor: floor::of(hops, &flows[flow], overhead, metric),
            });
        }
        Ok(criteria)
    }
}
