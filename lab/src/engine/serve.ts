// What the engine in WebAssembly answers to calls, in whichever worker it runs.

import type { Answer, Call } from "./calls";
import type { About, CheckedScenario, Column, Outcomes, Passages, Setup, Table, Trace, Trial } from "./engine";
import type { Tables, Wasm } from "./wasm";

const clock = performance.now.bind(performance);
const REPORT_EVERY_MS = 30;

/** The scenario that the engine has read last: a slider, a run and its hundred trials ask for the same one. */
let last: string | null = null;

function read(engine: Wasm, { text, origin, sets, controllers }: Setup): void {
  const key = JSON.stringify([text, origin, sets, controllers]);
  if (last === key) return;
  engine.ask({ name: "read", text, origin, sets, controllers });
  last = key;
}

/** Reads the next scenario anew: its controllers have changed. */
export function forget(): void {
  last = null;
}

function run(engine: Wasm, setup: Setup, seed: bigint, traced: boolean): Trial {
  read(engine, setup);
  const begin = clock();
  const found = engine.ask<{ outcomes: Tables; trace?: Tables }>({ name: "run", seed, traced });
  const outcomes: Outcomes = engine.tables(found.outcomes);
  const trace: Trace | null = found.trace ? engine.tables(found.trace) : null;
  const milliseconds = clock() - begin;
  const [hash] = outcomes.trials["trace_hash"] as string[];
  return { hash: hash ?? "", seed, outcomes, trace, milliseconds };
}

function packets(engine: Wasm, setup: Setup, seed: bigint, fromS: number, most: number): Passages {
  read(engine, setup);
  const found = engine.ask<{ tables: Tables; links: string[]; untilS: number }>({ name: "packets", seed, from_s: String(fromS), most });
  return { ...found, tables: engine.tables(found.tables), fromS };
}

/** The tables that qlog has events of, in JSON: a number that does not exist is null. */
function json({ packets, frames, held, drops, flows }: Trace): string {
  const plain = (table: Table) => Object.fromEntries(Object.entries(table).map(([name, column]) => [name, values(column)]));
  return JSON.stringify({ packets: plain(packets), frames: plain(frames), held: plain(held), drops: plain(drops), flows: plain(flows) });
}

function values(column: Column): unknown[] {
  return "indices" in column ? Array.from(column.indices, (index) => column.words[index]) : Array.from(column as Float64Array);
}

/** The memory of all columns of a result: it is moved to the page, not copied. */
function memory(tables: Record<string, Table>): ArrayBuffer[] {
  const columns = Object.values(tables).flatMap((table) => Object.values(table));
  const arrays = columns.map((column) => ("indices" in column ? column.indices : column));
  return arrays.flatMap((array) => (ArrayBuffer.isView(array) ? [array.buffer as ArrayBuffer] : []));
}

/** Answers a call. `onTrial` hears which seed is next. Throws what is refused, or what failed. */
export function serve(
  engine: Wasm,
  call: Call,
  answer: (message: Answer, moved?: ArrayBuffer[]) => void,
  onTrial: (seed: bigint) => void = () => {},
): void {
  const { id } = call;
  switch (call.name) {
    case "about":
      return answer({ id, result: engine.ask<About>({ name: "about" }) });
    case "check":
      read(engine, ...call.arguments);
      return answer({ id, result: engine.ask<CheckedScenario>({ name: "describe" }) });
    case "run": {
      onTrial(call.arguments[1]);
      const trial = run(engine, ...call.arguments);
      return answer({ id, result: trial }, [...memory(trial.outcomes), ...memory(trial.trace ?? {})]);
    }
    case "packets": {
      onTrial(call.arguments[1]);
      const passages = packets(engine, ...call.arguments);
      return answer({ id, result: passages }, memory(passages.tables));
    }
    case "qlog": {
      const [trace, form] = call.arguments;
      return answer({ id, result: engine.ask<string>({ name: "qlog", trace: json(trace), sequence: form === "sqlog" }) });
    }
    case "trials": {
      const [setup, seeds] = call.arguments;
      let lastReport = clock();
      if (seeds[0] !== undefined) onTrial(seeds[0]);
      read(engine, setup);
      const found = engine.ask<Tables>({ name: "trials", seeds }, (finished) => {
        const next = seeds[finished];
        if (next !== undefined) onTrial(next);
        if (clock() - lastReport > REPORT_EVERY_MS) {
          lastReport = clock();
          answer({ id, finished });
        }
        return true;
      });
      const outcomes: Outcomes = engine.tables(found);
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
