// Takes from a worker what reaches out of it, before code of others runs there. The policy of its document (sandbox.html)
// refuses connections already: this is the second lock. A controller has no clock and no random numbers either.

const REACHING = [
  "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "importScripts", "Worker", "SharedWorker",
  "BroadcastChannel", "indexedDB", "caches", "navigator", "postMessage", "MessageChannel", "Notification", "RTCPeerConnection",
  "Date", "performance", "setTimeout", "setInterval", "queueMicrotask", "requestAnimationFrame", "cancelAnimationFrame", "scheduler",
  "crypto", "Intl", "Temporal", "PerformanceObserver", "File",
];

/** What the engine and its answers pass through. */
const PASSED: object[] = [
  MessagePort.prototype, MessageEvent.prototype, JSON, Object.getPrototypeOf(Uint8Array.prototype) as object,
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array].map((kind) => kind.prototype),
  BigInt64Array.prototype, BigUint64Array.prototype, ArrayBuffer.prototype,
];

export function seal(): void {
  for (const name of REACHING) {
    for (let holder: object | null = globalThis; holder; holder = Object.getPrototypeOf(holder) as object | null) {
      if (!Object.hasOwn(holder, name)) continue;
      Object.defineProperty(holder, name, { value: undefined, writable: false, configurable: false });
    }
  }
  Object.defineProperty(Event.prototype, "timeStamp", { value: undefined, writable: false, configurable: false });
  for (const object of PASSED) Object.freeze(object);
  Math.random = () => {
    throw new Error("a controller has no random numbers but path.random()");
  };
}
