import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doctor } from "#commands/doctor.ts";
import { explain } from "#commands/explain.ts";
import { sessions } from "#commands/sessions.ts";
import { show } from "#commands/show.ts";
import { status } from "#commands/status.ts";
import { shownLines } from "#kit/text/ascii.ts";
import { ProgressLine } from "#kit/text/progress.ts";
import { contextAt } from "../support/context.ts";
import { ROOT } from "../support/program.ts";
import { Replay } from "../support/replay.ts";

const HOOK = join(ROOT, "src", "collect", "intake", "hook.sh");
const AGENTS = { list: async () => [], find: async () => undefined };
const ASCII = /^[\n\x20-\x7e]+$/;
const PLAIN: Readonly<Record<string, string>>[] = [{ LC_ALL: "C" }, { LANG: "POSIX" }, { TERM: "dumb" }];

describe("a locale with ASCII only", () => {
  test.each([
    ["≥$2.22", ">=$2.22"],
    ["cost  ≥$2.22", "cost >=$2.22"],
    ["a     ≥12→≥34", "a    >=12/>=34"],
    ["in ≥ 5 · out ≥ 6", "in >=5 - out >=6"],
    ["… 3 days without a session", "... 3 days without a session"],
    ["\u001b[2m… 3 days without a session\u001b[22m", "\u001b[2m... 3 days without a session\u001b[22m"],
    ["a-long-na…  5", "a-long-na~  5"],
    ["  → openhook-otel enable", "  > openhook-otel enable"],
    ["└─ 50 → 70", "`- 50 > 70"],
    ["✓ ✗ ▌▐█ ╸╺━┄", "+ x ### --=."],
    ["naïve/日本", "naïve/日本"],
  ])("%s becomes %s", (line, plain) => {
    expect([...shownLines([line], { env: { LC_ALL: "C" } })]).toEqual([plain]);
    expect([...shownLines([line], { env: { LANG: "C.UTF-8" } })]).toEqual([line]);
  });

  describe("commands in such a locale", () => {
    let of: Replay;
    beforeAll(async () => {
      of = new Replay("claude-code", "nested-subagents");
      for (const call of of.calls) of.put(call);
      await of.drain({ endIdle: true });
    });
    afterAll(() => of.remove());

    test.each(Object.entries({ doctor, explain, sessions, show, status }))("%s prints ASCII only", async (name) => {
      for (const env of PLAIN) {
        const { context, out } = contextAt(of.places, { env });
        if (name === "doctor") await doctor({ json: false, fix: false, hookSource: HOOK }, context, AGENTS);
        else if (name === "explain") await explain(undefined, { json: false }, context);
        else if (name === "sessions") await sessions({ limit: 10, json: false }, context);
        else if (name === "show") await show(undefined, { json: false, envelopes: false }, context);
        else await status({ json: false }, context);
        expect(out(), JSON.stringify(env)).toMatch(ASCII);
      }
    });

    test("progress is in ASCII, and absent where a line cannot be overwritten", () => {
      const shown = (env: Readonly<Record<string, string>>): readonly string[] => {
        const lines: string[] = [];
        const { context } = contextAt(of.places, { env });
        const stderr = { ...context.stderr, isTTY: true, columns: 80, rewrite: (text: string) => lines.push(text) };
        const progress = new ProgressLine({ ...context, stderr });
        progress.line(0.5, "reading");
        progress.clear();
        return lines;
      };
      expect(shown({})).toEqual([`${"█".repeat(12)}${"░".repeat(12)}  50%  reading`, ""]);
      expect(shown({ LC_ALL: "C" })).toEqual([`${"#".repeat(12)}${".".repeat(12)}  50%  reading`, ""]);
      expect(shown({ TERM: "dumb" })).toEqual([]);
    });
  });
});
