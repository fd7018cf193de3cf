// An engine, and beside it a sandbox for trials whose controllers a reader has brought along.

import type { About, CheckedScenario, Engine, Outcomes, Passages, Setup, Trial } from "../engine/engine";
import { Lane } from "../engine/lane";
import { used } from "./files";
import { sandbox } from "./sandbox";

/** No call of a controller takes a thousandth of it. A trial that calls none for so long is silent too, and cannot be told from it. */
const PATIENCE_MS = 10_000;
const IMPATIENCE = `nothing was heard of the trial for ${PATIENCE_MS / 1000} s: it was ended. Look for a loop without end, or for a long time in which no controller is called`;

export class WithOwn implements Engine {
  /** Made when they are needed first. */
  private runs: Lane | null = null;
  private many: Lane | null = null;
  /** Whether the last run had controllers of the reader. */
  private isOwnRun = false;

  constructor(private readonly base: Engine) {}

  get kind(): Engine["kind"] {
    return this.base.kind;
  }

  /** A sandbox compiles the engine anew. */
  get graceMs(): number {
    return this.isOwnRun ? 1000 : this.base.graceMs;
  }

  about(): Promise<About> {
    return this.base.about();
  }

  check(setup: Setup, signal?: AbortSignal): Promise<CheckedScenario> {
    const own = this.own(setup);
    return own ? this.first().call("check", [own], signal) : this.base.check(plain(setup), signal);
  }

  run(setup: Setup, seed: bigint, traced: boolean, signal?: AbortSignal): Promise<Trial> {
    const own = this.own(setup);
    this.isOwnRun = own !== null;
    return own ? this.first().call("run", [own, seed, traced], signal) : this.base.run(plain(setup), seed, traced, signal);
  }

  packets(setup: Setup, seed: bigint, fromS: number, most: number, signal?: AbortSignal): Promise<Passages> {
    const own = this.own(setup);
    return own ? this.first().call("packets", [own, seed, fromS, most], signal) : this.base.packets(plain(setup), seed, fromS, most, signal);
  }

  trials(setup: Setup, seeds: bigint[], onFinished: (count: number) => void, signal?: AbortSignal): Promise<Outcomes> {
    const own = this.own(setup);
    if (!own) return this.base.trials(plain(setup), seeds, onFinished, signal);
    this.many ??= lane();
    return this.many.call("trials", [own, seeds], signal, onFinished);
  }

  private first(): Lane {
    this.runs ??= lane();
    return this.runs;
  }

  /** The setup with the files that it names; null if it names none. */
  private own(setup: Setup): Setup | null {
    const files = used(setup);
    return Object.keys(files).length > 0 ? { ...setup, files } : null;
  }
}

function lane(): Lane {
  return new Lane(sandbox, PATIENCE_MS, IMPATIENCE);
}

function plain({ text, origin, sets, controllers }: Setup): Setup {
  return { text, origin, sets, controllers };
}
