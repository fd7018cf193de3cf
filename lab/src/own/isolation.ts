// Takes from a worker what reaches out of it, before code of others runs there. The policy of its document (sandbox.html)
// refuses connections already: this is the second lock. A controller has no clock and no random numbers either.
// What is left is frozen: files of several controllers share it.

import { freeze } from "./freeze";

const REACHING = [
  "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts", "Worker", "SharedWorker",
  "BroadcastChannel", "indexedDB", "caches", "navigator", "postMessage", "MessageChannel", "Notification", "RTCPeerConnection",
  "Date", "performance", "setTimeout", "setInterval", "queueMicrotask", "requestAnimationFrame", "cancelAnimationFrame", "scheduler",
  "crypto", "Intl", "Temporal", "PerformanceObserver", "File",
];

export function isolate(): void {
  for (const name of REACHING) {
    for (let holder: object | null = globalThis; holder; holder = Object.getPrototypeOf(holder) as object | null) {
      if (!Object.hasOwn(holder, name)) continue;
      Object.defineProperty(holder, name, { value: undefined, writable: false, configurable: false });
    }
  }
  Object.defineProperty(Event.prototype, "timeStamp", { value: undefined, writable: false, configurable: false });
  Math.random = () => {
    throw new Error("a controller has no random numbers but path.random()");
  };
  freeze();
}
