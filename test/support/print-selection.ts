import { readdirSync } from "node:fs";
import { BROWSER_FILES, IS_OTHER_NODE, IS_WHOLE } from "./whole.ts";

/** Prints once, before all tests, which tests run, and what `npm test` leaves to `npm run test:all`. */
export default function printSelection(): void {
  const slow = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".slow.test.ts"),
  );
  console.log(
    IS_WHOLE
      ? "npm run test:all: every test file, every recording, every random input"
      : `npm test: a selection of recordings, an eighth of the random inputs, without ${slow.length} slow files; everything: npm run test:all`,
  );
  if (IS_OTHER_NODE)
    console.log(`Another version of Node: without the tests of code that is the same in every version`);
  if (BROWSER_FILES.length > 0) console.log(`!!! SKIPPED: without Chromium, ${BROWSER_FILES.join(", ")}`);
}
