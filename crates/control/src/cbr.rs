//! A constant bit rate, such as media or cross traffic over UDP without congestion control: the unresponsive flow of
//! RFC 7567 section 3. Nothing that the path does changes its rate.
//!
//! It is a stress on others and no congestion control: a sender like this one on the Internet is what RFC 8085 section 3.1
//! warns of. Its packets are Not-ECT, since it does not respond to marks.

use crate::event::{Ack, Lost};
use crate::{
    Context, Control, Controller, Entry, Init, Observer, OptionDoc, OptionKind, Options, Purpose,
};
use thalweg_units::{Bytes, Duration, Ecn, Rate};

/// The constant rate in the registry.
pub(crate) const ENTRY: Entry = Entry {
    name: "cbr",
    purpose: Purpose::Test,
    title: "Constant bit rate, unresponsive",
    source: "RFC 7567 section 3",
    options: &[OptionDoc {
        name: "rate",
        kind: OptionKind::Rate,
        default: "5 Mbps",
        meaning: "what it sends, lost packets again included, whatever happens",
    }],
    build,
};

fn build(options: &Options, init: &Init) -> Box<dyn Controller> {
    Box::new(Cbr(options.rate("rate"), init.mtu))
}

/// A window that no flow fills.
const WINDOW: Bytes = Bytes::new(1 << 50);
/// How late a wake-up may be without loss of rate.
const LATENESS: Duration = Duration::from_millis(1);

/// The rate, and the size of a packet.
#[derive(Clone, Copy, Debug)]
struct Cbr(Rate, Bytes);

impl Controller for Cbr {
    fn on_ack(&mut self, _event: &Ack, _cx: &mut Context<'_>) {}

    fn on_lost(&mut self, _event: &Lost, _cx: &mut Context<'_>) {}

    fn control(&self) -> Control {
        let Cbr(rate, mtu) = *self;
        Control {
            window: WINDOW,
            pacing: Some(rate),
            quantum: rate.bytes_in(LATENESS).max(mtu * 2),
            startup_done: true,
        }
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn observe(&self, _out: &mut dyn Observer) {}
}

#[cfg(test)]
mod tests {
    use crate::ControllerSpec;
    use crate::fake_transport::{Flow, MTU};
    use thalweg_units::{Bytes, Ecn, Rate};

    #[test]
    fn losses_marks_timeouts_and_silence_change_nothing() {
        let mut flow = Flow::new("cbr:rate=12Mbps");
        let before = flow.control();
        assert_eq!(before.pacing, Some(Rate::from_bits_per_sec(12_000_000)));
        let packets: Vec<_> = (0..20).map(|_| flow.send()).collect();
        flow.lose(packets[0]);
        flow.lose_persistently(packets[1]);
        flow.mark_ce(7);
        flow.timeout();
        flow.ack(packets[9]);
        flow.call(|controller, cx| controller.on_idle_restart(cx));
        flow.call(|controller, cx| controller.on_seed(MTU, cx));
        assert_eq!(flow.control(), before);
    }

    #[test]
    fn the_window_is_larger_than_what_any_path_holds() {
        let window = Flow::new("cbr:rate=100Gbps").window();
        assert!(window > Bytes::new(1 << 40), "{window}");
    }

    #[test]
    fn a_late_wake_up_loses_no_rate_and_a_slow_flow_sends_two_packets_at_most() {
        let quantum = |name: &str| Flow::new(name).control().quantum;
        assert_eq!(quantum("cbr:rate=100 kbps"), MTU * 2);
        assert_eq!(quantum("cbr:rate=800 Mbps"), Bytes::new(100_000));
    }

    #[test]
    fn it_does_not_claim_to_respond_to_marks() {
        assert_eq!(Flow::new("cbr").controller.ecn(), Ecn::NotEct);
    }

    #[test]
    fn the_rate_is_a_quantity_above_zero() {
        for rate in ["5Mbps", "5 Mbps", "512 kbps", "1.5 Gbit/s"] {
            let text = format!("cbr:rate={rate}");
            assert!(text.parse::<ControllerSpec>().is_ok(), "{text}");
        }
        for rate in ["5", "0 bps", "fast", "5 ms", "on"] {
            let text = format!("cbr:rate={rate}");
            let error = text.parse::<ControllerSpec>().unwrap_err().to_string();
            let said = format!(
                "option \"rate\" of \"cbr\" cannot be \"{rate}\"; accepted: a rate above 0 such as 5 Mbps"
            );
            assert_eq!(error, said);
        }
    }

    #[test]
    fn other_names_of_it_are_understood() {
        for name in ["constant:rate=5Mbps", "udp", "unresponsive"] {
            let error = name.parse::<ControllerSpec>().unwrap_err().to_string();
            assert!(error.contains("did you mean \"cbr\"?"), "{error}");
        }
    }
}
