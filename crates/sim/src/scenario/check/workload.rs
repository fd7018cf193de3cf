//! The workload of a `[[flow]]`: a download, an upload, requests or a call.

use super::Checker;
use crate::scenario::Workload;
use crate::scenario::error::ScenarioError;
use crate::scenario::media::{MediaSpec, standard_call};
use crate::scenario::schema::{self, Carriage};
use thalweg_transport::Role;
use thalweg_units::Duration;

impl Checker<'_> {
    pub(super) fn workload(
        &self,
        index: usize,
        flow: &schema::Flow,
    ) -> Result<Workload, ScenarioError> {
        let key = |name: &str| format!("flow.{index}.{name}");
        self.check_no_supply(index, flow)?;
        let is_call = flow.call.is_some() || !flow.media.is_empty();
        let (request, streams) = (flow.request, flow.streams);
        match (flow.download, flow.upload, is_call, &flow.requests) {
            (Some(bytes), None, false, None) => Ok(Workload::Download {
                bytes,
                request,
                streams,
                supply: self.supply(index, flow, bytes)?,
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
                let problem = "a flow has one workload; download, upload, requests and call (or media) cannot be combined";
                self.fail(&key(second), problem)
            }
        }
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
        for (position, media) in flow.media.iter().enumerate() {
            let key = |name: &str| format!("flow.{index}.media.{position}.{name}");
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
            let carriage = media.carriage;
            let size = self.frame_size(index, position, media)?;
            self.pauses(index, position, media)?;
            let repair = self.repair(index, position, media, flow)?;
            specs.push(MediaSpec {
                name: media.name.to_string(),
                carriage,
                from: match media.from {
                    schema::From::Server => Role::Server,
                    schema::From::Client => Role::Client,
                },
                per_second: media.per_second,
                frames,
                group: if carriage == Carriage::Datagrams {
                    frames
                } else {
                    group
                },
                size,
                pauses: media.pauses.clone(),
                priority: media.priority,
                skip_after: media.skip_after,
                repair,
                deadline: media.deadline,
                measure_from: media.measure_from,
            });
        }
        Ok(Workload::Call(specs))
    }
}
