import { describe, expect, test } from "vitest";
import { truncateContent } from "#store/capture/content.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const bytes = (text: string): number => Buffer.byteLength(text);

describe("what is kept of one piece of content", () => {
  test("a short text stays as it is, a value becomes JSON", () => {
    expect(truncateContent("héllo", { maxBytes: 256 })).toEqual({ text: "héllo", isJson: false });
    expect(truncateContent({ command: "ls" }, { maxBytes: 256 })).toEqual({ text: '{"command":"ls"}', isJson: true });
  });

  test.each([undefined, null, "", {}, []])("nothing is kept of %j", (value) => {
    expect(truncateContent(value, { maxBytes: 256 })).toBeUndefined();
  });

  test("nothing is kept of a value that is nested deeper than the stack allows", () => {
    let deep: unknown = "end";
    for (let depth = 0; depth < 200_000; depth++) deep = [deep];
    expect(truncateContent(deep, { maxBytes: 256 })).toBeUndefined();
  });

  test("a long text is cut between two characters, and its original length is added", () => {
    const text = "🐈".repeat(1_000);
    const kept = truncateContent(text, { maxBytes: 300 })?.text ?? "";
    expect(bytes(kept)).toBeLessThanOrEqual(300);
    expect(kept).toMatch(/^(?:🐈)+… \[cut: 4000 bytes\]$/u);
  });

  test("in JSON, long texts are cut and the structure stays", () => {
    const kept = truncateContent(
      { path: "src/cart.js", content: "x".repeat(100_000), options: [1, true] },
      { maxBytes: 512 },
    );
    expect(bytes(kept?.text ?? "")).toBeLessThanOrEqual(512);
    expect(JSON.parse(kept?.text ?? "")).toEqual({
      path: "src/cart.js",
      content: expect.stringMatching(/^x+… \[cut: 100000 bytes\]$/),
      options: [1, true],
    });
  });

  test("the result is never longer than the limit, and JSON stays JSON", () => {
    const value = fc.oneof(fc.string({ unit: "binary", maxLength: 2_000 }), fc.jsonValue({ maxDepth: 4 }));
    const redact = (text: string): string => text.replaceAll(/[aeiou"{]+/g, "[redacted:x]");
    fc.assert(
      fc.property(value, fc.integer({ min: 256, max: 700 }), fc.boolean(), (given, maxBytes, isRedacted) => {
        const kept = truncateContent(given, { maxBytes, ...(isRedacted && { redact }) });
        if (kept === undefined) return;
        expect(bytes(kept.text)).toBeLessThanOrEqual(maxBytes);
        expect(kept.isJson).toBe(typeof given !== "string");
        if (kept.isJson) JSON.parse(kept.text);
      }),
      { numRuns: runs(400) },
    );
  });

  test("content is redacted before it is cut: values, names of members, and values of members named like secrets", () => {
    const secret = "S3CRET-0123456789";
    const redact = (text: string): string =>
      text.replaceAll(/S3CRET-\d{10}/g, "[redacted]").replace(/("password":)"[^"]*"/, '$1"[redacted]"');
    const half = `${"x".repeat(250)}${secret}`;
    expect(truncateContent(half, { maxBytes: 260, redact })?.text).not.toMatch(/S3CRET/);
    const kept = truncateContent({ [secret]: secret, inner: [{ password: "hunter2" }] }, { maxBytes: 1_000, redact });
    expect(JSON.parse(kept?.text ?? "")).toEqual({ "[redacted]": "[redacted]", inner: [{ password: "[redacted]" }] });
  });

  test("a redactor that breaks JSON yields a JSON string", () => {
    const kept = truncateContent({ a: 1 }, { maxBytes: 1_000, redact: (text) => text.replaceAll("}", "") });
    expect(JSON.parse(kept?.text ?? "")).toBe('{"a":1');
  });
});
