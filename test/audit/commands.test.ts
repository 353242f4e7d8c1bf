import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { audit } from "#commands/audit.ts";
import { exportAudit } from "#commands/export-audit.ts";
import type { WrittenHead } from "#core/audit/head.ts";
import { AUDIT_FORMATS } from "#core/audit/record.ts";
import { openDatabase } from "#store/database.ts";
import { contextAt } from "../support/context.ts";
import type { MadeSession } from "../support/made-session.ts";
import { linksOf, namesIn, PLANTED, plantActions, withAudit } from "./planted.ts";

let made: MadeSession;
beforeEach(async () => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: "redacted" });
  await plantActions(made);
  await made.drain({ endIdle: true });
});
afterEach(() => made.remove());

async function run(command: Parameters<typeof audit>[0]): Promise<{ readonly code: number; readonly out: string }> {
  const { context, out } = contextAt(made.places);
  return { code: await audit(command, context), out: out() };
}

async function exported(format: (typeof AUDIT_FORMATS)[number]): Promise<string> {
  const { context, out } = contextAt(made.places);
  expect(await exportAudit({ format, force: false }, context)).toBe(0);
  return out();
}

const write = (name: string, text: string): string => {
  const path = join(made.places.home, name);
  writeFileSync(path, text);
  return path;
};

const change = (sql: string): void => {
  const db = openDatabase(made.storePath);
  db.prepare(sql).run();
  db.close();
};

const verifying = { kind: "verify", json: false } as const;

test("audit verify is content with an untouched trail and names the first wrong record of another", async () => {
  expect(await run(verifying)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^8 records, the chain is whole up to [0-9a-f]{64}@8\n$/),
  });
  change("UPDATE audit SET record = replace(record, '\"denied\"', '\"allowed\"') WHERE seq = 8");
  expect(await run(verifying)).toMatchObject({ code: 1, out: expect.stringMatching(/^record 8: changed: /) });
  change("DELETE FROM audit WHERE seq = 3");
  const { code, out } = await run({ ...verifying, json: true });
  expect([code, JSON.parse(out)]).toMatchObject([1, { ok: false, fault: "deleted", seq: 3 }]);
});

test("a trail that was cut together with its noted end differs from a head that is known elsewhere", async () => {
  const { out: head } = await run({ kind: "head" });
  const { seq, hash } = JSON.parse(head) as WrittenHead;
  change("DELETE FROM audit WHERE seq > 5");
  expect(await run(verifying)).toMatchObject({ code: 1, out: expect.stringMatching(/^record 6: cut: /) });
  change("DELETE FROM meta WHERE key = 'audit.head'");
  expect(await run(verifying)).toMatchObject({ code: 0 });
  for (const known of [`${hash}@${seq}`, write("head.json", head)])
    expect(await run({ ...verifying, head: known })).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^record 6: cut: /),
    });
});

test("a signed head is accepted with its key only, and not after one character was changed", async () => {
  const pem = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    return {
      secret: String(privateKey.export({ type: "pkcs8", format: "pem" })),
      open: String(publicKey.export({ type: "spki", format: "pem" })),
    };
  };
  const [own, other] = [pem(), pem()];
  const { out } = await run({ kind: "head", sign: write("key.pem", own.secret) });
  const head = write("head.json", out);
  const [publicKey, foreign] = [write("own.pem", own.open), write("other.pem", other.open)];
  expect(await run({ ...verifying, head, publicKey })).toMatchObject({ code: 0 });
  await expect(run({ ...verifying, head, publicKey: foreign })).rejects.toThrow("is not signed with that key");
  const forged = write("forged.json", out.replace('"seq":8', '"seq":7'));
  await expect(run({ ...verifying, head: forged, publicKey })).rejects.toThrow("is not signed with that key");
  const unsigned = write("unsigned.json", (await run({ kind: "head" })).out);
  await expect(run({ ...verifying, head: unsigned, publicKey })).rejects.toThrow("is not signed with that key");
  await expect(run({ kind: "head", sign: head })).rejects.toThrow("is no Ed25519 key in PEM");
});

test.each(AUDIT_FORMATS)("what is exported as %s can be verified, here and where there is no store", async (format) => {
  const text = await exported(format);
  const file = write(`trail.${format}`, text);
  expect(await run({ ...verifying, file })).toMatchObject({ code: 0, out: expect.stringContaining("8 records") });
  // A backend can give the records in another order, twice, and inside JSON of its own
  const elsewhere = withAudit();
  try {
    const { context, out } = contextAt(elsewhere.places);
    const wrapped = write(
      "wrapped",
      JSON.stringify([text, ...text.split("\n").reverse()].map((line) => JSON.stringify({ line }))),
    );
    expect([await audit({ ...verifying, file: wrapped }, context), out()]).toEqual([
      0,
      expect.stringContaining("8 records"),
    ]);
  } finally {
    elsewhere.remove();
  }
  const at = text.indexOf("oa1.3.");
  const cut = text.slice(0, at) + text.slice(at).replace(/^oa1\.3\.[\w.-]+/, "");
  expect(await run({ ...verifying, file: write("cut", cut) })).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^record 3: deleted: /),
  });
});

test("no format has a secret, and each has every planted target", async () => {
  for (const format of AUDIT_FORMATS) {
    const text = await exported(format);
    const all =
      text +
      [...text.matchAll(/[\w-]{40,}/g)].map(([one]) => Buffer.from(one, "base64url").toString("latin1")).join("\n");
    for (const secret of ["hunter2", "t0psecret", "/home/dev"]) expect(all).not.toContain(secret);
    for (const [call] of PLANTED) expect(text).toContain(call);
    for (const part of ["npm test -- --ci", "https://docs.example.org/api", "shop/src/cart.js"])
      expect(text).toContain(part);
  }
});

test("audit digest gives the digest that the trail has", async () => {
  const [first] = linksOf(made);
  const { out } = await run({ kind: "digest", text: "npm test -- --ci" });
  expect(out.trim()).toBe(first && namesIn(first).targets?.[0]?.digest);
});

test("an existing file is not replaced without --force", async () => {
  const { context } = contextAt(made.places);
  const output = write("trail.csv", "mine");
  await expect(exportAudit({ format: "csv", force: false, output }, context)).rejects.toThrow("exists");
  await exportAudit({ format: "csv", force: true, output }, context);
  expect(readFileSync(output, "utf8")).toMatch(/^seq,time,action,/);
});
