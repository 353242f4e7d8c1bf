import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PATIENCE_MS } from "./test/support/patience.ts";
import {
  BROWSER_FILES,
  IS_OTHER_NODE,
  IS_WHOLE,
  ISOLATED_FILES,
  LONG_FILES,
  SAME_IN_EVERY_NODE,
} from "./test/support/whole.ts";

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG_FILES.some((name) => moduleId.endsWith(`/${name}`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    exclude: [
      ...(IS_WHOLE ? [] : ["test/**/*.slow.test.ts"]),
      ...(IS_OTHER_NODE ? SAME_IN_EVERY_NODE : []),
      ...BROWSER_FILES,
    ],
    sequence: { sequencer: LongestFirst },
    globalSetup: ["test/support/print-selection.ts", "test/support/isolate-home.ts"],
    // Only against hanging: how long a test takes says nothing on a machine that does other work too
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // A test without assertions fails, for example when the list it walks is empty
    expect: { requireAssertions: true, poll: { timeout: PATIENCE_MS } },
    // Some tests wait for processes more than they compute
    maxWorkers: 3,
    // Files that replace modules or globals are listed apart
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: [...ISOLATED_FILES],
          setupFiles: ["test/support/unsynced-stores.ts"],
        },
      },
      { extends: true, test: { name: "isolated", include: [...ISOLATED_FILES] } },
    ],
  },
});
