// `window.thalweg`: all that the page does, for scripts (docs/how-to/lab.md).

import { cursor, look, playing, point, view, zoom } from "./chart/view";
import type { QlogForm } from "./engine/calls";
import { type CheckedScenario, type Outcomes, type Passages, type Setup, type Trial } from "./engine/engine";
import { LIBRARY } from "./scenario/library";
import { bring } from "./state/controllers";
import { command, csvFile, pngFile, qlogFile, svgFile } from "./state/files";
import { about, address, adjust, change, engineOf, finished, keep, kept, many, open, refusal, rerun, run, SEEDS, seed, setup, stop } from "./state/lab";
import { beside, chosen, follow, MOST, watching } from "./watch/part";
import { begin, pause, step } from "./watch/player";
import type { Sweeps } from "./engine/sweeps";
import { sweeps } from "./sweep/sweep";
import { watched } from "./view/watch";

const NONE: Setup = { text: "", origin: "scenario.toml", sets: {}, controllers: {} };

/** What a call may leave out. */
type SetupRequest = Partial<Setup> & { text: string };

export const api = {
  /** Version of the engine. */
  get version(): string | null {
    return about.value?.version ?? null;
  },
  /** The scenarios that come with the page: name, title and text of each. */
  scenarios: LIBRARY,
  /** What the engine knows: controllers, models, schema. */
  about: () => engineOf().about(),
  /** Reads and checks a scenario. Rejects with the message of the engine, its `line` and its `key`. */
  check: (request: SetupRequest): Promise<CheckedScenario> => engineOf().check({ ...NONE, ...request }),
  /** Runs one trial beside the page, with its trace if asked. */
  run: (request: SetupRequest, seed: bigint | number = 1n, traced = false, signal?: AbortSignal): Promise<Trial> =>
    engineOf().run({ ...NONE, ...request }, BigInt(seed), traced, signal),
  /** Runs one trial for each seed; by default the hundred of the strip. */
  trials: (request: SetupRequest, seeds: (bigint | number)[] = SEEDS, onFinished: (count: number) => void = () => {}, signal?: AbortSignal): Promise<Outcomes> =>
    engineOf().trials({ ...NONE, ...request }, seeds.map(BigInt), onFinished, signal),

  /** Opens a scenario on the page; resolves when its trial is shown. */
  open: (text: string, origin = "scenario.toml"): Promise<void> => open(text, origin),
  /** Sets keys as `--set` does. */
  set: (sets: Record<string, string>): Promise<void> => adjust(sets),
  /** Selects the controllers of flows. */
  controllers: (controllers: Record<string, string>): Promise<void> => change({ controllers: { ...setup.value.controllers, ...controllers } }),
  /** Takes a controller in JavaScript, or in WebAssembly, under the name of a file: flows then name it `./mine.js`. */
  bring: (name: string, content: string | Uint8Array): void => bring(name, content),
  /** Opens the trial with a seed. */
  seed: (number: bigint | number): Promise<void> => change({}, BigInt(number)),
  rerun,
  stop,
  /** Keeps the present run to compare with, or lets it go. */
  keep,
  /** What the page shows. */
  get shown() {
    return {
      setup: setup.value,
      seed: seed.value,
      trial: run.value?.trial ?? null,
      kept: kept.value?.trial ?? null,
      many: many.value?.outcomes ?? null,
      finished: finished.value,
      refusal: refusal.value?.message ?? null,
      cursor: cursor.value,
      view: view.value,
      packets: watched(),
      keptPackets: watched(beside),
      playing: playing.value,
    };
  },
  /** The part of the trial that is seen, in seconds; without bounds, all of it. */
  zoom(from?: number, until?: number): void {
    if (from === undefined || until === undefined) zoom.value = null;
    else look(from, until);
  },
  /** Moves the cursor to a moment, in seconds. */
  point,
  /** The passages of at most `most` packets of one trial through links, from a time in seconds on. */
  packets: (request: SetupRequest, seed: bigint | number = 1n, fromS = 0, most = MOST, signal?: AbortSignal): Promise<Passages> =>
    engineOf().packets({ ...NONE, ...request }, BigInt(seed), fromS, most, signal),
  /** Shows or hides the packets at the cursor; resolves when they are there. */
  async watch(on = true, link: string | null = null): Promise<void> {
    if (!on) pause();
    watching.value = on;
    chosen.value = link;
    await follow();
  },
  /** Lets the cursor move by itself, so many seconds of the trial in a second; stops it; moves it to the next event, or with -1 to the one before. */
  animate: begin,
  pause,
  step,
  /** Sweeps behind `thalweg lab`: `estimate(sweep)`, `start(sweep)`, `state()`, `stop()`; `null` where there is none. */
  get sweeps(): Sweeps | null {
    return sweeps.value;
  },
  /** The address that opens this trial. */
  link: address,
  /** The command line that runs this trial. */
  command: (): string | null => (run.value ? command(run.value) : null),
  /** The trace as qlog: "sqlog" of the current drafts, "qlog" as qvis reads it. */
  qlog: (form: QlogForm = "sqlog"): Promise<string> | null => (run.value ? qlogFile(run.value, form) : null),
  /** The picture of what is seen, and a table of the series. */
  svg: (): string | null => (run.value ? svgFile(run.value) : null),
  png: (): Promise<Blob> | null => (run.value ? pngFile(run.value) : null),
  csv: (table: Parameters<typeof csvFile>[1]): string | null => (run.value ? csvFile(run.value, table) : null),
};

declare global {
  interface Window {
    thalweg: typeof api;
  }
}
