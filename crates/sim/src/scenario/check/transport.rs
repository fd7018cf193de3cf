//! `[transport]`, and the transport keys of a flow.

use super::Checker;
use crate::scenario::error::ScenarioError;
use crate::scenario::schema::{self, ScenarioFile};
use thalweg_transport::{AckConduct, Rules, TransportConfig};
use thalweg_units::{Bytes, Duration};

/// Largest lateness of a wake-up: the timers of an endpoint must fire long before its longest probe timeout is over.
pub(super) const LATEST_WAKEUP: Duration = Duration::from_secs(1);

/// No limit of flow control that a path meets, as of the real stack; it bounds what a sender can have outstanding.
const UNLIMITED: Bytes = Bytes::new(1 << 30);
/// Least window of flow control: a few packets.
const LEAST_WINDOW: u64 = 4096;

impl Checker<'_> {
    pub(super) fn transport(
        &self,
        index: usize,
        flow: &schema::Flow,
        file: &ScenarioFile,
    ) -> Result<TransportConfig, ScenarioError> {
        let given = &file.transport;
        let rules = match given.rules {
            schema::Rules::Rfc => Rules::Rfc,
            schema::Rules::Picoquic => Rules::Picoquic,
        };
        let standard = TransportConfig::new(rules);
        let is_unlimited = flow.receiver.has_no_limit();
        let initial_mtu = given.initial_mtu.unwrap_or(standard.initial_mtu);
        let mut config = TransportConfig {
            rules,
            initial_window: given
                .initial_window
                .unwrap_or_else(|| rules.initial_window(initial_mtu)),
            initial_mtu,
            max_mtu: given
                .max_mtu
                .or(given.initial_mtu)
                .unwrap_or(standard.max_mtu),
            mtu_fallback: given.mtu_fallback.unwrap_or(standard.mtu_fallback),
            max_ack_delay: given.max_ack_delay.unwrap_or(standard.max_ack_delay),
            min_ack_delay: standard
                .min_ack_delay
                .min(given.max_ack_delay.unwrap_or(Duration::MAX)),
            ack_every: given.ack_every.unwrap_or(standard.ack_every),
            ack_frequency: given.ack_frequency.unwrap_or(standard.ack_frequency),
            counted_acks: given.acks == Some(schema::Acks::Counted),
            initial_max_data: given.initial_max_data.unwrap_or(standard.initial_max_data),
            initial_max_stream_data: match is_unlimited {
                true => UNLIMITED,
                false => given
                    .initial_max_stream_data
                    .unwrap_or(standard.initial_max_stream_data),
            },
            receive_window: match is_unlimited {
                true => Some(UNLIMITED),
                false => flow.receive_window,
            },
            ack_conduct: AckConduct::Honest, // the conduct of the receiver of data is the flow's
            skip_packet_numbers: (given.skip_packet_numbers)
                .unwrap_or(standard.skip_packet_numbers),
            zero_rtt: flow.zero_rtt,
            seed: flow.seed.as_ref().map(|seed| (seed.window, seed.rtt)),
            pacing: given.pacing.unwrap_or(standard.pacing),
            host: standard.host,
            wakeup_noise: file.noise.wakeup,
            handshake_excess: Bytes::ZERO, // each connection draws its own
            // Bulk data is only counted; a call needs the progress of streams.
            stream_progress: flow.call.is_some() || !flow.media.is_empty(),
        };
        self.host(index, flow, file, &mut config)?;
        if config.wakeup_noise > LATEST_WAKEUP {
            return self.fail(
                "noise.wakeup",
                format!(
                    "\"{}\" is too late for a timer; accepted: at most \"{LATEST_WAKEUP}\"",
                    config.wakeup_noise
                ),
            );
        }
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
        // The smallest windows, of two packets of the initial size or the 3072 bytes of picoquic, hold a packet of the
        // largest size when the MTU comes back to it.
        let most = (config.initial_mtu * 2).min(Bytes::new(3072));
        if config.mtu_fallback && config.max_mtu > most {
            return self.fail(
                "transport.max_mtu",
                format!(
                    "\"{}\" is too large with mtu_fallback; accepted: at most \"{most}\"",
                    config.max_mtu
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
        // RFC 9000 section 18.2: values of 2^14 ms or more are invalid.
        if config.max_ack_delay >= Duration::from_millis(1 << 14) {
            return self.fail(
                "transport.max_ack_delay",
                format!(
                    "\"{}\" is not a max_ack_delay of QUIC; accepted: less than \"16.384 s\"",
                    config.max_ack_delay
                ),
            );
        }
        if let Some(window) = config.receive_window.filter(|w| w.as_u64() < LEAST_WINDOW) {
            let problem = format!("\"{window}\" is too small; accepted: at least \"4096 B\"");
            return self.fail(&format!("flow.{index}.receive_window"), problem);
        }
        for (key, bytes) in [
            ("initial_max_data", config.initial_max_data),
            ("initial_max_stream_data", config.initial_max_stream_data),
        ] {
            if bytes.as_u64() < LEAST_WINDOW {
                return self.fail(
                    &format!("transport.{key}"),
                    format!("\"{bytes}\" is too small; accepted: at least \"4096 B\""),
                );
            }
        }
        Ok(config)
    }
}
