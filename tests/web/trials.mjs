// Runs trials in the WebAssembly engine under Node: requests as JSON on standard input, answers on standard output.
// node trials.mjs LAB MODULE < [{"text", "name", "sets", "controllers", "seed", "traced"}]

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const [lab, file] = process.argv.slice(2);
const vite = await import(pathToFileURL(createRequire(`${lab}/package.json`).resolve("vite")).href);
const { module } = await vite.runnerImport(`${lab}/src/engine/wasm.ts`, { root: lab, configFile: `${lab}/vite.config.ts`, logLevel: "error" });
const engine = new module.Wasm(new WebAssembly.Module(readFileSync(file)));

/** Typed arrays as lists; NaN as null and seeds as texts, since JSON has neither. */
function plain(key, value) {
  if (typeof value === "bigint") return String(value);
  if (value instanceof BigUint64Array) return Array.from(value, String);
  if (ArrayBuffer.isView(value)) return Array.from(value, (number) => (Number.isNaN(number) ? null : number));
  return value;
}

const answers = JSON.parse(readFileSync(0, "utf8")).map(({ text, name, sets, controllers, seed, traced }) => {
  try {
    engine.ask({ name: "read", text, origin: name, sets, controllers });
    const begin = performance.now();
    const found = engine.ask({ name: "run", seed: BigInt(seed), traced });
    const [outcomes, trace] = [engine.tables(found.outcomes), engine.tables(found.trace ?? {})];
    const milliseconds = performance.now() - begin;
    const rows = Object.fromEntries(Object.entries(trace).map(([table, columns]) => [table, columns.time_s.length]));
    return { hash: outcomes.trials.trace_hash[0], outcomes, rows, milliseconds };
  } catch (error) {
    return { name: error.name, message: error.message, line: error.line, key: error.key };
  }
});
process.stdout.write(JSON.stringify(answers, plain));
