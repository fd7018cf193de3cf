//! C4 in traces. Coefficients are shown as fractions of one.

use super::C4;
use super::rules::Drain;
use crate::Observer;
use thalweg_units::Duration;

impl C4 {
    /// Names the state and every variable that has a value.
    pub(super) fn report(&self, out: &mut dyn Observer) {
        out.state(self.state.name());
        out.variable("nominal_rate", self.nominal_rate.as_bits_per_sec() as f64);
        out.variable("nominal_max_rtt", self.nominal_max_rtt.as_secs_f64());
        if self.running_min_rtt != Duration::MAX {
            out.variable("running_min_rtt", self.running_min_rtt.as_secs_f64());
        }
        out.variable("alpha", self.alpha.as_f64());
        out.variable("alpha_previous", self.alpha_previous.as_f64());
        out.variable("initial_window", self.initial_window.as_u64() as f64);
        out.variable("eras_without_growth", f64::from(self.eras_without_growth));
        out.variable("cruising_eras_left", f64::from(self.cruising_eras_left));
        out.variable("probe_level", f64::from(self.probe_level));
        out.variable(
            "reference_rate",
            self.reference.rate.as_bits_per_sec() as f64,
        );
        out.variable(
            "recent_max_rate",
            self.recent_max_rate.as_bits_per_sec() as f64,
        );
        out.variable("congested_cycles", f64::from(self.congested_cycles));
        out.variable("delay_threshold", self.delay_threshold.as_secs_f64());
        out.variable("delay_excess", self.delay_excess.as_secs_f64());
        out.variable("loss_ewma", self.loss.rate());
        out.variable("ecn_alpha", self.ecn.alpha.as_f64());
        out.variable("ecn_threshold", self.ecn.threshold.as_f64());
        if self.tuning.rules.drain != Drain::Off {
            out.variable("drain_debt", self.drain_debt.as_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Controller, ControllerSpec, Init, Observer};
    use std::fmt::Write;
    use thalweg_units::{Bytes, Instant};

    struct Table(String);

    impl Observer for Table {
        fn state(&mut self, name: &'static str) {
            writeln!(self.0, "{name}").unwrap();
        }
        fn variable(&mut self, name: &'static str, value: f64) {
            writeln!(self.0, "{name} {value}").unwrap();
        }
    }

    #[test]
    fn a_new_flow_shows_its_variables_but_no_minimum_rtt_yet() {
        let init = Init {
            now: Instant::START,
            mtu: Bytes::new(1_440),
            initial_window: Bytes::new(15_360),
            media: None,
        };
        let c4: Box<dyn Controller> = "c4:variant=draft-05"
            .parse::<ControllerSpec>()
            .unwrap()
            .build(&init);
        let mut table = Table(String::new());
        c4.observe(&mut table);
        insta::assert_snapshot!(table.0, @r"
        Initial
        nominal_rate 0
        nominal_max_rtt 0.25
        alpha 2
        alpha_previous 2
        initial_window 15360
        eras_without_growth 0
        cruising_eras_left 0
        probe_level 1
        reference_rate 0
        recent_max_rate 0
        congested_cycles 0
        delay_threshold 0
        delay_excess 0
        loss_ewma 0
        ecn_alpha 0
        ecn_threshold 0
        drain_debt 0
        ");
    }
}
