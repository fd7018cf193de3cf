// Runs the engine with controllers of readers, in the worker of a sandbox (sandbox.ts): without network, and sealed.

import type { Answer, Call } from "../engine/calls";
import { forget, refused, serve } from "../engine/serve";
import { Wasm } from "../engine/wasm";
import { Host } from "./host";
import { Mistake } from "./mistake";
import { isolate } from "./isolation";

const clock = performance.now.bind(performance);
const ALIVE_EVERY_MS = 500;

onmessage = ({ data, ports }: MessageEvent<{ bytes: ArrayBuffer }>) => {
  const [port] = ports;
  if (!port) return;
  const post = port.postMessage.bind(port) as (message: Answer, moved?: ArrayBuffer[]) => void;
  const engine = new Wasm(new WebAssembly.Module(data.bytes));
  let call: Call | null = null;
  let lastReport = clock();
  const host = new Host(engine.ask({ name: "records" }), engine.draw, () => {
    if (!call || clock() - lastReport < ALIVE_EVERY_MS) return;
    lastReport = clock();
    post({ id: call.id, alive: true } satisfies Answer);
  });
  engine.controllers = host;
  isolate();
  const answer = (message: Answer, moved: ArrayBuffer[] = []) => post(message, moved);
  port.onmessage = async ({ data: asked }: MessageEvent<Call>) => {
    call = asked;
    lastReport = clock();
    answer({ id: asked.id, alive: true }); // from here on its silence is that of code of the reader
    host.seed = null;
    try {
      const setup = asked.name === "about" || asked.name === "qlog" ? undefined : asked.arguments[0];
      if (setup && (await host.load(setup.files ?? {}))) forget();
      serve(engine, asked, answer, (seed) => (host.seed = seed));
    } catch (error) {
      if (error instanceof Mistake) {
        answer({ id: asked.id, refused: { message: error.message, line: error.line, key: null, file: error.file }, thrown: true });
      } else answer(refused(asked.id, error));
    }
    call = null;
  };
};
