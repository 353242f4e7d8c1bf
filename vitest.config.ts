import { defineConfig } from "vitest/config";
import { PATIENCE_MS } from "./test/support/patience.ts";
import { IS_WHOLE, ISOLATED_FILES, SLOW_FILES } from "./test/support/whole.ts";

export default defineConfig({
  test: {
    exclude: IS_WHOLE ? [] : Object.keys(SLOW_FILES),
    globalSetup: ["test/support/print-selection.ts", "test/support/isolate-home.ts"],
    // Only against hanging: how long a test takes says nothing on a machine that does other work too
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // A test without assertions fails, for example when the list it walks is empty
    expect: { requireAssertions: true, poll: { timeout: PATIENCE_MS } },
    // Some tests wait for processes more than they compute
    maxWorkers: 3,
    // Files that replace modules or globals are listed apart
    projects: IS_WHOLE
      ? [{ extends: true, test: { name: "all", include: ["test/**/*.test.ts"] } }]
      : [
          {
            extends: true,
            test: { name: "shared", isolate: false, include: ["test/**/*.test.ts"], exclude: [...ISOLATED_FILES] },
          },
          { extends: true, test: { name: "isolated", include: [...ISOLATED_FILES] } },
        ],
  },
});
