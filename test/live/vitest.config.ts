import { defineConfig } from "vitest/config";

/** Real agents, two at a time. Not part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/live/*.live.ts"],
    // Only against hanging
    testTimeout: 900_000,
    hookTimeout: 900_000, // npm downloads the agents
    maxWorkers: 2,
    reporters: ["verbose"],
  },
});
