//! The three ways to start, and Drain.

use super::{Bbr, ECN_EXCESS, LONG_RTT, State};
use crate::picoquic::window::{data_limited, slow_start_increase};
use thalweg_control::Context;
use thalweg_control::bbr_model::parameters::STARTUP_FULL_LOSS_COUNT;
use thalweg_control::bbr_model::{Gain, Sample};
use thalweg_units::{Bytes, Duration};

/// ACKs with an excess of delay that end Startup.
const DELAY_EXCESS: u32 = 7;
/// Growth required of a start from a remembered volume.
const RESUME_GROWTH: Gain = Gain::permille(1125);
/// The RTT that the initial window is meant for, and the longest that it is scaled to.
const TARGET_RENO: Duration = Duration::from_millis(100);
const TARGET_SATELLITE: Duration = Duration::from_millis(610);

impl Bbr {
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// Resets the full-pipe estimate and restarts, from the remembered volume if there is one.
    pub(super) fn start_again(&mut self) {
        self.full_pipe.restart(Default::default());
        self.full_pipe.reached = false;
        self.probe.be_quick();
        self.state = match self.seed {
            Some(_) => State::StartupResume,
            None => State::Startup,
        };
    }

    /// A seed was offered: resume. The window follows with the next ACK; half of it on a long path.
    pub(super) fn take_seed(&mut self, seed: Bytes) {
        self.seed = Some(seed);
        // Bytes against bytes per second, as below.
        if self.state == State::Startup && seed.as_u64() > self.max_bw.as_bytes_per_sec() {
            self.state = State::StartupResume;
        }
    }

    /// A path of more than 250 ms starts like a window-based algorithm, until HyStart ends that.
    pub(super) fn check_long_rtt(&mut self, rtt: Duration, cx: &mut Context<'_>) {
        if matches!(self.state, State::Startup | State::StartupResume) && cx.path.min_rtt > LONG_RTT
        {
            self.state = State::StartupLongRtt;
            let scaled = cx.path.min_rtt.min(TARGET_SATELLITE).as_nanos();
            let window = self.initial_window.mul_div(scaled, TARGET_RENO.as_nanos());
            self.cwnd = self.cwnd.max(self.seed.unwrap_or_default()).max(window);
        }
        if self.state == State::StartupLongRtt {
            let start = &mut self.window_start;
            let is_over = start.on_rtt(rtt, self.cwnd, self.mtu, cx.path, cx.now);
            if is_over || self.ecn_alpha > ECN_EXCESS {
                self.full_pipe.declare();
                self.enter_drain();
                self.round.restart(cx.path.next_packet);
            }
        }
    }

    /// Window of the long start: slow start, and at least half of what the best rate fills.
    pub(super) fn grow_long_rtt_window(&mut self, newly_acked: Bytes, cx: &Context<'_>) {
        if data_limited(cx.path) {
            self.cwnd += slow_start_increase(newly_acked, cx.path);
        }
        let min_rtt = self.delay.min_rtt().unwrap_or(cx.path.min_rtt);
        let most = cx.path.peak_rate.bytes_in(min_rtt);
        self.cwnd = self.cwnd.max(most.max(self.seed.unwrap_or_default()) / 2);
    }

    /// Ends a start by rate. One from a remembered volume may become a plain one with the same ACK.
    pub(super) fn check_startup(&mut self, sample: &Sample, lost_ranges: u32) {
        let counts = self.round.start && !sample.is_app_limited;
        if self.state == State::StartupResume {
            self.check_startup_loss(sample, lost_ranges);
            // Bytes per second against bytes: true at once on any path of less than 0.9 s.
            let limit = RESUME_GROWTH.of_bytes(self.seed.unwrap_or_default());
            if !self.full_pipe.reached && self.max_bw.as_bytes_per_sec() > limit.as_u64() {
                self.enter_startup();
            } else {
                if counts && !self.full_pipe.reached {
                    self.full_pipe.check_growth(self.max_bw, RESUME_GROWTH);
                }
                self.check_pipe();
            }
        }
        if self.state == State::Startup {
            if counts {
                self.full_pipe.check(self.max_bw);
            }
            self.check_startup_loss(sample, lost_ranges);
            if self.ecn_alpha >= ECN_EXCESS || self.delay.excess() > DELAY_EXCESS {
                self.full_pipe.declare();
            }
            self.check_pipe();
        }
    }

    /// Drains once a plateau of `max_bw`, marks, six runs of loss in a round, or delay show a full pipe.
    fn check_pipe(&mut self) {
        if self.full_pipe.reached {
            self.probe.be_quick();
            self.enter_drain();
        }
    }

    /// A round with excessive volume in flight and six runs of losses shows a full pipe.
    fn check_startup_loss(&mut self, sample: &Sample, lost_ranges: u32) {
        self.startup_lost_ranges += lost_ranges;
        self.startup_too_high |= self.is_inflight_too_high(sample);
        if self.round.start {
            let ranges = std::mem::take(&mut self.startup_lost_ranges);
            if std::mem::take(&mut self.startup_too_high) && ranges >= STARTUP_FULL_LOSS_COUNT {
                self.full_pipe.declare();
            }
        }
    }

    pub(super) fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.startup_done = true;
    }

    pub(super) fn check_drain_done(&mut self, sample: &Sample, cx: &mut Context<'_>) {
        if self.state == State::Drain && sample.in_flight <= self.inflight(self.bw, Gain::UNITY) {
            self.enter_probe_bw(cx);
        }
    }
}
