// Runs the trial in real time, where a local server does.

import { going, runLive, startLive, stopLive } from "./live";

export function LiveBar() {
  if (!runLive.value) return null;
  const isGoing = going.value !== null;
  return (
    <section class="field" aria-label="real time">
      <p>
        The same scenario <b>in real time</b>: real packets of the kernel's TCP or of the QUIC stack through an emulated link of this machine, drawn next to the simulated
        trial. <span role="status">{going.value ?? ""}</span>
      </p>
      <button type="button" class={isGoing ? "" : "main"} onClick={() => (isGoing ? stopLive() : void startLive())}>
        {isGoing ? "Stop real time" : "Run in real time"}
      </button>
    </section>
  );
}
