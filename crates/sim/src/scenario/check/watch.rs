//! `[[pass]]` on states and variables of a controller, and on what it tells of the rate of the path.

use super::Checker;
use crate::outcome::told::Capacity;
use crate::scenario::criterion::watch::{Estimate, Extreme, Told, Watch, Watched};
use crate::scenario::error::ScenarioError;
use crate::scenario::flow::FlowSpec;
use crate::scenario::hop::{Direction, Hop};
use crate::scenario::schema::{Pass, ScenarioFile};
use crate::scenario::{Bound, Clock, Metric, Workload};
use thalweg_control::phase::STATES;
use thalweg_units::{Duration, Instant, did_you_mean};

impl Checker<'_> {
    /// What a criterion looks at in the controller of its flow, if it does.
    pub(super) fn watch(
        &self,
        index: usize,
        pass: &Pass,
        (flow, metric, bound): (usize, Metric, Bound),
        file: &ScenarioFile,
        (spec, hops): (&FlowSpec, &[Hop]),
    ) -> Result<Option<Watch>, ScenarioError> {
        let key = |name: &str| format!("pass.{index}.{name}");
        let name = metric.name();
        let given = [
            ("state", pass.state.is_some()),
            ("after", pass.after.is_some()),
            ("variable", pass.variable.is_some()),
            ("estimate", pass.estimate.is_some()),
            ("from", pass.from.is_some()),
            ("until", pass.until.is_some()),
        ];
        let taken: &[&str] = match metric {
            Metric::Entered | Metric::Entries => &["state", "after", "from", "until"],
            Metric::Stay => &["state", "from", "until"],
            Metric::Variable => &["state", "variable", "from", "until"],
            Metric::ToldRateError | Metric::TimeToNotice => &["estimate", "from", "until"],
            _ => &[],
        };
        let extra = given.iter().find(|(key, is)| *is && !taken.contains(key));
        if let Some((extra, _)) = extra {
            let problem = format!("cannot be combined with metric \"{name}\"");
            return self.fail(&key(extra), problem);
        }
        if taken.is_empty() {
            return Ok(None);
        }
        self.check_watched(&key("metric"), flow, file)?;
        for (word, state) in [("state", &pass.state), ("after", &pass.after)] {
            if let Some(state) = state {
                self.check_state(&key(word), state, flow, file)?;
            }
        }
        let missing = |word: &str, example: &str| {
            let problem = format!("is missing for \"{name}\"; accepted: {word} = \"{example}\"");
            self.fail(&key(word), problem)
        };
        let state = || pass.state.clone();
        let (after, from) = (pass.after.clone(), pass.from.unwrap_or_default());
        let what = match (metric, state(), &pass.variable) {
            (Metric::ToldRateError | Metric::TimeToNotice, ..) => {
                Watched::Told(self.told(index, pass, (metric, file.time_limit), (spec, hops))?)
            }
            (Metric::Variable, _, None) => return missing("variable", "max_bw"),
            (Metric::Variable, state, Some(name)) => Watched::Variable {
                name: name.clone(),
                state,
                extreme: match bound {
                    Bound::AtMost(_) => Extreme::Most,
                    Bound::AtLeast(_) => Extreme::Least,
                },
            },
            (_, None, _) => return missing("state", "Drain"),
            (Metric::Entered, Some(state), _) => Watched::Entered { state, after },
            (Metric::Entries, Some(state), _) => Watched::Entries { state, after },
            (_, Some(state), _) => Watched::Stay { state },
        };
        if let Some(until) = pass.until.filter(|until| *until <= from) {
            let problem =
                format!("\"{until}\" is not after from, \"{from}\"; accepted: a later time");
            return self.fail(&key("until"), problem);
        }
        Ok(Some(Watch {
            what,
            from,
            until: pass.until,
        }))
    }

    /// A state that no controller has would never be entered. Controllers from elsewhere have states of their own, and a
    /// file for one of them may be played with another in its place: only the controller of the file itself is checked.
    pub(super) fn check_state(
        &self,
        key: &str,
        state: &str,
        flow: usize,
        file: &ScenarioFile,
    ) -> Result<(), ScenarioError> {
        let known = STATES;
        let controller = file.flow[flow].controller.as_str();
        let name = controller.split(':').next().unwrap_or(controller);
        let is_replaced = self
            .controllers
            .iter()
            .any(|(name, _)| *name == *file.flow[flow].name);
        let is_ours = !is_replaced
            && !matches!(self.clock, Clock::Any)
            && (self.registry.entries().iter()).any(|entry| entry.name == name);
        if !is_ours || known.contains(&state) {
            return Ok(());
        }
        let hint = did_you_mean(state, known.iter().copied());
        let problem = format!(
            "no controller has a state \"{state}\"{hint}; accepted: {}",
            known.join(", ")
        );
        self.fail(key, problem)
    }

    /// The estimate that a criterion names, over a path whose capacity is known at each instant.
    pub(super) fn told(
        &self,
        index: usize,
        pass: &Pass,
        (metric, end): (Metric, Duration),
        (flow, hops): (&FlowSpec, &[Hop]),
    ) -> Result<Told, ScenarioError> {
        let key = |name: &str| format!("pass.{index}.{name}");
        let name = metric.name();
        let names = Estimate::ALL.map(Estimate::name);
        let Some(given) = pass.estimate.as_deref() else {
            let problem = format!("is missing for \"{name}\"; accepted: {}", names.join(", "));
            return self.fail(&key("estimate"), problem);
        };
        let Some(estimate) = Estimate::ALL.into_iter().find(|one| one.name() == given) else {
            let hint = did_you_mean(given, names);
            let problem = format!(
                "nothing tells a rate by \"{given}\"{hint}; accepted: {}",
                names.join(", ")
            );
            return self.fail(&key("estimate"), problem);
        };
        if matches!(&flow.workload, Workload::Requests(arrivals) if arrivals.connections() > 1) {
            let problem = format!("\"{name}\" requires a flow of one connection");
            return self.fail(&key("metric"), problem);
        }
        let on_route = || flow.route.iter().map(|hop| &hops[*hop]);
        let is_unknown = |hop: &Hop| {
            let mut links = hop.links.iter();
            hop.medium.is_some()
                || !hop.tied.is_empty()
                || links.any(|link| link.trace.is_some() || link.noise.is_some())
        };
        if let Some(hop) = on_route().find(|hop| is_unknown(hop)) {
            let problem = format!(
                "\"{name}\" requires links whose rates are known at each instant; \"{}\" has a trace, noise, a shared medium or a change that follows a state",
                hop.names.down
            );
            return self.fail(&key("metric"), problem);
        }
        if metric == Metric::ToldRateError {
            return Ok(Told::RateError(estimate));
        }
        let from = Instant::START + pass.from.unwrap_or_default();
        let until = pass.until.unwrap_or(end);
        let changes = |direction: Direction| {
            let capacity = Capacity::new(hops, &flow.route, direction);
            capacity.changes(from, Instant::START + until)
        };
        if !Direction::BOTH.into_iter().any(changes) {
            let problem = format!(
                "\"{name}\" requires a change of the rate of the path between from and until"
            );
            return self.fail(&key("metric"), problem);
        }
        Ok(Told::TimeToNotice(estimate))
    }
}
