// One worker that serves calls one after the other, and is replaced when a call is stopped or has failed.
//
// A worker that itself fails takes one call with it; only the next call starts another, so that an engine that cannot be
// loaded is asked for once for each call and no more.

import type { Answer, Call, Calls } from "./calls";
import { CallQueue } from "./call_queue";

/** A worker, or what stands for one. */
export interface Port {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

type Question = Pick<Call, "name" | "arguments">;

export class Lane {
  /** The worker that is on its way or there. */
  private opening: Promise<Port> | null = null;
  /** The worker that has the engine. */
  private worker: Port | null = null;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private readonly queue = new CallQueue<Question, unknown>({
    ask: (id, question) => {
      if (!this.opening) void this.start();
      else this.worker?.postMessage({ id, ...question });
    },
    stop: () => void this.start(),
  });

  /**
   * `open` gives a worker that has the engine. One that has begun to speak of a call and then says nothing for
   * `patienceMs` is ended, and the call fails with `impatience`.
   */
  constructor(
    private readonly open: () => Promise<Port>,
    private readonly patienceMs = Infinity,
    private readonly impatience = "",
  ) {
    void this.start();
  }

  /** Asks the worker. A stopped call ends it at once; calls that wait are asked of the next one. */
  call<Name extends keyof Calls>(
    name: Name,
    words: Calls[Name]["arguments"],
    signal?: AbortSignal,
    onFinished?: (count: number) => void,
  ): Promise<Calls[Name]["result"]> {
    const question = { name, arguments: words } as Question;
    return this.queue.call(question, signal, onFinished) as Promise<Calls[Name]["result"]>;
  }

  /** Starts a worker in the place of the present one, and asks it once it has the engine. */
  private async start(): Promise<void> {
    this.end();
    const opening = this.open();
    this.opening = opening;
    try {
      const worker = await opening;
      if (this.opening !== opening) {
        worker.terminate();
        return;
      }
      worker.onmessage = ({ data }: MessageEvent<Answer>) => this.hear(data);
      worker.onerror = (event) => this.fail(event.message || "the engine cannot be loaded: its worker has failed");
      this.worker = worker;
      this.queue.ask();
    } catch (error) {
      if (this.opening === opening) this.fail(`the engine cannot be loaded: ${(error as Error).message}`);
    }
  }

  /** Ends the worker; the next call starts another. */
  end(): void {
    clearTimeout(this.silence);
    this.worker?.terminate();
    this.worker = null;
    this.opening = null;
  }

  private hear(answer: Answer): void {
    this.listen();
    if ("alive" in answer) return;
    const said = "result" in answer ? { reply: answer.result } : answer;
    if (!this.queue.hear(answer.id, said) || "finished" in answer) return;
    clearTimeout(this.silence);
    // What is left of a trial that panicked or was thrown out of is not used again.
    if ("failed" in answer || "thrown" in answer) void this.start();
    else this.queue.ask();
  }

  private listen(): void {
    clearTimeout(this.silence);
    if (this.patienceMs === Infinity || this.queue.isIdle) return;
    this.silence = setTimeout(() => this.fail(this.impatience), this.patienceMs);
  }

  private fail(message: string): void {
    this.end();
    this.queue.fail(new Error(message));
    this.queue.ask();
  }
}
