// Calls functions of the page under Node: `node call.mjs LAB`, with a line [MODULE, [[name, ...arguments], ...]] for each question on
// standard input. Answers each with a line: what the functions return, or the error. A module is read once. Numbers that JSON lacks
// are the texts "NaN", "Infinity" and "-Infinity", on both sides.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [lab] = process.argv.slice(2);
const vite = await import(pathToFileURL(createRequire(`${lab}/package.json`).resolve("vite")).href);
const found = await vite.loadConfigFromFile({ command: "serve", mode: "test" }, `${lab}/vite.config.ts`, lab, "error");
const options = { root: lab, resolve: found.config.resolve, oxc: found.config.oxc, logLevel: "error" };
const modules = new Map();
const LACKING = new Map([NaN, Infinity, -Infinity].map((value) => [String(value), value]));

async function answered(file, calls) {
  if (!modules.has(file)) modules.set(file, (await vite.runnerImport(`${lab}/src/${file}`, options)).module);
  const answers = [];
  for (const [name, ...words] of calls) answers.push(await modules.get(file)[name](...words));
  return answers;
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line, (_, value) => (LACKING.has(value) ? LACKING.get(value) : value));
  const answer = await answered(...question).then((answers) => ({ answers }), (error) => ({ error: error.stack }));
  console.log(JSON.stringify(answer, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : ArrayBuffer.isView(value) ? [...value] : value)));
}
