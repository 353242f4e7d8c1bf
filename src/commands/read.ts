// All commands of dist/read.cjs in one file, so that the build makes one chunk of them: see scripts/bundle.mjs

export * from "./explain.ts";
export * from "./report.ts";
export * from "./sessions.ts";
export * from "./show.ts";
