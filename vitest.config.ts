import { defineConfig } from "vitest/config";
import { IS_WHOLE, SLOW_FILES } from "./test/support/whole.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: IS_WHOLE ? [] : Object.keys(SLOW_FILES),
    globalSetup: "test/support/say-what-runs.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A test without assertions fails, for example when the list it walks is empty
    expect: { requireAssertions: true },
    // Some tests wait for processes more than they compute
    maxWorkers: 3,
  },
});
