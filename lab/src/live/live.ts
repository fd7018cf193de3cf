// A trial in real time beside the simulated one: what the emulator tells while it runs, and at the end its own trace.

import { signal } from "@preact/signals";
import type { Setup, Trial } from "../engine/engine";
import type { Field } from "../field/field";
import { show } from "../state/measurement";
import { failure, seed, setup } from "../state/lab";
import { line, panel, picture, queueLine } from "../trial/panels";
import { dropHue } from "../words/looks";
import { text } from "../words/quantity";

/** Sums since the start, of the link towards the clients. */
export interface Report {
  time_s: number;
  offered_packets: number;
  delivered_packets: number;
  delivered_bytes: number;
  dropped_packets: number;
  mean_queue_delay_s: number;
}

/** Who runs trials in real time. Throws why it cannot. */
export type RunLive = (setup: Setup, seed: bigint, onReport: (report: Report) => void, signal: AbortSignal) => Promise<Trial & { unfaithful: string }>;

/** Set where there is a server. */
export const runLive = signal<RunLive | null>(null);
/** How the run goes, in a sentence; null if none is under way. */
export const going = signal<string | null>(null);
let current: AbortController | null = null;

export function stopLive(): void {
  current?.abort(new DOMException("stopped", "AbortError"));
}

export async function startLive(): Promise<void> {
  const run = runLive.value;
  if (!run || current) return;
  const own = new AbortController();
  current = own;
  going.value = "starts";
  failure.value = null;
  const reports: Report[] = [];
  try {
    const trial = await run(
      setup.value,
      seed.value,
      (report) => {
        reports.push(report);
        const last = growing(reports);
        going.value = last.about;
        show(last);
      },
      own.signal,
    );
    const completion = trial.outcomes.flows["completion_s"] as Float64Array;
    show({ name: NAME, about: `completed in ${text(completion[0], "s", 4)}; ${trial.unfaithful}`, picture: picture(trial), facts: {} });
  } catch (error) {
    if (!own.signal.aborted) failure.value = (error as Error).message;
  } finally {
    current = null;
    going.value = null;
  }
}

const NAME = "In real time";

/** What is known so far: differences of sums. */
function growing(reports: Report[]): Field {
  const steps = reports.slice(1).map((report, index) => {
    const before = reports[index] as Report;
    const span = report.time_s - before.time_s;
    const packets = report.delivered_packets - before.delivered_packets;
    const waited = report.mean_queue_delay_s * report.delivered_packets - before.mean_queue_delay_s * before.delivered_packets;
    return {
      time: report.time_s,
      rate: span > 0 ? (8 * (report.delivered_bytes - before.delivered_bytes)) / span : Number.NaN,
      wait: packets > 0 ? Math.max(waited / packets, 0) : 0,
      dropped: report.dropped_packets > before.dropped_packets,
    };
  });
  const times = steps.map(({ time }) => time);
  const last = steps[steps.length - 1];
  const drops = { name: "dropped", term: "drop", hue: dropHue("queue"), times: Float64Array.from(steps.filter(({ dropped }) => dropped).map(({ time }) => time)) };
  return {
    name: NAME,
    about: last ? `${last.time.toFixed(1)} s: ${text(last.rate, "bps")} delivered, ${text(last.wait, "s")} in the queue` : "the first packets leave",
    picture: {
      end: last?.time ?? 0,
      ribbons: [],
      panels: [
        panel("rate", [line("rate", "delivery_bps", times, steps.map(({ rate }) => rate))]),
        panel("queue", [queueLine("down", times, steps.map(({ wait }) => wait))], [drops]),
      ].filter(({ lines }) => lines.length > 0),
    },
    facts: {},
  };
}
