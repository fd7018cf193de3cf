// Runs the engine in a worker. It is ended from outside when a call is to stop: nothing here has to ask.

import type { Answer, Call, Start } from "./calls";
import { refused, serve } from "./serve";
import { Wasm } from "./wasm";

let engine: Wasm;

function answer(message: Answer, moved: ArrayBuffer[] = []): void {
  postMessage(message, { transfer: moved });
}

onmessage = ({ data }: MessageEvent<Call | Start>) => {
  if ("module" in data) {
    engine = new Wasm(data.module);
    return;
  }
  try {
    serve(engine, data, answer);
  } catch (error) {
    answer(refused(data.id, error));
  }
};
