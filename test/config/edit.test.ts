import { type ParseError, parse, stripComments } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { DocumentError, setIn, unsetIn } from "#config/edit.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { at, put } from "./help.ts";

const TEXT = `{
  // where it goes
  "otlp": {
    "endpoint": "http://a", // mine
    "traces": { "enabled": true },
    /* two */ "timeoutMs": 3 // three
  },
  "disabled": false, // tail
}
`;

it("if a name occurs twice, sets the effective one and removes both", () => {
  const twice = '{ "a": { "b": 1 }, "c": 2, "a": { "b": 3, "d": 4 }, "c": 5 }';
  expect(setIn(twice, ["c"], 6)).toBe(twice.replace("5", "6"));
  expect(setIn(twice, ["a", "b"], 6)).toBe(twice.replace("3", "6"));
  expect(setIn(twice, ["a", "e"], 6)).toBe(twice.replace('"d": 4', '"d": 4, "e": 6'));
  expect(unsetIn(twice, ["c"])).toBe('{ "a": { "b": 1 }, "a": { "b": 3, "d": 4 } }');
  expect(unsetIn(twice, ["a", "b"])).toBe('{ "a": { }, "c": 2, "a": { "d": 4 }, "c": 5 }');
});

describe("setIn", () => {
  it.each<[string, string[], unknown, string, string]>([
    [
      "replaces in place",
      ["otlp", "endpoint"],
      "http://b",
      '"endpoint": "http://a", // mine',
      '"endpoint": "http://b", // mine',
    ],
    [
      "adds to an object on one line",
      ["otlp", "traces", "protocol"],
      "http/json",
      '{ "enabled": true }',
      '{ "enabled": true, "protocol": "http/json" }',
    ],
    ["leaves the comment with its line", ["otlp", "traces"], 1, '"traces": { "enabled": true },', '"traces": 1,'],
    [
      "keeps a trailing comma and its comment",
      ["semconv"],
      "latest",
      '"disabled": false, // tail\n',
      '"disabled": false, // tail\n  "semconv": "latest",\n',
    ],
    [
      "makes what is missing on the way",
      ["resource", "attributes", "a.b"],
      "x",
      "// tail\n",
      '// tail\n  "resource": {\n    "attributes": {\n      "a.b": "x"\n    }\n  },\n',
    ],
  ])("%s", (_, path, value, before, after) => expect(setIn(TEXT, path, value)).toBe(TEXT.replace(before, after)));

  it("keeps tabs, CRLF and empty values", () => {
    expect(setIn('{\r\n\t"a": 1\r\n}\r\n', ["b", "c"], true)).toBe(
      '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": true\r\n\t}\r\n}\r\n',
    );
    expect(setIn("{}", ["a"], 1)).toBe('{\n  "a": 1\n}');
    expect(setIn("{\n  // nothing yet\n}\n", ["a"], 1)).toBe('{\n  // nothing yet\n  "a": 1\n}\n');
    expect(setIn('{"a":1}', ["b"], 2)).toBe('{"a":1, "b": 2}');
    expect(setIn('{\n  "a": 1 }\n', ["b"], 2)).toBe('{\n  "a": 1,\n  "b": 2\n}\n'.replace("\n}", "\n }"));
  });

  it("refuses invalid documents", () => {
    expect(() => setIn('{\n"a": }', ["b"], 1)).toThrow(DocumentError);
    expect(() => setIn("[]", ["b"], 1)).toThrow("not a JSON object");
    expect(() => setIn('{\n"a": 1 }', ["a", "b"], 1)).toThrow("a is not an object");
  });
});

describe("unsetIn", () => {
  it.each<[string, string[], string, string]>([
    ["takes the comment on its line along", ["otlp", "endpoint"], '    "endpoint": "http://a", // mine\n', ""],
    ["takes one of several on a line", ["otlp", "traces", "enabled"], '{ "enabled": true }', "{ }"],
    ["leaves the line above", ["disabled"], '  "disabled": false, // tail\n', ""],
  ])("%s", (_, path, before, after) => expect(unsetIn(TEXT, path)).toBe(TEXT.replace(before, after)));

  it("leaves valid JSON after removing the last property", () => {
    expect(unsetIn('{\n  "a": 1, // one\n  "b": 2\n}\n', ["b"])).toBe('{\n  "a": 1 // one\n}\n');
    expect(unsetIn('{"a":1, "b": 2}', ["b"])).toBe('{"a":1}');
    expect(unsetIn('{"a":1, "b": 2}', ["a"])).toBe('{"b": 2}');
    expect(unsetIn('{\n  "a": 1\n}\n', ["a"])).toBe("{\n}\n");
  });

  it("returns the same text if there is nothing to remove", () => {
    expect(unsetIn(TEXT, ["otlp", "metrics", "enabled"])).toBe(TEXT);
    expect(unsetIn(TEXT, ["nothing"])).toBe(TEXT);
  });
});

describe("any document", () => {
  const name = fc.constantFrom("a", "b", "c");
  const plain = fc.letrec<{ object: Record<string, unknown> }>((tie) => ({
    object: fc.dictionary(name, fc.oneof({ maxDepth: 3 }, fc.integer(), fc.constant("x // no, y"), tie("object")), {
      maxKeys: 3,
    }),
  })).object;

  /** The same document with comments, blank lines and odd breaks at the places that JSON allows them at. */
  const decorated = fc
    .tuple(plain, fc.constantFrom(undefined, 2, "\t"), fc.array(fc.nat(5), { maxLength: 60 }), fc.boolean())
    .map(([value, indent, picks, crlf]) => {
      let i = 0;
      const extras = ["", "", " // c, {\n", " /* d } */ ", "\n", " "];
      const text = JSON.stringify(value, null, indent).replace(/"(?:[^"\\]|\\.)*"|[{},]/g, (token) =>
        token.startsWith('"') ? token : token + (extras[picks[i++] ?? 0] ?? ""),
      );
      return { value, text: crlf ? text.replace(/\r?\n/g, "\r\n") : text };
    });
  const path = fc.array(name, { minLength: 1, maxLength: 3 });

  const comments = (text: string) => text.length - stripComments(text).length;

  it("changes exactly one value and keeps every comment", () => {
    fc.assert(
      fc.property(decorated, path, fc.integer(), ({ value, text }, where, number) => {
        const wanted = structuredClone(value);
        const replaced = typeof at(value, where) === "object";
        if (!put(wanted, where, number)) {
          expect(() => setIn(text, where, number)).toThrow(DocumentError);
          return;
        }
        const edited = setIn(text, where, number);
        expect(parse(edited, [], { allowTrailingComma: true })).toEqual(wanted);
        if (!replaced) expect(comments(edited)).toBe(comments(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("removes exactly one value", () => {
    fc.assert(
      fc.property(decorated, path, ({ value, text }, where) => {
        const wanted = structuredClone(value);
        const section = at(wanted, where.slice(0, -1));
        if (typeof section === "object" && section !== null) Reflect.deleteProperty(section, where.at(-1) ?? "");
        const problems: ParseError[] = [];
        expect(parse(unsetIn(text, where), problems)).toEqual(wanted);
        expect(problems).toEqual([]);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
