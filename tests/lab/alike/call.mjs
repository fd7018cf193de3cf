// Calls functions of the page under Node: `node call.mjs LAB MODULE`, with [[name, ...arguments], ...] on standard input. Prints what
// each returns. Numbers that JSON lacks are the texts "NaN", "Infinity" and "-Infinity", on both sides.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [lab, file] = process.argv.slice(2);
const vite = await import(pathToFileURL(createRequire(`${lab}/package.json`).resolve("vite")).href);
const found = await vite.loadConfigFromFile({ command: "serve", mode: "test" }, `${lab}/vite.config.ts`, lab, "error");
const { module } = await vite.runnerImport(`${lab}/src/${file}`, { root: lab, resolve: found.config.resolve, oxc: found.config.oxc, logLevel: "error" });
const LACKING = new Map([NaN, Infinity, -Infinity].map((value) => [String(value), value]));
const calls = JSON.parse(await text(process.stdin), (_, value) => (LACKING.has(value) ? LACKING.get(value) : value));
const answers = [];
for (const [name, ...words] of calls) answers.push(await module[name](...words));
console.log(JSON.stringify(answers, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : ArrayBuffer.isView(value) ? [...value] : value)));
