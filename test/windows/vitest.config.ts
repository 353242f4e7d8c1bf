import { defineConfig } from "vitest/config";

/** The packed program under Wine, one file after another. Not part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/windows/*.windows.ts"],
    globalSetup: "test/windows/setup.ts",
    testTimeout: 240_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    reporters: ["verbose"],
    expect: { requireAssertions: true },
  },
});
