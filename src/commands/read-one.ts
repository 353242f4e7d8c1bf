// The commands that show one session, what is found over all, and what is printed without a command, as one part of the build. `sessions` and `report`, which people run most, are not in it:
// they would start 5 ms later with this code, see scripts/bundle.mjs

export * from "./explain.ts";
export * from "./insights.ts";
export * from "./overview.ts";
export * from "./show.ts";
