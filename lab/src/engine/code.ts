// The code of the engine: fetched once, and again after it could not be had.

import address from "@engine/thalweg_web.wasm?url";

class Fetched<Content> {
  private content: Promise<Content> | null = null;

  constructor(private readonly fetch: () => Promise<Content>) {}

  get(): Promise<Content> {
    this.content ??= this.fetch().catch((error: unknown) => {
      this.content = null;
      throw error;
    });
    return this.content;
  }
}

async function answer(file: string): Promise<Response> {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  return response;
}

/** Compiled; workers share the compiled code. */
export const compiled = new Fetched(async () => {
  const response = await answer(address);
  // Not every static server names the type of the file, which compileStreaming insists on.
  return response.headers.get("Content-Type") === "application/wasm"
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
});

/** As bytes, for a place that shares nothing with this page. */
export const bytes = new Fetched(async () => (await answer(address)).arrayBuffer());

/** The text of a script of this page. */
export const script = (file: string) => new Fetched(async () => (await answer(file)).text());
