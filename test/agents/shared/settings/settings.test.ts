import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import {
  addRegistrations,
  isOurCommand,
  type Registration,
  registeredEvents,
  removeRegistrations,
  SettingsError,
} from "#agents/shared/settings/settings.ts";
import fc from "../../../support/properties.ts";
import { runs } from "../../../support/whole.ts";

const HOOK = "[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook";

const OURS: readonly Registration[] = [
  { event: "PreToolUse", matcher: "*", entry: { type: "command", command: `${HOOK} claude-code`, timeout: 5 } },
  { event: "Stop", entry: { type: "command", command: `${HOOK} -d claude-code`, timeout: 5 } },
];
const OLDER: readonly Registration[] = [
  { event: "Stop", entry: { type: "command", command: "'/opt/openhook-otel/hook' claude-code", timeout: 3 } },
  { event: "Notification", entry: { type: "command", command: "'/opt/openhook-otel/hook' claude-code" } },
];

const add = (text: string | undefined) => addRegistrations(text, OURS);
const remove = removeRegistrations;

const PRETTY = `{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "lint-guard"
          }
        ]
      }
    ]
  },
  "env": {}
}
`;

describe("adding", () => {
  it("creates a file with two-space indent and a final line feed", () => {
    const made = add(undefined);
    expect(made).toBe(`${JSON.stringify(JSON.parse(made), null, 2)}\n`);
    expect(registeredEvents(made)).toEqual(["PreToolUse", "Stop"]);
    expect(remove(made)).toBeUndefined();
  });

  it("appends after other hooks' groups and keeps pretty-printed JSON pretty", () => {
    const added = add(PRETTY);
    expect(added).toBe(`${JSON.stringify(JSON.parse(added), null, 2)}\n`);
    expect(JSON.parse(added).hooks.PreToolUse[0]).toEqual(JSON.parse(PRETTY).hooks.PreToolUse[0]);
    expect(remove(added)).toBe(PRETTY);
  });

  it.each([
    ["tabs", JSON.stringify(JSON.parse(PRETTY), null, "\t")],
    ["four spaces", JSON.stringify(JSON.parse(PRETTY), null, 4)],
    ["twelve spaces", JSON.stringify(JSON.parse(PRETTY), null, "\t").replaceAll("\t", " ".repeat(12))],
    ["CRLF", PRETTY.replaceAll("\n", "\r\n")],
    ["no line end", PRETTY.trimEnd()],
    ["byte order mark", `\uFEFF${PRETTY}`],
    ["one line", JSON.stringify(JSON.parse(PRETTY))],
    [
      "one line with spaces",
      '{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}\n',
    ],
    ["trailing commas", PRETTY.replace('"env": {}', '"env": {},').replace('"lint-guard"', '"lint-guard",')],
    ["line comment behind the last value", PRETTY.replace('"env": {}', '"env": {} // mine')],
    ["comment behind a trailing comma", PRETTY.replace('"env": {}', '"env": {}, // mine\n  // and this')],
    ["block comments", PRETTY.replace('"env"', '/* a */ "env" /* b */').replace("{}", "/* c */ {} /* d */")],
    ["comma on the next line", '{\n  "a": 1 // one\n  , "b": 2 // two\n}'],
    ["only a comment in hooks", '{\n  "hooks": {\n    // none yet\n  }\n}\n'],
    ["a block comment in hooks", '{ "hooks": { /* none */ } }'],
    ["only a comment in an event", '{\n  "hooks": {\n    "Stop": [ // later\n    ]\n  }\n}\n'],
    ["closing on the same line", '{\n  "a": 1 }'],
    ["comments around the whole", '// top\n{\n  "a": 1\n}\n// end'],
  ])("keeps every other byte: %s", (_name, text) => {
    const added = add(text);
    expect(registeredEvents(added)).toEqual(expect.arrayContaining(["PreToolUse", "Stop"]));
    expect(add(added)).toBe(added);
    expect(remove(added)).toBe(text);
    const eol = text.includes("\r\n") ? /[^\r]\n/ : /\r/;
    expect(added).not.toMatch(eol);
  });

  it("keeps a trailing comment with its value", () => {
    expect(add('{\n  "a": 1 // one\n}')).toMatch(/^\{\n {2}"a": 1, \/\/ one\n {2}"hooks": \{\n/);
  });

  it("replaces our older registration in place and drops events no longer registered", () => {
    const user = PRETTY.replace("PreToolUse", "Stop");
    const old = addRegistrations(user, OLDER);
    const withLater = old.replace('"Notification": [', '"Notification": [ { "hooks": [] },');
    const added = add(withLater);
    const hooks = JSON.parse(added).hooks;
    expect(Object.keys(hooks)).toEqual(["Stop", "Notification", "PreToolUse"]);
    expect(hooks.Stop[1].hooks).toEqual([OURS[1]?.entry]);
    expect(hooks.Notification).toEqual([{ hooks: [] }]);
    expect(added).not.toContain("/opt/openhook-otel");
  });

  it("moves our hook out of another hook's group and keeps only one of two", () => {
    const both = JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "say" }, OURS[1]?.entry] }, { hooks: [OURS[1]?.entry] }] },
    });
    expect(JSON.parse(add(both)).hooks.Stop).toEqual([
      { hooks: [{ type: "command", command: "say" }] },
      { hooks: [OURS[1]?.entry] },
    ]);
  });

  it.each([
    ["", "the empty file"],
    [" \n", "a blank file"],
  ])("treats %j as empty settings", (text) => {
    expect(add(text)).toBe(add(undefined));
    expect(remove(text)).toBe(text);
  });
});

describe("settings that stay unchanged", () => {
  it.each([
    ['{\n  "a": 1,\n  "b" 2\n}', 3, 7, "a colon is expected"],
    ['{ "a": 1', 1, 9, "a closing } is missing"],
    ["[]", 1, 1, "an array, not an object"],
    ["null", 1, 1, "null, not an object"],
    ['{\r\n  "hooks": []\r\n}', 2, 12, '"hooks" is an array, not an object'],
    ['{\n  "hooks": null\n}', 2, 12, '"hooks" is null'],
    ['{"hooks": {"Stop": {}}}', 1, 20, '"hooks.Stop" is an object, not an array'],
    ['{"hooks": {}, "hooks": {}}', 1, 24, '"hooks" appears here a second time'],
    ['{"hooks": {"Stop": [], "Stop": []}}', 1, 32, '"hooks.Stop" appears here a second time'],
    ["hello", 1, 1, "not a JSON value"],
    ['{"a": "x\ty"}', 1, 7, "control character"],
    ['{"a": 1} {"b": 2}', 1, 10, "there is text after the end of the document"],
    [`${"[".repeat(200_000)}`, 1, 1, "nested too deeply"],
  ])("case %#", (text, line, column, what) => {
    for (const edit of [add, remove]) {
      const error = thrownBy(() => edit(text));
      expect(error).toBeInstanceOf(SettingsError);
      expect(error).toMatchObject({ line, column, message: expect.stringContaining(what) });
      expect(String(error)).toContain("correct it by hand");
    }
    expect(registeredEvents(text)).toEqual([]);
  });

  it("include a file without our hooks", () => {
    expect(remove(PRETTY)).toBe(PRETTY);
    expect(remove("{}\n")).toBe("{}\n");
  });

  it("include commands that only mention openhook-otel", () => {
    for (const command of [
      "grep -r openhook-otel .",
      "node ~/src/openhook-otel/hooks/lint.js",
      "~/openhook-otel/hook.py",
      "~/openhook-otel/hook-mine",
      'echo "#openhook-otel is installed"',
      "node hook.cjs --source x",
    ]) {
      expect(isOurCommand(command), command).toBe(false);
    }
    for (const command of [
      `${HOOK} -w claude-code`,
      `[ ! -x '/srv/x/hook' ]||exec '/srv/x/hook' claude-code #openhook-otel`,
      '"C:\\node.exe" "C:\\Users\\dev\\AppData\\Local\\openhook-otel\\hook.cjs" --source claude-code --drain no',
      '"C:\\node.exe" "D:\\moved\\hook.cjs" --source claude-code --drain if-waiting',
    ]) {
      expect(isOurCommand(command), command).toBe(true);
    }
  });
});

describe("any settings file", () => {
  it("with pretty-printed JSON is restored byte for byte", () => {
    fc.assert(
      fc.property(
        settings(),
        fc.constantFrom("\t", "  ", "    ", "   "),
        fc.boolean(),
        fc.boolean(),
        (value, unit, crlf, end) => {
          const pretty = JSON.stringify(value, null, unit) + (end ? "\n" : "");
          const text = crlf ? pretty.replaceAll("\n", "\r\n") : pretty;
          const added = add(text);
          expect(add(added)).toBe(added);
          expect(JSON.parse(added)).toMatchObject({
            hooks: { Stop: expect.any(Array), PreToolUse: expect.any(Array) },
          });
          expect(remove(added) ?? JSON.stringify({})).toBe(Object.keys(value).length === 0 ? "{}" : text);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("with an odd layout keeps its meaning and every comment", () => {
    fc.assert(
      fc.property(settings(), fc.infiniteStream(fc.nat({ max: 99 })), (value, random) => {
        const text = oddly(value, random);
        const added = add(text);
        expect(add(added)).toBe(added);
        expect(commentsOf(added)).toEqual(commentsOf(text));
        const back = remove(added);
        expect(commentsOf(back ?? "")).toEqual(commentsOf(text));
        expect(read(back ?? "{}")).toEqual(read(text));
        const upgraded = add(addRegistrations(text, OLDER));
        expect(read(remove(upgraded) ?? "{}")).toEqual(read(text));
        expect(commentsOf(upgraded)).toEqual(commentsOf(text));
      }),
      { numRuns: runs(500) },
    );
  });
});

// --- internal ---

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** Other settings: hooks with content, and any other members. Keys may be hostile. */
function settings(): fc.Arbitrary<Record<string, unknown>> {
  const command = fc.record(
    { type: fc.constant("command"), command: fc.string(), timeout: fc.nat() },
    { requiredKeys: ["type", "command"] },
  );
  const group = fc.record(
    { matcher: fc.string(), hooks: fc.array(fc.oneof(command, fc.jsonValue({ maxDepth: 1 })), { maxLength: 3 }) },
    { requiredKeys: ["hooks"] },
  );
  const groups = fc.array(
    fc.oneof({ weight: 4, arbitrary: group }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  );
  const event = fc.constantFrom("PreToolUse", "Stop", "Notification", "SessionEnd", "constructor", "a b");
  const hooks = fc.dictionary(event, groups, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
  const others = fc.dictionary(
    fc.string().filter((key) => key !== "hooks" && key !== "__proto__" && !/^\d+$/.test(key)),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4, noNullPrototype: true },
  );
  return fc
    .tuple(others, fc.option(hooks, { nil: undefined }), fc.boolean())
    .map(([rest, own, first]) =>
      own === undefined ? rest : first ? { hooks: own, ...rest } : { ...rest, hooks: own },
    );
}

/** Writes a value with random spaces, line breaks, comments and trailing commas. */
function oddly(value: unknown, random: Iterator<number>): string {
  let comments = 0;
  const next = (): number => random.next().value ?? 0;
  const eol = next() < 30 ? "\r\n" : "\n";
  const gap = (): string => {
    const dice = next();
    if (dice < 40) return "";
    if (dice < 55) return " ";
    if (dice < 75) return `${eol}${" ".repeat(next() % 5)}`;
    if (dice < 85) return ` // c${comments++} , ] } "${eol}`;
    if (dice < 95) return ` /* c${comments++}, */ `;
    return `${eol}\t/* c${comments++}${eol} { */${eol}${eol}`;
  };
  const list = (open: string, items: readonly string[], close: string): string =>
    `${open}${gap()}${items.join(`${gap()},${gap()}`)}${gap()}${items.length > 0 && next() < 25 ? `,${gap()}` : ""}${close}`;
  const write = (item: unknown): string => {
    if (Array.isArray(item)) return list("[", item.map(write), "]");
    if (item === null || typeof item !== "object") return JSON.stringify(item);
    const fields = Object.entries(item).map(([key, field]) => `${JSON.stringify(key)}${gap()}:${gap()}${write(field)}`);
    return list("{", fields, "}");
  };
  return `${gap()}${write(value)}${gap()}`;
}

const commentsOf = (text: string): readonly string[] =>
  (text.match(/"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g) ?? []).filter((part) => part.startsWith("/"));

/** The parsed text, by an independent parser. */
const read = (text: string): unknown => {
  const value: unknown = parse(text, [], { allowTrailingComma: true });
  return value;
};
