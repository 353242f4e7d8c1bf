import { existsSync } from "node:fs";
import { BROWSER_FILES, IS_WHOLE, SLOW_FILES } from "./whole.ts";

/** Prints once, before all tests, which tests run, and what `npm test` leaves to `npm run test:all`. */
export default function printSelection(): void {
  const missing = Object.keys(SLOW_FILES).filter((file) => !existsSync(file));
  if (missing.length > 0) throw new Error(`test/support/whole.ts names files that do not exist: ${missing.join(", ")}`);
  console.log(
    IS_WHOLE
      ? "npm run test:all: every test file, every recording, every random input"
      : `npm test: a selection of recordings, an eighth of the random inputs, without ${Object.keys(SLOW_FILES).length} slow files; everything: npm run test:all`,
  );
  if (BROWSER_FILES.length > 0) console.log(`!!! SKIPPED: without Chromium, ${BROWSER_FILES.join(", ")}`);
}
