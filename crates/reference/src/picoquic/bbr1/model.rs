//! Model of the path: bottleneck bandwidth and RTprop.

use super::{Bbr1, MIN_WINDOW, State};
use thalweg_control::Context;
use thalweg_control::bbr_model::{Gain, Sample};
use thalweg_units::{Duration, Instant, Rate};

const RTPROP_FILTER: Duration = Duration::from_secs(10);
const RTPROP_ROUNDS: u64 = 20;
/// A sample up to this refreshes RTprop.
const REFRESH: Gain = Gain::percent(105);

impl Bbr1 {
    pub(super) fn btl_bw(&self) -> Rate {
        Rate::from_bits_per_sec(self.btl_bw_filter.get())
    }

    pub(super) fn update_btl_bw(&mut self, sample: &Sample, cx: &Context<'_>) {
        self.round
            .update(sample.prior_delivered, sample.total_delivered);
        let mut rate = cx.path.delivery_rate;
        if self.state == State::Startup {
            rate = rate.max(cx.path.peak_rate.mul_div(1, 2));
        }
        rate = rate.max(Rate::over(MIN_WINDOW, self.rtprop));
        self.note_growth(rate, sample.is_app_limited);
        if rate >= self.btl_bw() || !sample.is_app_limited {
            self.btl_bw_filter
                .update(rate.as_bits_per_sec(), self.round.count, 10);
        }
    }

    /// Growth is a round that begins with more than the one before had, or a new maximum. A round that begins limited by
    /// the application, and with no maximum, forgets it.
    fn note_growth(&mut self, rate: Rate, is_app_limited: bool) {
        if !self.round.start {
            self.has_grown |= rate > self.round_rate.max(self.btl_bw());
            self.round_rate = self.round_rate.max(rate);
        } else if rate > self.btl_bw() || !is_app_limited {
            self.has_grown |= rate > self.round_rate;
            self.round_rate = rate;
        } else {
            self.has_grown = false;
        }
    }

    pub(super) fn update_rtprop(&mut self, rtt: Duration, now: Instant) {
        let window = RTPROP_FILTER.max(self.rtprop * RTPROP_ROUNDS);
        self.rtprop_expired = now > self.rtprop_stamp + window;
        if self.rtprop.is_zero() || rtt < self.rtprop || self.rtprop_expired {
            (self.rtprop, self.rtprop_stamp) = (rtt, now);
        } else if rtt < REFRESH.of_duration(self.rtprop) {
            self.rtprop_stamp = now;
        }
    }
}
