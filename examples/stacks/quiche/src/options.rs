//! Controllers and their options, such as `cubic:hystart=off`: known differences, for tests of the gate.

use quiche::{Config, CongestionControlAlgorithm};

/// What accepts which options.
const ACCEPTED: &str = "cubic and reno: hystart=on|off; bbr2: pacing=FACTOR, from 0.5 to 2";

/// Takes a controller with its options. Returns the factor of its pacing rate.
pub(crate) fn apply(config: &mut Config, text: &str) -> Result<f64, String> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let algorithm = match name {
        "cubic" => CongestionControlAlgorithm::CUBIC,
        "reno" => CongestionControlAlgorithm::Reno,
        "bbr2" => CongestionControlAlgorithm::Bbr2Gcongestion,
        _ => {
            return Err(format!(
                "\"{name}\" is not a controller of quiche; accepted: cubic, reno, bbr2"
            ));
        }
    };
    config.set_cc_algorithm(algorithm);
    let mut pacing = 1.0;
    for option in options.split(',').filter(|option| !option.is_empty()) {
        let refusal =
            || format!("\"{option}\" is not an option of {name} of quiche; accepted: {ACCEPTED}");
        match (name, option.split_once('=')) {
            // quiche's own setting.
            ("cubic" | "reno", Some(("hystart", "on"))) => config.enable_hystart(true),
            ("cubic" | "reno", Some(("hystart", "off"))) => config.enable_hystart(false),
            ("bbr2", Some(("pacing", factor))) => {
                let factor = factor
                    .parse()
                    .ok()
                    .filter(|factor| (0.5..=2.0).contains(factor));
                pacing = factor.ok_or_else(refusal)?;
            }
            _ => return Err(refusal()),
        }
    }
    Ok(pacing)
}
