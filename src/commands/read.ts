// The commands of dist/read.cjs as one part of the build, see scripts/bundle.mjs

export * from "./explain.ts";
export * from "./report.ts";
export * from "./sessions.ts";
export * from "./show.ts";
