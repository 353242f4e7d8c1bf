import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { unpacked } from "#agents/shared/transcript/unpacked.lazy.ts";
import { packedUncompressed, packedZeros, SKIPPED } from "../../support/packed.ts";
import fc from "../../support/properties.ts";
import { CASES } from "../../support/replay.ts";
import { runs } from "../../support/whole.ts";

const PACKED = join(CASES, "codex", "packed");
const MANY = readFileSync(join(PACKED, "many-blocks.zst"));
/** The unpacked contents. */
const LINES = Buffer.from(
  Array.from({ length: 3000 }, (_, n) => `{"n":${n},"text":"${`${(n * n) % 997} `.repeat(200 + (n % 700))}"}\n`).join(
    "",
  ),
);

const at = (bytes: Buffer) => (into: Buffer, length: number, position: number) =>
  bytes.copy(into, 0, position, position + length);

/** Reads all of it, in the pieces that a line reader requests. */
function whole(packed: Buffer): Buffer {
  const read = unpacked(at(packed));
  const parts: Buffer[] = [];
  for (let position = 0; ; ) {
    const into = Buffer.alloc(1 << 20);
    const length = read(into, into.length, position);
    if (length === 0) return Buffer.concat(parts);
    parts.push(into.subarray(0, length));
    position += length;
  }
}

describe("a packed file", () => {
  const recorded = new Map(
    ["basic", "subagent", "unicode-large"].flatMap((name) => {
      const folder = join(CASES, "codex", name, "transcripts", ".codex", "sessions", "2026", "11", "21");
      return readdirSync(folder).map((file) => [`${file}.zst`, join(folder, file)] as const);
    }),
  );

  test.each([...recorded])("%s, packed by Codex, contains the recorded bytes", (name, plain) => {
    expect(whole(readFileSync(join(PACKED, name))).equals(readFileSync(plain))).toBe(true);
  });

  test("may have many blocks", () => {
    expect(whole(MANY).equals(LINES)).toBe(true);
  });

  test("is readable at any offset, forwards and backwards", () => {
    const place = fc.record({ position: fc.nat(LINES.length + 1000), length: fc.integer({ min: 1, max: 1 << 21 }) });
    const near = fc.record({ position: fc.nat(4096), length: fc.integer({ min: 1, max: 2048 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(place, near), { minLength: 1, maxLength: 6 }), (places) => {
        const read = unpacked(at(MANY));
        for (const { position, length } of places) {
          const into = Buffer.alloc(length);
          const got = into.subarray(0, read(into, length, position));
          expect(got.equals(LINES.subarray(position, position + length))).toBe(true);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  test("may have several frames, and skippable ones", () => {
    const [one, two] = [Buffer.from("one\n"), Buffer.from("two\n".repeat(100_000))];
    const packed = Buffer.concat([SKIPPED, packedUncompressed(one), SKIPPED, packedUncompressed(two), MANY]);
    expect(whole(packed).equals(Buffer.concat([one, two, LINES]))).toBe(true);
  });

  test("may be empty", () => {
    expect(whole(Buffer.alloc(0))).toHaveLength(0);
    expect(whole(packedUncompressed(Buffer.alloc(0)))).toHaveLength(0);
  });

  test("is reported as truncated wherever it ends too early", () => {
    const [name = ""] = recorded.keys();
    const packed = readFileSync(join(PACKED, name));
    for (let length = 1; length < packed.length; length++) {
      expect(() => whole(packed.subarray(0, length)), String(length)).toThrow("it cannot be unpacked (Zstandard): ");
    }
  });

  test("yields the bytes before a truncated end", () => {
    const read = unpacked(at(MANY.subarray(0, MANY.length - 1000)));
    const into = Buffer.alloc(LINES.length);
    const length = read(into, into.length, 0);
    expect(length).toBeGreaterThan(LINES.length / 2);
    expect(into.subarray(0, length).equals(LINES.subarray(0, length))).toBe(true);
    expect(() => read(into, 1, length)).toThrow("it cannot be unpacked");
    expect(read(into, 10, 0)).toBe(10);
  });

  test("is reported as not packed if it is another format", () => {
    expect(() => whole(Buffer.from("x"))).toThrow("it cannot be unpacked (Zstandard): ");
    expect(() => whole(Buffer.from('{"type":"session_meta"}\n'.repeat(100)))).toThrow("it cannot be unpacked");
  });

  test("is not unpacked if a few bytes would fill the memory", () => {
    expect(whole(packedZeros(32 << 20))).toHaveLength(32 << 20);
    expect(() => whole(packedZeros(2 ** 31))).toThrow("its unpacked size is implausible");
  });
});
