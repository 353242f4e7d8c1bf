import fc from "fast-check";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type RecordedHome, recordedCases, recordedHome } from "../../import/home.ts";
import { compareBoth, MadeFiles } from "../../support/at-once.ts";
import { madeSessions } from "../../support/claude-lines.ts";
import { locateAll } from "../../support/located.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

describe("recorded sessions", async () => {
  const cases = (await recordedCases()).filter(({ source }) => source === "claude-code");
  let at: RecordedHome | undefined;
  afterEach(() => at?.replay.remove());
  let [all, atOnce] = [0, 0];

  test.each(cases)("$name: at once it tells what it tells line by line", async (of) => {
    at = await recordedHome(of);
    const { reader, home, roots } = at;
    const { sessions } = await locateAll(reader, home, roots);
    expect(sessions).not.toEqual([]);
    for (const session of sessions) {
      const files = await reader.files({ ...session, roots });
      all++;
      if ((await compareBoth(files)) !== undefined) atOnce++;
    }
  });

  test("all of them are read at once, but the one whose calls are known by their input", () => {
    expect({ all, atOnce }).toEqual({ all: 30, atOnce: 29 });
  });
});

test("whatever stands in its files, a session tells at once what it tells line by line, or is left to that", async () => {
  let [all, atOnce] = [0, 0];
  await fc.assert(
    fc.asyncProperty(madeSessions(), (session) =>
      made.check(session, async (files) => {
        all++;
        if ((await compareBoth(files)) !== undefined) atOnce++;
      }),
    ),
    { numRuns: 800, endOnFailure: true },
  );
  expect(atOnce).toBeGreaterThan(all / 3);
});
