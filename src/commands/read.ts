// The commands that people run most, as one part of the build: see scripts/bundle.mjs

export * from "./report.ts";
export * from "./sessions.ts";
