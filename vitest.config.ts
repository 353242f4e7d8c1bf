import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test that looks at nothing, since what it goes through is empty, fails
    expect: { requireAssertions: true },
    // Some tests wait for processes more than they work
    maxWorkers: 3,
  },
});
