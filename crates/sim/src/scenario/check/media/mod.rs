//! Sizes of frames and pauses of `[[flow.media]]`.

mod probe;

use super::Checker;
use crate::scenario::Clock;
use crate::scenario::error::ScenarioError;
use crate::scenario::flow::Workload;
use crate::scenario::media::{EncoderSpec, FrameSize, LONGEST_CODE, PART, RepairSpec};
use crate::scenario::schema::{self, Carriage};
use thalweg_transport::Role;
use thalweg_units::{Bytes, Duration, Rate};

/// A datagram that fits a packet of any path.
const DATAGRAM: Bytes = Bytes::new(1150);
/// Largest frame of a stream.
const FRAME: Bytes = Bytes::new(100_000_000);
/// Rates of encoders.
const RATES: (Rate, Rate) = (
    Rate::from_bits_per_sec(1_000),
    Rate::from_bits_per_sec(1_000_000_000),
);
const REACTION: Duration = Duration::from_secs(60);
/// Largest scale of deviations, and ratio of the first frame.
const VARIATION: f64 = 0.5;
const KEY_FRAME: f64 = 100.0;
/// Pauses of a stream.
const PAUSES: usize = 1_000;

impl Checker<'_> {
    /// What determines the sizes of the frames of a stream: one of `frame` and `rate`.
    pub(in crate::scenario::check) fn frame_size(
        &self,
        flow: usize,
        position: usize,
        media: &schema::Media,
    ) -> Result<FrameSize, ScenarioError> {
        let key = |name: &str| format!("flow.{flow}.media.{position}.{name}");
        match (media.frame, &media.rate) {
            (Some(frame), None) => {
                let first = media.first_frame.unwrap_or(frame);
                let largest = match media.carriage {
                    Carriage::Datagrams => DATAGRAM,
                    Carriage::Streams => FRAME,
                };
                if frame.is_zero() || frame.max(first) > largest || first.is_zero() {
                    let problem = format!(
                        "\"{frame}\" is out of range; accepted: \"1 B\" to \"{} B\"",
                        largest.as_u64()
                    );
                    return self.fail(&key("frame"), problem);
                }
                Ok(FrameSize::Fixed {
                    first,
                    other: frame,
                })
            }
            (None, Some(encoder)) if media.first_frame.is_none() => {
                let key = |name: &str| key(&format!("rate.{name}"));
                self.encoder(&key, encoder, media).map(FrameSize::Adaptive)
            }
            (None, Some(_)) => {
                let problem = "cannot be combined with rate; set key_frame in rate";
                self.fail(&key("first_frame"), problem)
            }
            (Some(_), Some(_)) => self.fail(&key("rate"), "frame and rate cannot be combined"),
            (None, None) => {
                let accepted =
                    "frame = \"4 kB\" or rate = { least = \"150 kbps\", most = \"1.5 Mbps\" }";
                let problem = format!(
                    "\"{}\" has no size of frames; accepted: {accepted}",
                    media.name
                );
                self.fail(&format!("flow.{flow}.media.{position}"), problem)
            }
        }
    }

    /// How lost datagrams of a stream are repaired.
    pub(in crate::scenario::check) fn repair(
        &self,
        index: usize,
        position: usize,
        media: &schema::Media,
        flow: &schema::Flow,
    ) -> Result<RepairSpec, ScenarioError> {
        let Some(repair) = &media.repair else {
            return Ok(RepairSpec::default());
        };
        let key = |name: &str| format!("flow.{index}.media.{position}.repair{name}");
        if media.carriage == Carriage::Streams {
            let problem =
                "requires carriage = \"datagrams\": what a stream loses is always sent again";
            return self.fail(&key(""), problem);
        }
        let lacks = "the QUIC stack does not tell which datagrams are lost, and puts several into one packet";
        self.requires_model(&key(""), flow, lacks)?;
        if !repair.fec.is_zero() {
            self.check_code(&key(""), media)?;
        }
        Ok(RepairSpec {
            retransmit: repair.retransmit,
            fec: repair.fec,
        })
    }

    /// Refuses a key that only the modelled endpoint knows in virtual time: what the other one lacks.
    fn requires_model(
        &self,
        key: &str,
        flow: &schema::Flow,
        lacks: &str,
    ) -> Result<(), ScenarioError> {
        if flow.stack != schema::Stack::Model || matches!(self.clock, Clock::Real(_)) {
            let problem = format!(
                "requires the modelled endpoint (stack = \"model\", virtual time): {lacks}"
            );
            return self.fail(key, problem);
        }
        Ok(())
    }

    /// Refuses a stream whose frames may be longer than the code that repairs them.
    fn check_code(&self, key: &str, media: &schema::Media) -> Result<(), ScenarioError> {
        let Some(encoder) = &media.rate else {
            return Ok(());
        };
        let mean = encoder.most.as_bits_per_sec() as f64 / 8.0 / f64::from(media.per_second);
        let packets = mean * encoder.key_frame / PART as f64;
        if packets > LONGEST_CODE as f64 {
            let problem = format!(
                "a frame may have {packets:.0} packets at \"{}\"; accepted: at most {LONGEST_CODE}, the longest code",
                encoder.most
            );
            return self.fail(key, problem);
        }
        Ok(())
    }

    /// Refuses a controller of real-time media with other limits than the limits of the encoders that follow it.
    pub(in crate::scenario::check) fn check_limits(
        &self,
        index: usize,
        flow: &schema::Flow,
        workload: &Workload,
    ) -> Result<(), ScenarioError> {
        let [least, most] = self.registry.given_rates(&flow.controller);
        for role in Role::BOTH {
            let target = flow.probe.as_ref().map(|probe| probe.target);
            let Some(media) = workload.media_rates(role, Bytes::ZERO, target) else {
                continue;
            };
            for ((name, given), theirs) in [(least, media.least), (most, media.most)] {
                let Some(given) = given.filter(|given| *given != theirs) else {
                    continue;
                };
                let sends = |one: &schema::Media| match one.from {
                    schema::From::Server => role == Role::Server,
                    schema::From::Client => role == Role::Client,
                };
                let mut streams = flow.media.iter();
                let encoder = streams.position(|one| one.rate.is_some() && sends(one));
                let coded = |one: &schema::Media| {
                    sends(one) && one.repair.as_ref().is_some_and(|one| !one.fec.is_zero())
                };
                let with = match flow.media.iter().any(coded) {
                    _ if Some(theirs) == target => ", the target of its probe",
                    true => " with its repair",
                    false => "",
                };
                let key = format!("flow.{index}.media.{}.rate", encoder.unwrap_or(0));
                let line = ScenarioError::at(self.text, self.origin, &[], &key, "").line;
                let line = line.map_or_else(String::new, |line| format!(" of line {line}"));
                let problem = format!(
                    "\"{}\" has {name} \"{given}\", and the media{line} has \"{theirs}\"{with}; accepted: no {name}, which leaves the limits to the encoders, or the same rate",
                    flow.controller
                );
                return self.fail_controller(index, flow, problem);
            }
        }
        Ok(())
    }

    fn encoder(
        &self,
        key: &dyn Fn(&str) -> String,
        encoder: &schema::Encoder,
        media: &schema::Media,
    ) -> Result<EncoderSpec, ScenarioError> {
        let start = encoder.start.unwrap_or(encoder.least);
        let out_of_range = |name: &str, value: String, accepted: String| {
            let problem = format!("{value} is out of range; accepted: {accepted}");
            self.fail(&key(name), problem)
        };
        for (name, rate, (low, high)) in [
            ("least", encoder.least, RATES),
            ("most", encoder.most, (encoder.least, RATES.1)),
            ("start", start, (encoder.least, encoder.most)),
        ] {
            if !(low..=high).contains(&rate) {
                let accepted = format!("\"{low}\" to \"{high}\"");
                return out_of_range(name, format!("\"{rate}\""), accepted);
            }
        }
        if encoder.uses.is_zero() {
            return out_of_range("uses", "\"0 %\"".to_owned(), "more than \"0 %\"".to_owned());
        }
        if encoder.reaction > REACTION {
            let value = format!("\"{}\"", encoder.reaction);
            return out_of_range("reaction", value, format!("at most \"{REACTION}\""));
        }
        let variation = encoder.variation.as_f64();
        if variation > VARIATION {
            let value = format!("\"{}\"", encoder.variation);
            return out_of_range("variation", value, "at most \"50 %\"".to_owned());
        }
        if !(1.0..=KEY_FRAME).contains(&encoder.key_frame) {
            let value = encoder.key_frame.to_string();
            return out_of_range(
                "key_frame",
                value,
                format!("a number from 1 to {KEY_FRAME}"),
            );
        }
        if encoder.key_frame > 1.0 && media.group.is_none() {
            return self.fail(
                &key("key_frame"),
                "requires group, the frames of which it is the first",
            );
        }
        Ok(EncoderSpec {
            least: encoder.least,
            most: encoder.most,
            start,
            uses: encoder.uses,
            reaction: encoder.reaction,
            variation,
            key_frame: encoder.key_frame,
            group: media.group.unwrap_or(1),
        })
    }

    /// Pauses are in order and apart, and do not leave a stream without frames.
    pub(in crate::scenario::check) fn pauses(
        &self,
        flow: usize,
        position: usize,
        media: &schema::Media,
    ) -> Result<(), ScenarioError> {
        let key = format!("flow.{flow}.media.{position}.pauses");
        if media.pauses.len() > PAUSES {
            let problem = format!(
                "{} pauses are too many; accepted: at most {PAUSES}",
                media.pauses.len()
            );
            return self.fail(&key, problem);
        }
        let mut end = None;
        for (from, until) in &media.pauses {
            if from >= until {
                let problem = format!(
                    "[\"{from}\", \"{until}\"] does not end after it begins; accepted: [\"40 s\", \"60 s\"]"
                );
                return self.fail(&key, problem);
            }
            if end.is_some_and(|end| *from <= end) {
                let problem = format!(
                    "[\"{from}\", \"{until}\"] begins before the pause above is over; pauses must be in order and apart"
                );
                return self.fail(&key, problem);
            }
            end = Some(*until);
        }
        if let [(from, until)] = media.pauses[..]
            && from.is_zero()
            && until >= media.duration
        {
            let problem = "leaves no frame of the stream; accepted: a shorter pause";
            return self.fail(&key, problem);
        }
        Ok(())
    }
}
