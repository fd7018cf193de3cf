// Calls that are answered one after the other, by a worker or over a connection.

import type { Refused } from "./calls";
import { Refusal } from "./engine";

/** What the other end says of a call. */
export type Answer<Reply> =
  | { finished: number; live?: unknown }
  | { refused: Refused }
  | { failed: string }
  | { reply: Reply };

/** The other end: asked the first call that waits, and told when the call that it works on is wanted no more. */
export interface OtherEnd<Question> {
  ask(id: number, question: Question): void;
  stop(id: number): void;
}

interface QueuedCall<Question, Reply> {
  id: number;
  question: Question;
  resolve: (reply: Reply) => void;
  reject: (reason: unknown) => void;
  onFinished: ((count: number, live?: unknown) => void) | undefined;
}

export class CallQueue<Question, Reply> {
  private waiting: QueuedCall<Question, Reply>[] = [];
  private number = 0;

  constructor(private readonly end: OtherEnd<Question>) {}

  /** Asks when those before have been answered. A stopped call ends at once. */
  call(question: Question, signal?: AbortSignal, onFinished?: (count: number, live?: unknown) => void): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const own = { id: ++this.number, question, resolve, reject, onFinished };
      this.waiting.push(own);
      signal?.addEventListener("abort", () => this.stop(own, signal.reason), { once: true });
      if (this.waiting.length === 1) this.ask();
    });
  }

  /** Asks the first that waits: also again, when the other end has been replaced. */
  ask(): void {
    const [first] = this.waiting;
    if (first) this.end.ask(first.id, first.question);
  }

  /** Takes what is said of a call; whether anybody waits for it. The next one is asked by `ask`. */
  hear(id: number, said: Answer<Reply>): boolean {
    const [first] = this.waiting;
    if (!first || first.id !== id) return false;
    if ("finished" in said) {
      first.onFinished?.(said.finished, said.live);
      return true;
    }
    this.waiting.shift();
    if ("reply" in said) first.resolve(said.reply);
    else if ("failed" in said) first.reject(new Error(said.failed));
    else {
      const { message, line, key, file } = said.refused;
      first.reject(new Refusal(message, line, key, file ?? null));
    }
    return true;
  }

  /** The first call has no answer. */
  fail(error: Error): void {
    this.waiting.shift()?.reject(error);
  }

  /** No call has an answer. */
  failAll(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }

  get isIdle(): boolean {
    return this.waiting.length === 0;
  }

  private stop(stopped: QueuedCall<Question, Reply>, reason: unknown): void {
    const index = this.waiting.indexOf(stopped);
    if (index < 0) return; // it has finished
    this.waiting.splice(index, 1);
    stopped.reject(reason);
    if (index === 0) this.end.stop(stopped.id);
  }
}
