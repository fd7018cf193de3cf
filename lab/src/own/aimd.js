// Ten lines: a packet more for each window that is acknowledged, and a share of it after a loss.

export default class Mine {
  static options = { beta: 0.7 };

  constructor(init, { beta }) {
    this.beta = beta;
    this.window = init.initial_window; // bytes
  }

  on_ack(event, path) {
    this.window += (event.newly_acked * path.mtu) / this.window;
  }

  on_lost(event, path) {
    this.window = Math.max(this.window * this.beta, 2 * path.mtu);
  }
}
