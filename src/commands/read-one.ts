// The commands that show one session, as one part of the build. Apart from `sessions` and `report`, which people run most and which would
// start 5 ms later with this code: see scripts/bundle.mjs

export * from "./explain.ts";
export * from "./show.ts";
