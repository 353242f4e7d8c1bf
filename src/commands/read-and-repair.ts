// The commands that read the store, bring history into it, or repair it, as one part of the build. Each
// `import()` in definitions/ splits shared code further: with one per command, a drain loaded 106 files instead
// of 70, 15 ms of its 200. `view` stays apart: its web server needs WebAssembly as soon as it is loaded,
// which fails where the address space is limited.

export * from "./audit.ts";
export * from "./bridge.ts";
export * from "./compare.ts";
export * from "./demo.ts";
export * from "./digest.ts";
export * from "./doctor.ts";
export * from "./export.ts";
export * from "./export-audit.ts";
export * from "./export-trace.ts";
export * from "./outcomes.ts";
export * from "./pr-comment.ts";
export * from "./preview.ts";
export * from "./prune.ts";
export * from "./receive.ts";
export * from "./reconcile.ts";
export * from "./replay.ts";
export * from "./run.ts";
export * from "./status.ts";
export * from "./statusline.ts";
