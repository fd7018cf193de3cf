// Builds the page into the Python package, from which wheels ship it. Addresses are relative: the page may stand anywhere.

import { defineConfig } from "vite";

const below = (folder: string) => decodeURIComponent(new URL(folder, import.meta.url).pathname);

export default defineConfig({
  base: "./",
  resolve: { alias: { "@engine": below("../target/web"), "@thalweg": below("../python/thalweg") } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
  build: {
    outDir: below("../python/thalweg/lab/page"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // what is inlined would need exceptions in the content security policy
    modulePreload: { polyfill: false },
  },
  server: { fs: { allow: [below("..")] } },
});
