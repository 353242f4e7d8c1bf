import { defineConfig } from "vitest/config";
import { ISOLATED_FILES, SLOW_FILES } from "../support/whole.ts";
import { NOT_RUN } from "./selection.ts";

const EXCLUDED = [...Object.keys(SLOW_FILES), ...Object.keys(NOT_RUN)];

/** The selection of `npm test`, run by vitest in Windows. See `repository.windows.ts`. */
export default defineConfig({
  test: {
    globalSetup: ["test/support/isolate-home.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    expect: { requireAssertions: true },
    projects: [
      {
        extends: true,
        // Wine takes seconds to load what a file imports, so the files share processes
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...EXCLUDED, ...ISOLATED_FILES],
        },
      },
      { extends: true, test: { name: "isolated", include: [...ISOLATED_FILES], exclude: EXCLUDED } },
    ],
  },
});
