// Slow: only `npm run test:all` runs it. How benchmarks measure processes; bench/backend.test.ts and bench/corpus.test.ts have
// their parts.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import * as z from "zod";
import { ROOT } from "../support/replay.ts";

/** Runs the benchmarks' JavaScript the way they run, without importing it. */
async function evaluated(code: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: ROOT });
  return JSON.parse(stdout);
}

test("processor time and peak memory include a command's children", async () => {
  const child = "const held = Buffer.alloc(200 << 20, 1); while (process.cpuUsage().user < 200_000) held[0]++;";
  const parent = `require("node:child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(child)}])`;
  const measured = z
    .object({ wallMs: z.number(), cpuMs: z.number(), peakKib: z.number().optional(), stdout: z.string() })
    .parse(
      await evaluated(`
        import { measure } from "./bench/lib/measure.mjs";
        const command = [process.execPath, "-e", ${JSON.stringify(`${parent}; console.log("done")`)}];
        console.log(JSON.stringify(await measure(command, { env: process.env })));`),
    );
  expect(measured.stdout).toBe("done\n");
  expect(measured.cpuMs).toBeGreaterThanOrEqual(200);
  expect(measured.wallMs).toBeGreaterThan(0);
  if (process.platform === "linux" && existsSync("/usr/bin/time")) {
    expect(measured.peakKib).toBeGreaterThan(200 * 1024);
  } else {
    expect(measured.peakKib).toBeUndefined();
  }
});

test("a failed command is an error", async () => {
  const failing = evaluated(`
    import { measure } from "./bench/lib/measure.mjs";
    const command = [process.execPath, "-e", "console.error('no such shop'); process.exit(3)"];
    await measure(command, { env: process.env });`);
  await expect(failing).rejects.toThrow(/ended with 3: no such shop/);
});

test("figures have the median and the quartiles of the measurements", async () => {
  const found = await evaluated(`
    import { median, ratios, spread } from "./bench/lib/figures.mjs";
    const plain = (value) => String(value);
    console.log(JSON.stringify([
      median([9, 1, 5]), median([4, 1, 3, 2]), median([10, 9]), spread([5, 1, 4, 2, 3], plain), spread([7], plain),
      ratios([2, 9], [4, 3]),
    ]));`);
  expect(found).toEqual([5, 2, 9, "2 to 4", "7 to 7", [0.5, 3]]);
});
