// The commands that set something up, as one part of the build; see read-and-repair.ts for the reason. None
// of them needs the store, so that they also work where libsql is missing.

export * from "./beside-hooks.ts";
export * from "./config.ts";
export * from "./conformance.ts";
export * from "./convert.ts";
export * from "./disable.ts";
export * from "./enable.ts";
export * from "./managed.ts";
export * from "./stack.ts";
export * from "./start.ts";
export * from "./uninstall.ts";
export * from "./unwrap.ts";
export * from "./wrap.ts";
