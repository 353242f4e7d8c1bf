import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type JsonlOptions, openJsonl } from "#agents/shared/transcript/jsonl.ts";
import fc from "../../../support/properties.ts";
import { runs } from "../../../support/whole.ts";

let dir = "";
let path = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-jsonl-"));
  path = join(dir, "session.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));

interface Reading {
  readonly lines: readonly string[];
  readonly fromBytes: number;
  /** Where the next read continues. */
  readonly endBytes: number;
  readonly tooLong: number;
  readonly fingerprint: string;
}

async function read(options: Partial<JsonlOptions> = {}): Promise<Reading> {
  const file = await openJsonl(path, { fromBytes: 0, ...options });
  try {
    const lines: string[] = [];
    let [endBytes, tooLong] = [file.fromBytes, 0];
    for await (const batch of file.batches) {
      lines.push(...batch.lines.map((line) => line.bytes.toString("utf8")));
      endBytes = batch.endBytes;
      tooLong += batch.tooLong;
    }
    return { lines, fromBytes: file.fromBytes, endBytes, tooLong, fingerprint: await file.fingerprint(endBytes) };
  } finally {
    await file.close();
  }
}

describe("complete lines", () => {
  test("do not depend on chunk boundaries, even within a character", async () => {
    const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 1, max: 64 }),
        async (lines, chunkBytes) => {
          writeFileSync(path, lines.map((text) => `${text}\n`).join(""));
          const reading = await read({ chunkBytes });
          expect(reading.lines).toEqual(lines.filter((text) => text !== ""));
          expect(reading.endBytes).toBe(Buffer.byteLength(lines.map((text) => `${text}\n`).join("")));
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test("are the same if read in pieces while the file grows", async () => {
    const whole = Buffer.from(
      Array.from({ length: 9 }, (_, i) => `{"n":${i},"text":"größer ${"x".repeat(i)}"}\n`).join(""),
    );
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: whole.length }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 1, max: 40 }), async (at, chunkBytes) => {
        const lines: string[] = [];
        let from = 0;
        let fingerprint: string | undefined;
        for (const end of [...at.sort((a, b) => a - b), whole.length]) {
          writeFileSync(path, whole.subarray(0, end));
          const reading = await read({
            fromBytes: from,
            chunkBytes,
            ...(fingerprint !== undefined && { fingerprint }),
          });
          lines.push(...reading.lines);
          [from, fingerprint] = [reading.endBytes, reading.fingerprint];
        }
        expect(lines.map((text) => `${text}\n`).join("")).toBe(whole.toString("utf8"));
      }),
      { numRuns: runs(60) },
    );
  });

  test("leave an incomplete last line for the next read", async () => {
    writeFileSync(path, '{"n":1}\n{"n":');
    const first = await read();
    expect(first).toMatchObject({ lines: ['{"n":1}'], endBytes: 8 });
    appendFileSync(path, "2}\n");
    expect(await read({ fromBytes: first.endBytes, fingerprint: first.fingerprint })).toMatchObject({
      lines: ['{"n":2}'],
      fromBytes: 8,
    });
  });

  test("include a last line without end if it is a whole record", async () => {
    writeFileSync(path, '{"n":1}\n{"n":{"m":2}');
    expect((await read()).lines).toEqual(['{"n":1}']);
    appendFileSync(path, "}");
    const first = await read();
    expect(first).toMatchObject({ lines: ['{"n":1}', '{"n":{"m":2}}'], endBytes: 21 });
    appendFileSync(path, '\n{"n":3}\n');
    const next = await read({ fromBytes: first.endBytes, fingerprint: first.fingerprint });
    expect(next).toMatchObject({ lines: ['{"n":3}'], fromBytes: 21 });
  });

  test("may end with a carriage return, which JSON treats as space", async () => {
    writeFileSync(path, '{"n":1}\r\n{"n":2}\r\n');
    expect((await read()).lines.map((line) => JSON.parse(line))).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("end only at a line feed, not at U+2028, U+2029 or U+0085", async () => {
    const text = '{"text":"a\u2028b\u2029c\u0085d"}';
    writeFileSync(path, `${text}\n`);
    expect((await read({ chunkBytes: 3 })).lines).toEqual([text]);
  });

  test("exclude empty lines, also in an empty file", async () => {
    writeFileSync(path, '\n\n{"n":1}\n\n');
    expect(await read()).toMatchObject({ lines: ['{"n":1}'], endBytes: 11 });
    writeFileSync(path, "");
    expect(await read()).toMatchObject({ lines: [], endBytes: 0 });
  });

  test("exclude a line longer than the limit, which is counted", async () => {
    writeFileSync(path, `{"n":1}\n${"x".repeat(1000)}\n{"n":2}\n${"y".repeat(101)}\n${"z".repeat(100)}\n`);
    for (const chunkBytes of [7, 64, 4096]) {
      const reading = await read({ chunkBytes, maxLineBytes: 100 });
      expect(reading).toMatchObject({ lines: ['{"n":1}', '{"n":2}', "z".repeat(100)], tooLong: 2 });
    }
  });
});

describe("a file that was replaced or changed", () => {
  test("is read from the start if truncated and grown beyond the last offset", async () => {
    const kept = `${JSON.stringify({ text: "x".repeat(2_000) })}\n`;
    writeFileSync(path, `${kept}{"taken":"back"}\n`);
    const { endBytes, fingerprint } = await read();
    writeFileSync(path, `${kept}{"n":1}\n{"n":2,"text":"${"y".repeat(1_000)}"}\n{"n":3}\n`);
    const again = await read({ fromBytes: endBytes, fingerprint });
    expect(again.fromBytes).toBe(0);
    expect(again.lines.slice(1).map((text) => JSON.parse(text).n)).toEqual([1, 2, 3]);
  });
  test("is read from the start if truncated", async () => {
    writeFileSync(path, '{"n":1}\n{"n":2}\n');
    const { endBytes, fingerprint } = await read();
    truncateSync(path, 8);
    expect(await read({ fromBytes: endBytes, fingerprint })).toMatchObject({ fromBytes: 0, lines: ['{"n":1}'] });
  });

  test("is read from the start if replaced by a file of the same or greater length", async () => {
    writeFileSync(path, '{"n":1}\n{"n":2}\n');
    const { endBytes, fingerprint } = await read();
    writeFileSync(path, '{"n":7}\n{"n":8}\n{"n":9}\n');
    const reading = await read({ fromBytes: endBytes, fingerprint });
    expect(reading).toMatchObject({ fromBytes: 0, lines: ['{"n":7}', '{"n":8}', '{"n":9}'] });
  });

  test("is read from the last offset if it only grew", async () => {
    writeFileSync(path, `{"text":"${"x".repeat(2000)}"}\n`);
    const { endBytes, fingerprint } = await read();
    appendFileSync(path, '{"n":2}\n');
    expect(await read({ fromBytes: endBytes, fingerprint })).toMatchObject({ fromBytes: endBytes, lines: ['{"n":2}'] });
  });
});

describe("paths that are not regular files", () => {
  test("a directory and a missing file are errors", async () => {
    mkdirSync(path);
    await expect(read()).rejects.toThrow(/is not a regular file|EISDIR/);
    rmSync(path, { recursive: true });
    await expect(read()).rejects.toThrow("ENOENT");
  });

  test.skipIf(process.platform === "win32")(
    "a FIFO is rejected immediately, with its path, without waiting for a writer",
    async () => {
      execFileSync("mkfifo", [path]);
      await expect(read()).rejects.toThrow(`${JSON.stringify(path)} is not a regular file`);
    },
    5_000,
  );
});
