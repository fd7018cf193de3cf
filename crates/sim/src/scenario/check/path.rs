//! Hops: what `[path]` or a `[[link]]` describes, a pair of links that carry opposite directions.
//!
//! A flow names the hops of its route from server to client; the other direction crosses them in reverse.
//! `[path]` is the short form: a single hop that all flows cross.

use super::Checker;
use crate::scenario::clock::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::hop::{Hop, PerDirection};
use crate::scenario::schema::{self, ScenarioFile};
use thalweg_transport::TransportConfig;
use thalweg_units::{Bytes, did_you_mean};

impl Checker<'_> {
    /// The hops of a scenario, in the order of the file.
    pub(super) fn hops(
        &self,
        file: &ScenarioFile,
        overhead: u32,
    ) -> Result<Vec<Hop>, ScenarioError> {
        // The first packet of each side has this size, whatever it carries (RFC 9000 section 14.1).
        let mtu = TransportConfig::default().initial_mtu;
        let packet = file.transport.initial_mtu.unwrap_or(mtu) + Bytes::new(u64::from(overhead));
        if let Some(path) = &file.path {
            if !file.link.is_empty() {
                let problem = "[[link]] cannot be combined with [path]; use [path] for one hop, or [[link]] tables and a route for each flow";
                return self.fail("link", problem);
            }
            if path.name.is_some() {
                return self.fail(
                    "path.name",
                    "a name requires a [[link]] table; the hop of [path] has none",
                );
            }
            let names = PerDirection {
                down: "down".to_owned(),
                up: "up".to_owned(),
            };
            let links = self.links("path", path, packet)?;
            let tied = self.tied("path", path, file, packet)?;
            let medium = self.medium("path", path)?;
            self.cake("path", path, file)?;
            return Ok(vec![Hop {
                names,
                links,
                splits: self.splits("path", path)?,
                medium,
                tied,
            }]);
        }
        if file.link.is_empty() {
            let problem =
                "there is no path; accepted: a [path] table, or one or more [[link]] tables";
            return self.fail("path", problem);
        }
        let mut hops = Vec::new();
        for (index, link) in file.link.iter().enumerate() {
            let key = format!("link.{index}");
            let Some(name) = link.name.as_deref() else {
                return self.fail(
                    &format!("{key}.name"),
                    "is missing; accepted: name = \"bottleneck\"",
                );
            };
            let names = PerDirection {
                down: name.to_owned(),
                up: format!("{name} up"),
            };
            let links = self.links(&key, link, packet)?;
            let tied = self.tied(&key, link, file, packet)?;
            let medium = self.medium(&key, link)?;
            self.cake(&key, link, file)?;
            hops.push(Hop {
                names,
                links,
                splits: self.splits(&key, link)?,
                medium,
                tied,
            });
        }
        Ok(hops)
    }

    /// Whether the queues of the hop whose key in the file is `table` split bundles.
    fn splits(&self, table: &str, path: &schema::Path) -> Result<bool, ScenarioError> {
        if path.splits == Some(false) && !matches!(self.clock, Clock::Virtual) {
            let problem =
                "false cannot be combined with real time, where each packet is one; accepted: true";
            return self.fail(&format!("{table}.splits"), problem);
        }
        Ok(path.splits.unwrap_or(true))
    }

    /// Indices of the hops that a flow takes, from server to client.
    pub(super) fn route(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<Vec<usize>, ScenarioError> {
        self.route_of(
            &format!("flow.{index}"),
            &flow.name,
            flow.route.as_deref(),
            file,
        )
    }

    /// The same for what is described by `table`: a flow or a source of traffic.
    pub(super) fn route_of(
        &self,
        table: &str,
        name: &str,
        route: Option<&[String]>,
        file: &ScenarioFile,
    ) -> Result<Vec<usize>, ScenarioError> {
        let key = format!("{table}.route");
        let names: Vec<&str> = (file.link.iter())
            .filter_map(|link| link.name.as_deref())
            .collect();
        let accepted = names.join(", ");
        if file.path.is_some() {
            if route.is_some() {
                let problem = "a route requires [[link]] tables; [path] has a single hop, which all flows and traffic take";
                return self.fail(&key, problem);
            }
            return Ok(vec![0]);
        }
        let Some(route) = route else {
            if names.len() == 1 {
                return Ok(vec![0]);
            }
            let what = table.split('.').next().unwrap_or(table);
            let problem = format!(
                "is missing for {what} \"{name}\"; accepted: a list of {accepted}, from server to client"
            );
            return self.fail(&key, problem);
        };
        if route.is_empty() {
            let problem = format!("the route is empty; accepted: one or more of {accepted}");
            return self.fail(&key, problem);
        }
        let mut hops = Vec::new();
        for name in route {
            let Some(hop) = names.iter().position(|known| known == name) else {
                let hint = did_you_mean(name, names.iter().copied());
                let problem = format!("there is no link \"{name}\"{hint}; accepted: {accepted}");
                return self.fail(&key, problem);
            };
            if hops.contains(&hop) {
                let problem = format!("\"{name}\" is repeated; a route has each link once");
                return self.fail(&key, problem);
            }
            hops.push(hop);
        }
        Ok(hops)
    }
}
