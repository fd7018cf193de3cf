//! `[[pass]]`, and whether the time limit lets criteria be met.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::Hop;
use crate::scenario::{Criterion, FlowSpec, Metric, Workload, floor, schema};
use thalweg_units::Duration;

impl Checker<'_> {
    /// A trial that ends too early answers no question about the times of a flow.
    pub(super) fn check_time_limit(
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

    pub(super) fn criteria(
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
