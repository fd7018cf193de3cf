// Calls functions of the page under Node: `node call.mjs LAB MODULE`, with [[name, ...arguments], ...] on standard input. Prints what
// each returns. Numbers that JSON lacks are the texts "NaN", "Infinity" and "-Infinity", on both sides.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [lab, file] = process.argv.slice(2);
const vite = await import(pathToFileURL(createRequire(`${lab}/package.json`).resolve("vite")).href);
const { module } = await vite.runnerImport(`${lab}/src/${file}`, { root: lab, configFile: `${lab}/vite.config.ts`, logLevel: "error" });
const LACKING = new Map([NaN, Infinity, -Infinity].map((value) => [String(value), value]));
const calls = JSON.parse(await text(process.stdin), (_, value) => (LACKING.has(value) ? LACKING.get(value) : value));
const found = calls.map(([name, ...words]) => module[name](...words));
console.log(JSON.stringify(found, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : ArrayBuffer.isView(value) ? [...value] : value)));
