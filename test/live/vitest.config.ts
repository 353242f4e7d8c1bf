import { defineConfig } from "vitest/config";

/** Real agents, two at a time. Not part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/live/*.live.ts"],
    testTimeout: 180_000,
    hookTimeout: 900_000, // npm downloads the agents
    maxWorkers: 2,
    reporters: ["verbose"],
  },
});
