import { describe, expect, it } from "vitest";
import { redactUrl } from "#config/redact.ts";
import fc from "../support/properties.ts";

describe("redactUrl", () => {
  it.each([
    ["http://127.0.0.1:4318/otlp", "http://127.0.0.1:4318/otlp"],
    ["http://ada:pw@a.example/x", "http://***@a.example/x"],
    ["http://token@a.example", "http://***@a.example"],
    ["http://a.example/x?api-key=k&b=2&flag", "http://a.example/x?api-key=***&b=***&flag"],
    ["ada:pw@a.example", "***@a.example"],
    ["http://ada:p/w@a.example", "http://***@a.example"],
    ["http://ada:p@w@a.example", "http://***@a.example"],
    ["http://ada:p?w@a.example", "http://***@a.example"],
    ["http://ada:p#w@a.example", "http://***@a.example"],
    ["http://ada:1/w@a.example", "http://***@a.example"],
    ["http://a.example/#k", "http://a.example/"],
    ["", ""],
  ])("%s → %s", (text, redacted) => expect(redactUrl(text)).toBe(redacted));

  it("never shows user, password or a query's value", () => {
    const secret = fc.stringMatching(/^S[A-Z0-9/:.]{7,12}T$/);
    fc.assert(
      fc.property(
        secret,
        secret,
        secret,
        fc.constantFrom("http://", "https://", "//", ""),
        (user, password, key, scheme) => {
          const shown = redactUrl(`${scheme}${user}:${password}@a.example/x?k=${key}&l=${key}#${key}`);
          for (const hidden of [user, password, key]) expect(shown).not.toContain(hidden);
        },
      ),
    );
  });
});
