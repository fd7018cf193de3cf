// Runs trials in the WebAssembly engine under Node: requests as JSON on standard input, answers on standard output.
// node trials.mjs MODULE < [{"text", "name", "sets", "controllers", "seed", "traced"}]

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

const engine = createRequire(import.meta.url)(process.argv[2]);

/** Typed arrays as lists; NaN as null and seeds as texts, since JSON has neither. */
function plain(key, value) {
  if (typeof value === "bigint") return String(value);
  if (value instanceof BigUint64Array) return Array.from(value, String);
  if (ArrayBuffer.isView(value)) return Array.from(value, (number) => (Number.isNaN(number) ? null : number));
  return value;
}

const answers = JSON.parse(readFileSync(0, "utf8")).map(({ text, name, sets, controllers, seed, traced }) => {
  try {
    const scenario = new engine.Scenario(text, name, sets, controllers);
    const begin = performance.now();
    const trial = scenario.run(BigInt(seed), traced);
    const milliseconds = performance.now() - begin;
    const rows = Object.fromEntries(
      Object.entries(trial.trace ?? {}).map(([table, columns]) => [table, columns.time_s.length]),
    );
    return { hash: trial.outcomes.trials.trace_hash[0], outcomes: trial.outcomes, rows, milliseconds };
  } catch (error) {
    return { name: error.name, message: error.message, line: error.line, key: error.key };
  }
});
process.stdout.write(JSON.stringify(answers, plain));
