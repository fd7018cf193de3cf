// A packet more for each window that is acknowledged, and a share of it after a loss or a mark, once in a round trip.

export default class Mine {
  static options = { beta: 0.7 };

  constructor(init, { beta }) {
    this.beta = beta;
    this.window = init.initial_window; // bytes
    this.reduced = 0; // first packet that left after the last reduction
  }

  on_ack(event, path) {
    this.window += (event.newly_acked * path.mtu) / this.window;
  }

  on_lost(event, path) {
    this.reduce(event.packet, path);
  }

  // A class without it sends no ECT: queues drop its packets instead of marking them.
  on_ecn(event, path) {
    this.reduce(event.largest_acked, path);
  }

  reduce(packet, path) {
    if (packet < this.reduced) return;
    this.reduced = path.next_packet;
    this.window = Math.max(this.window * this.beta, 2 * path.mtu);
  }
}
