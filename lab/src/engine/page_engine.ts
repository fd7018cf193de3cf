// The engine in this page: WebAssembly in workers. Nothing leaves the page.

import type { Start } from "./calls";
import { compiled } from "./code";
import type { About, CheckedScenario, Engine, Outcomes, Passages, Setup, Trial } from "./engine";
import { Lane, type Port } from "./lane";

/** A worker that has the engine. */
export async function worker(): Promise<Port> {
  const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const failed = new Promise<never>((_, reject) => {
    started.onerror = (event) => reject(new Error(event.message || "its worker has failed"));
  });
  try {
    const module = await Promise.race([compiled.get(), failed]);
    started.postMessage({ module } satisfies Start);
    return started;
  } catch (error) {
    started.terminate();
    throw error;
  }
}

export class PageEngine implements Engine {
  readonly kind = "page";
  /** A worker starts with code that is compiled already. */
  readonly graceMs = 120;
  /** Checks answer while a trial runs, and a trial runs while a hundred others do. */
  private readonly checks = new Lane(worker);
  private readonly runs = new Lane(worker);
  private readonly many = new Lane(worker);

  about(): Promise<About> {
    return this.checks.call("about", []);
  }

  check(setup: Setup, signal?: AbortSignal): Promise<CheckedScenario> {
    return this.checks.call("check", [setup], signal);
  }

  run(setup: Setup, seed: bigint, traced: boolean, signal?: AbortSignal): Promise<Trial> {
    return this.runs.call("run", [setup, seed, traced], signal);
  }

  packets(setup: Setup, seed: bigint, fromS: number, most: number, signal?: AbortSignal): Promise<Passages> {
    return this.runs.call("packets", [setup, seed, fromS, most], signal);
  }

  trials(
    setup: Setup,
    seeds: bigint[],
    onFinished: (count: number) => void,
    signal?: AbortSignal,
  ): Promise<Outcomes> {
    return this.many.call("trials", [setup, seeds], signal, onFinished);
  }
}
