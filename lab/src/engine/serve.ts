// What the engine in WebAssembly answers to calls, in whichever worker it runs.

import { Scenario, amount, controllers, models, scenarioSchema, version } from "@engine/thalweg_web.js";
import type { Answer, Call } from "./calls";
import type { About, CheckedScenario, Outcomes, Passages, Setup, Table, Trace, Trial, Value, Values } from "./engine";

const clock = performance.now.bind(performance);
const REPORT_EVERY_MS = 30;

/** The scenario read last: a slider, a run and its hundred trials ask for the same one. */
let last: { key: string; scenario: Scenario } | null = null;

function read({ text, origin, sets, controllers }: Setup): Scenario {
  const key = JSON.stringify([text, origin, sets, controllers]);
  if (last?.key !== key) {
    const scenario = new Scenario(text, origin, sets, controllers);
    last?.scenario.free();
    last = { key, scenario };
  }
  return last.scenario;
}

/** Reads the next scenario anew: its controllers have changed. */
export function forget(): void {
  last?.scenario.free();
  last = null;
}

function about(): About {
  return {
    version: version(),
    controllers: JSON.parse(controllers()),
    models: JSON.parse(models()),
    schema: JSON.parse(scenarioSchema()),
  };
}

function check(setup: Setup): CheckedScenario {
  const scenario = read(setup);
  const values = JSON.parse(scenario.values) as Values;
  const amounts: Record<string, number> = {};
  const collect = (key: string, value: Value) => {
    if (typeof value === "string") {
      const number = amount(value);
      if (number !== undefined) amounts[key] = number;
    } else if (typeof value === "object") {
      for (const [name, inner] of Object.entries(value)) collect(key ? `${key}.${name}` : name, inner);
    }
  };
  collect("", values);
  return {
    title: scenario.title,
    toml: scenario.toml,
    values,
    amounts,
    criteria: JSON.parse(scenario.criteria),
    floorS: scenario.floorS ?? null,
    flows: scenario.flows,
    startsS: Object.fromEntries(scenario.flows.map((flow, index) => [flow, scenario.startsS[index] ?? 0])),
  };
}

function run(setup: Setup, seed: bigint, traced: boolean): Trial {
  const scenario = read(setup);
  const begin = clock();
  const { outcomes, trace } = scenario.run(seed, traced) as { outcomes: Outcomes; trace?: Trace };
  const milliseconds = clock() - begin;
  const [hash] = outcomes.trials["trace_hash"] as string[];
  return { hash: hash ?? "", seed, outcomes, trace: trace ?? null, milliseconds };
}

function packets(setup: Setup, seed: bigint, fromS: number, most: number): Passages {
  return { ...(read(setup).packets(seed, fromS, most) as Omit<Passages, "fromS">), fromS };
}

/** The memory of all columns of a result: it is moved to the page, not copied. */
function memory(tables: Record<string, Table>): ArrayBuffer[] {
  const columns = Object.values(tables).flatMap((table) => Object.values(table));
  const arrays = columns.map((column) => ("indices" in column ? column.indices : column));
  return arrays.flatMap((array) => (ArrayBuffer.isView(array) ? [array.buffer as ArrayBuffer] : []));
}

/** Answers a call. `onTrial` hears which seed is next. Throws what is refused, or what failed. */
export function serve(call: Call, answer: (message: Answer, moved?: ArrayBuffer[]) => void, onTrial: (seed: bigint) => void = () => {}): void {
  const { id } = call;
  switch (call.name) {
    case "about":
      return answer({ id, result: about() });
    case "check":
      return answer({ id, result: check(...call.arguments) });
    case "run": {
      onTrial(call.arguments[1]);
      const trial = run(...call.arguments);
      return answer({ id, result: trial }, [...memory(trial.outcomes), ...memory(trial.trace ?? {})]);
    }
    case "packets": {
      onTrial(call.arguments[1]);
      const passages = packets(...call.arguments);
      return answer({ id, result: passages }, memory(passages.tables));
    }
    case "trials": {
      const [setup, seeds] = call.arguments;
      let lastReport = clock();
      if (seeds[0] !== undefined) onTrial(seeds[0]);
      const outcomes = read(setup).trials(BigUint64Array.from(seeds), (finished: number) => {
        const next = seeds[finished];
        if (next !== undefined) onTrial(next);
        if (clock() - lastReport <= REPORT_EVERY_MS) return;
        lastReport = clock();
        answer({ id, finished });
      }) as unknown as Outcomes;
      return answer({ id, result: outcomes }, memory(outcomes));
    }
  }
}

/** What to say of what a call threw. */
export function refused(id: number, error: unknown): Answer {
  const { name, message, line, key } = error as Error & { line?: number; key?: string };
  if (name === "ScenarioError") return { id, refused: { message, line: line ?? null, key: key ?? null } };
  return { id, failed: String(message ?? error) };
}
