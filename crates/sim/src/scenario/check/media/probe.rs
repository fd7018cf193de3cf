//! `probe` of a `[[flow]]`: what the senders of a call send to learn the capacity of their path.

use crate::scenario::Workload;
use crate::scenario::check::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::media::{By, ProbeSpec};
use crate::scenario::schema::{self, Carriage};
use thalweg_transport::Role;
use thalweg_units::{Fraction, Rate};

const TARGETS: (Rate, Rate) = (
    Rate::from_bits_per_sec(1_000),
    Rate::from_bits_per_sec(1_000_000_000),
);

impl Checker<'_> {
    pub(in crate::scenario::check) fn probe(
        &self,
        index: usize,
        flow: &schema::Flow,
        workload: &Workload,
    ) -> Result<Option<ProbeSpec>, ScenarioError> {
        let Some(probe) = &flow.probe else {
            return Ok(None);
        };
        let key = |name: &str| format!("flow.{index}.probe{name}");
        let Workload::Call(media) = workload else {
            let problem =
                "requires a call: any other sender sends what its controller allows, or nothing";
            return self.fail(&key(""), problem);
        };
        let lacks = "the QUIC stack does not tell when it has nothing to send";
        self.requires_model(&key(""), flow, lacks)?;
        if !(TARGETS.0..=TARGETS.1).contains(&probe.target) {
            let problem = format!(
                "\"{}\" is out of range; accepted: \"{}\" to \"{}\"",
                probe.target, TARGETS.0, TARGETS.1
            );
            return self.fail(&key(".target"), problem);
        }
        if probe.budget == Fraction::ONE {
            let problem = "\"100 %\" leaves nothing for media; accepted: less, such as \"20 %\"";
            return self.fail(&key(".budget"), problem);
        }
        let lacks = |role: &Role| {
            let mut mine = media.iter().filter(|stream| stream.from == *role);
            !mine.any(|stream| stream.carriage == Carriage::Datagrams)
        };
        if probe.by == By::Redundancy
            && let Some(role) = workload.senders().find(|role| lacks(role))
        {
            let end = match role {
                Role::Client => "client",
                Role::Server => "server",
            };
            let problem = format!(
                "\"redundancy\" requires a stream with carriage = \"datagrams\" of each end that sends; the {end} has none; accepted: \"padding\""
            );
            return self.fail(&key(".by"), problem);
        }
        if probe.by == By::Redundancy {
            let mut streams = flow.media.iter();
            streams.try_for_each(|stream| match stream.carriage {
                Carriage::Datagrams => self.check_code(&key(".by"), stream),
                Carriage::Streams => Ok(()),
            })?;
        }
        Ok(Some(ProbeSpec {
            target: probe.target,
            budget: probe.budget,
            by: probe.by,
        }))
    }
}
