// The commands that set something up, as one part of the build. Each `import()` in cli.ts splits the
// shared code further: with one per command, a drain loaded 106 files instead of 70, 15 ms of its 200.

export * from "./config.ts";
export * from "./convert.ts";
export * from "./demo.ts";
export * from "./disable.ts";
export * from "./enable.ts";
export * from "./stack.ts";
export * from "./unwrap.ts";
export * from "./wrap.ts";
