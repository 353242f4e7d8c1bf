import { defineConfig } from "vitest/config";

/** The packed program under Wine, one file after another. Not part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/windows/*.windows.ts"],
    globalSetup: "test/windows/setup.ts",
    // Only against hanging
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    fileParallelism: false,
    reporters: ["verbose"],
    expect: { requireAssertions: true },
  },
});
