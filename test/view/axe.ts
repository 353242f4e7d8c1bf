import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** What axe finds on the shown page, one line each: rule, impact, element. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate<readonly string[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, impact, nodes }) => nodes.map(({ html }) => id + " (" + impact + "): " + html.slice(0, 160))))`,
  );
}

// --- internal ---

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
