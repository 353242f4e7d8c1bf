// The commands that people run most, in one file, so that the build makes one chunk of them: see scripts/bundle.mjs. `show` and
// `explain` are apart, because their code would make these 5 ms slower

export * from "./report.ts";
export * from "./sessions.ts";
