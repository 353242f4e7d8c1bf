// The commands that set something up, as one part of the build; read-and-repair.ts says why.

export * from "./config.ts";
export * from "./convert.ts";
export * from "./demo.ts";
export * from "./disable.ts";
export * from "./enable.ts";
export * from "./stack.ts";
export * from "./unwrap.ts";
export * from "./wrap.ts";
