// NewReno, RFC 9002 section 7: event by event what `reno` of Thalweg does.

export default class NewReno {
  constructor(init) {
    this.mtu = init.mtu;
    this.window = Math.max(init.initial_window, 2 * init.mtu); // section 7.2
    this.ssthresh = Infinity;
    this.acked = 0; // bytes acknowledged in congestion avoidance and not yet turned into growth
    this.recovery_end = 0; // first packet that the last reduction does not cover
    this.in_recovery = false;
  }

  get startup_done() {
    return this.window >= this.ssthresh;
  }

  on_ack(event, path) {
    this.mtu = path.mtu;
    this.window = Math.max(this.window, 2 * this.mtu);
    if (event.largest >= this.recovery_end) this.in_recovery = false;
    if (this.in_recovery || event.window_was_underused(path)) return; // sections 7.3.2 and 7.8
    if (this.window < this.ssthresh) {
      this.window += event.newly_acked; // section 7.3.1: slow start
      return;
    }
    this.acked += event.newly_acked; // section 7.3.3: a packet for each window acknowledged
    if (this.acked >= this.window) {
      this.acked -= this.window;
      this.window += this.mtu;
    }
  }

  on_lost(event, path) {
    this.congestion(event.packet, path);
    if (event.persistent_congestion) {
      this.window = 2 * this.mtu; // section 7.6.2
      this.in_recovery = false;
    }
  }

  on_ecn(event, path) {
    this.congestion(event.largest_acked, path); // section 7.1: a mark is a congestion event
  }

  // Section 7.3.2: at most one reduction for each round trip.
  congestion(packet, path) {
    if (packet < this.recovery_end) return;
    this.recovery_end = path.next_packet;
    this.in_recovery = true;
    this.ssthresh = Math.max(Math.floor(this.window / 2), 2 * this.mtu);
    this.window = this.ssthresh;
    this.acked = 0;
  }

  observe() {
    const slow = this.window < this.ssthresh ? "slow start" : "congestion avoidance";
    return { state: this.in_recovery ? "recovery" : slow, ssthresh: Number.isFinite(this.ssthresh) ? this.ssthresh : null };
  }
}
