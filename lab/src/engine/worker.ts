// Runs the engine in a worker. It is ended from outside when a call is to stop: nothing here has to ask.

import { initSync } from "@engine/thalweg_web.js";
import type { Answer, Call, Start } from "./calls";
import { refused, serve } from "./serve";

function answer(message: Answer, moved: ArrayBuffer[] = []): void {
  postMessage(message, { transfer: moved });
}

onmessage = ({ data }: MessageEvent<Call | Start>) => {
  if ("module" in data) {
    initSync({ module: data.module });
    return;
  }
  try {
    serve(data, answer);
  } catch (error) {
    answer(refused(data.id, error));
  }
};
