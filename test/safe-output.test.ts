import { expect, test } from "vitest";
import { safeOutput, safeText } from "../src/safe-output.ts";

test("CRLF passes; a carriage return alone is escaped", () => {
  expect(safeText("a,b\r\nc,d\r\n")).toBe("a,b\r\nc,d\r\n");
  expect(safeText("name\roverwritten\r\r\n")).toBe("name\\u000doverwritten\\u000d\r\n");
  expect(safeText("\u001b[31mred\u001b[0m\u001b[2J\r\n")).toBe("\\u001b[31mred\\u001b[0m\\u001b[2J\r\n");
  expect(safeText("\u001b[31mred\u001b[0m\u001b[2J\r\n", true)).toBe("\u001b[31mred\u001b[0m\\u001b[2J\r\n");
});

test("characters that change the direction of text are escaped", () => {
  expect(safeText("safe\u202egnp.exe")).toBe("safe\\u202egnp.exe");
  expect(safeText("\u2066a\u2069")).toBe("\\u2066a\\u2069");
});

test("rewritten text stays on one line", () => {
  const written: string[] = [];
  const output = safeOutput({ write: (text) => written.push(text), isTTY: true });
  output.rewrite?.("50 %\r\nof\n it\rall");
  expect(written).toEqual(["\r\u001b[K50 % of  it\\u000dall"]);
});
