// Where controllers of readers run: a worker in a frame of no origin, whose policy allows no connection (sandbox.html).
// Removing the frame ends what runs there, also a loop without end.

import address from "./sandboxed.ts?worker&url";
import { bytes, script } from "../engine/code";
import type { Port } from "../engine/lane";

const code = script(address);
const PATIENCE_MS = 20_000;

export async function sandbox(): Promise<Port> {
  const [worker, engine] = await Promise.all([code.get(), bytes.get()]);
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.hidden = true;
  frame.title = "where controllers of your own run";
  frame.src = new URL("sandbox.html", document.baseURI).href;
  const { port1: port, port2 } = new MessageChannel();
  const own: Port = {
    postMessage: (message) => port.postMessage(message),
    terminate: () => {
      port.close();
      frame.remove();
    },
    onmessage: null,
    onerror: null,
  };
  try {
    await said(frame);
  } catch (error) {
    own.terminate();
    throw error;
  }
  port.onmessage = (event: MessageEvent) => own.onmessage?.(event);
  // In a function, since it is not a module there: code of the reader sees none of its names. A frame without origin has no address that one could name.
  frame.contentWindow?.postMessage({ worker: `(() => {"use strict";${worker}\n})()`, engine }, "*", [port2]);
  return own;
}

/** When the frame says that it is ready. */
function said(frame: HTMLIFrameElement): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => end(() => reject(new Error("its frame, sandbox.html, does not answer"))), PATIENCE_MS);
    const hear = ({ source }: MessageEvent) => {
      if (source === frame.contentWindow) end(resolve);
    };
    const end = (then: () => void) => {
      clearTimeout(late);
      removeEventListener("message", hear);
      then();
    };
    addEventListener("message", hear);
    document.body.append(frame);
  });
}
