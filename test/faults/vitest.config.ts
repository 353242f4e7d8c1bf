import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/faults/long/**/*.faults.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
