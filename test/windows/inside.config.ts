import { defineConfig } from "vitest/config";
import { ISOLATED_FILES } from "../support/whole.ts";
import { KNOWN, NOT_RUN } from "./selection.ts";

/** The real Windows of GitHub makes links, so in these files other tests fail there. */
const ONLY_IN_WINE = process.env["GITHUB_ACTIONS"] === "true" ? KNOWN.map(([file]) => file) : [];
const EXCLUDED = ["test/**/*.slow.test.ts", ...Object.keys(NOT_RUN), ...ONLY_IN_WINE];

/** The selection of `npm test`, run by vitest in Windows: by `repository.windows.ts`, and on GitHub. */
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
