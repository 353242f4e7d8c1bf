import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Real backends on loopback. Not part of `npm test`. */
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  test: {
    include: ["test/stack/**/*.stack.ts"],
    // Only for `node scripts/dashboard-pictures.mjs`
    exclude: process.env["OPENHOOK_STACK_SCREENS"] === undefined ? ["test/stack/pictures.stack.ts"] : [],
    // Only against hanging
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    maxWorkers: 2,
    reporters: ["verbose"],
  },
});
