//! `[[pass]]`, and whether criteria can be met within the time limit.

use super::Checker;
use super::bound::PathAtStart;
use crate::outcome::sharing::BIN;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::guesses;
use crate::scenario::hop::{Direction, Hop, LinkId};
use crate::scenario::library::FlowStack;
use crate::scenario::media::{MediaSpec, ProbeSpec};
use crate::scenario::{Amount, Bound, Criterion, FlowSpec, Metric, Workload, floor, schema};
use thalweg_transport::LimitedBy;
use thalweg_units::{Duration, did_you_mean};

impl Checker<'_> {
    /// A trial that ends too early cannot measure the times of a flow.
    pub(super) fn check_time_limit(
        &self,
        limit: Duration,
        flows: &[FlowSpec],
        criteria: &[Criterion],
    ) -> Result<(), ScenarioError> {
        let of_times = |criterion: &Criterion| criterion.metric.is_end();
        for (index, criterion) in criteria.iter().enumerate().filter(|(_, c)| of_times(c)) {
            if let Some(floor) = criterion.floor.filter(|floor| *floor > limit) {
                let name = &flows[criterion.flow].name;
                let enough = Duration::from_secs(floor.as_millis() / 1000 + 1);
                return self.fail("time_limit", format!("\"{limit}\" is too short for flow \"{name}\" to finish on this path; accepted: at least \"{enough}\""));
            }
            let (key, amount) = match criterion.bound {
                Bound::AtMost(amount) => ("at_most", amount),
                Bound::AtLeast(amount) => ("at_least", amount),
            };
            if let Amount::Time(time) = amount
                && time > limit
            {
                return self.fail(&format!("pass.{index}.{key}"), format!("\"{time}\" is beyond the end of the trial; accepted: at most the time_limit, \"{limit}\""));
            }
        }
        Ok(())
    }

    pub(super) fn criteria(
        &self,
        flows: &[FlowSpec],
        hops: &[Hop],
        file: &schema::ScenarioFile,
        overhead: u32,
    ) -> Result<Vec<Criterion>, ScenarioError> {
        let mut criteria = Vec::new();
        for (index, pass) in file.pass.iter().enumerate() {
            let key = |name: &str| format!("pass.{index}.{name}");
            let flow = self.flow_named(&key("flow"), &pass.flow, file)?;
            let Some(metric) = Metric::from_name(&pass.metric) else {
                let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
                let hint = guesses::hint(&pass.metric, names.iter().copied());
                let names = names.join(", ");
                let problem = format!(
                    "unknown metric \"{}\"{hint}; accepted: {names}",
                    pass.metric
                );
                return self.fail(&key("metric"), problem);
            };
            if metric.is_of_several() && flows.len() == 1 {
                let name = metric.name();
                let problem =
                    format!("metric \"{name}\" needs at least two flows; this scenario has one");
                return self.fail(&key("metric"), problem);
            }
            let is_broken = |flow: &FlowSpec| {
                let mut tunnels = file.tunnel.iter().map(|tunnel| Some(&*tunnel.name));
                flow.breaker.is_some()
                    || flow.tunnel.is_some() && tunnels.any(|name| name == flow.tunnel.as_deref())
            };
            if metric == Metric::Trips && !is_broken(&flows[flow]) {
                let problem =
                    "metric \"trips\" requires a circuit_breaker in this flow or its tunnel";
                return self.fail(&key("metric"), problem);
            }
            if metric == Metric::ProbeBytes && flows[flow].probe.is_none() {
                let problem = "metric \"probe-bytes\" requires a probe of this flow";
                return self.fail(&key("metric"), problem);
            }
            let by = self.limited_by(index, pass, metric, &flows[flow])?;
            let link = self.link_of(index, pass, metric, (&flows[flow], hops))?;
            self.check_bins(index, metric, file.sample)?;
            self.check_stream(index, pass, metric, &flows[flow])?;
            let bound = self.bound(index, pass, metric, &PathAtStart::of(&flows[flow], hops))?;
            let watch = self.watch(
                index,
                pass,
                (flow, metric, bound),
                file,
                (&flows[flow], hops),
            )?;
            if pass.within.is_zero() {
                let problem = "\"0 %\": must be above 0 %; accepted: \"95 %\", up to \"100 %\"";
                return self.fail(&key("in"), problem);
            }
            let floor = match bound {
                Bound::AtMost(_) => floor::of(hops, &flows[flow], overhead, metric),
                Bound::AtLeast(_) => None,
            };
            criteria.push(Criterion {
                flow,
                metric,
                stream: pass.stream.clone(),
                link,
                watch,
                by,
                bound,
                within: pass.within,
                source: pass.source.clone(),
                informative: pass.informative,
                floor,
            });
        }
        Ok(criteria)
    }

    /// What a criterion on limits names. Only the modelled endpoint tells what limits it.
    fn limited_by(
        &self,
        index: usize,
        pass: &schema::Pass,
        metric: Metric,
        flow: &FlowSpec,
    ) -> Result<Option<LimitedBy>, ScenarioError> {
        let key = format!("pass.{index}.by");
        let names = LimitedBy::ALL.map(LimitedBy::name);
        match (metric, pass.by.as_deref()) {
            (Metric::Limited, None) => {
                let problem = format!("is missing for \"limited\"; accepted: {}", names.join(", "));
                self.fail(&key, problem)
            }
            (Metric::Limited, Some(name)) => match LimitedBy::from_name(name) {
                None => {
                    let hint = did_you_mean(name, names);
                    let problem = format!(
                        "nothing is limited by \"{name}\"{hint}; accepted: {}",
                        names.join(", ")
                    );
                    self.fail(&key, problem)
                }
                Some(_) if !matches!(flow.stack, FlowStack::Model) => {
                    let problem = "\"limited\" requires the modelled endpoint; a real stack does not say what limits it";
                    self.fail(&format!("pass.{index}.metric"), problem)
                }
                by => Ok(by),
            },
            (_, None) => Ok(None),
            (_, Some(_)) => {
                let problem = format!("cannot be combined with metric \"{}\"", metric.name());
                self.fail(&key, problem)
            }
        }
    }

    /// The link that a criterion on links names, of those that its flow crosses.
    fn link_of(
        &self,
        index: usize,
        pass: &schema::Pass,
        metric: Metric,
        (flow, hops): (&FlowSpec, &[Hop]),
    ) -> Result<Option<(LinkId, String)>, ScenarioError> {
        let key = format!("pass.{index}.link");
        let name = metric.name();
        if metric.is_of_link() && matches!(self.clock, Clock::Real(_)) {
            let problem = format!("\"{name}\" requires virtual time");
            return self.fail(&format!("pass.{index}.metric"), problem);
        }
        let of_hop = |hop: &usize| Direction::BOTH.map(|way| LinkId::new(*hop, way));
        let crossed = flow.route.iter().flat_map(of_hop);
        let named = |link: LinkId| hops[link.hop()].names[link.direction()].as_str();
        let is_known =
            |link: &LinkId| !metric.is_of_contention() || hops[link.hop()].has_contention();
        let (known, others): (Vec<_>, Vec<_>) = crossed.partition(is_known);
        let accepted = || match known.as_slice() {
            [] => "a link with medium = \"wifi\"".to_owned(),
            links => links
                .iter()
                .map(|link| format!("\"{}\"", named(*link)))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let problem = match pass.link.as_deref() {
            None if !metric.is_of_link() => return Ok(None),
            None => format!("is missing for \"{name}\"; accepted: {}", accepted()),
            Some(_) if !metric.is_of_link() => format!("cannot be combined with metric \"{name}\""),
            Some(given) => {
                if let Some(link) = known.iter().find(|link| named(**link) == given) {
                    return Ok(Some((*link, given.to_owned())));
                }
                let accepted = accepted();
                if others.iter().any(|link| named(*link) == given) {
                    format!(
                        "\"{name}\" requires a medium for which stations contend; \"{given}\" has none; accepted: {accepted}"
                    )
                } else {
                    let hint = did_you_mean(given, known.iter().map(|link| named(*link)));
                    format!(
                        "flow \"{}\" does not cross a link \"{given}\"{hint}; accepted: {accepted}",
                        pass.flow
                    )
                }
            }
        };
        self.fail(&key, problem)
    }

    /// Metrics over time are in bins, which the bins of the series must divide.
    fn check_bins(
        &self,
        index: usize,
        metric: Metric,
        sample: Option<Duration>,
    ) -> Result<(), ScenarioError> {
        let divides = |every: Duration| BIN.as_nanos().is_multiple_of(every.as_nanos());
        match sample.filter(|every| metric.is_over_time() && !divides(*every)) {
            None => Ok(()),
            Some(every) => {
                let problem = format!(
                    "\"{}\" is measured in bins of {BIN}, which sample = \"{every}\" does not divide; accepted: sample = \"10 ms\", \"20 ms\", \"50 ms\" or \"100 ms\", or none",
                    metric.name()
                );
                self.fail(&format!("pass.{index}.metric"), problem)
            }
        }
    }

    /// Delays are of a stream of media that is measured, and nothing else is.
    fn check_stream(
        &self,
        index: usize,
        pass: &schema::Pass,
        metric: Metric,
        flow: &FlowSpec,
    ) -> Result<(), ScenarioError> {
        let key = |name: &str| format!("pass.{index}.{name}");
        let specs: &[MediaSpec] = match &flow.workload {
            Workload::Call(specs) => specs,
            _ => &[],
        };
        let media: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let accepted = match media.is_empty() {
            true => {
                "call = \"5 s\" or [[flow.media]] in this flow, or a metric of a flow".to_owned()
            }
            false => media.join(", "),
        };
        match pass.stream.as_deref() {
            None if metric.is_of_media() => {
                let problem = format!("is missing for \"{}\"; accepted: {accepted}", pass.metric);
                return self.fail(&key("stream"), problem);
            }
            Some(name) if !metric.is_of_media() => {
                let problem = format!(
                    "\"{name}\" cannot be combined with metric \"{}\", which measures the whole flow",
                    pass.metric
                );
                return self.fail(&key("stream"), problem);
            }
            Some(name) if !media.contains(&name) => {
                let problem = format!(
                    "flow \"{}\" has no stream \"{name}\"{}; accepted: {accepted}",
                    pass.flow,
                    did_you_mean(name, media)
                );
                return self.fail(&key("stream"), problem);
            }
            _ => {}
        }
        let counts = |spec: &&MediaSpec| spec.skip_after.is_none() && spec.is_measured();
        if metric.is_of_call() && specs.iter().find(counts).is_none() {
            let problem = format!(
                "\"{}\" requires a measured stream without skip_after; flow \"{}\" has none",
                pass.metric, pass.flow
            );
            return self.fail(&key("metric"), problem);
        }
        let stream = specs
            .iter()
            .find(|spec| pass.stream.as_ref() == Some(&spec.name));
        let is_probed_with = |spec: &&MediaSpec| {
            let probe = flow.probe.as_ref();
            spec.carriage == schema::Carriage::Datagrams && probe.is_some_and(ProbeSpec::is_coded)
        };
        let lacks_repair = |spec: &&MediaSpec| !spec.repair.is_any() && !is_probed_with(spec);
        if let Some(spec) = stream
            .filter(|_| metric.is_of_repair())
            .filter(lacks_repair)
        {
            let problem = format!(
                "\"{}\" requires a stream with repair; \"{}\" has none",
                metric.name(),
                spec.name
            );
            return self.fail(&key("metric"), problem);
        }
        if let Some(spec) = stream.filter(|spec| metric.is_of_encoder() && spec.encoder().is_none())
        {
            let problem = format!(
                "\"{}\" requires a stream with rate; the frames of \"{}\" have fixed sizes",
                pass.metric, spec.name
            );
            return self.fail(&key("metric"), problem);
        }
        if let Some(spec) = stream.filter(|spec| !metric.counts_from_start() && !spec.is_measured())
        {
            let problem = format!(
                "\"{}\" ends before measure_from, \"{}\", so no frame counts; use an earlier measure_from, or a delay from-start",
                spec.name, spec.measure_from
            );
            return self.fail(&key("metric"), problem);
        }
        Ok(())
    }
}
