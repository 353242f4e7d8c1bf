import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { AuditLink } from "#core/audit/record.ts";
import { verifyChain } from "#core/audit/verify.ts";
import { FAMILIES } from "../privacy/secrets.ts";
import type { MadeSession } from "../support/made-session.ts";
import { linksOf, namesIn, PLANTED, plantActions, REFUSED, recordIn, textsIn, withAudit } from "./planted.ts";

let made: MadeSession;
afterEach(() => made.remove());

test("each planted action is in the trail once, with its decision and what it was given", async () => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: "redacted" });
  await plantActions(made);
  await made.drain();
  await made.drain({ endIdle: true });
  const links = linksOf(made);
  const found = links.map((link) => {
    const { call, action, decision, outcome } = recordIn(link);
    const texts = textsIn(link);
    const given = (namesIn(link).targets ?? []).map(({ kind, known }, at) => `${kind} ${known} ${texts[at]}`);
    return { call, action, decision, outcome, given };
  });
  expect(found).toEqual(
    PLANTED.map(([call, , , action, given]) => ({
      call,
      action,
      decision: call === REFUSED ? "denied" : "allowed",
      outcome: call === REFUSED ? "denied" : "success",
      given,
    })),
  );
  expect(verifyChain(links)).toMatchObject({ ok: true, records: PLANTED.length });
});

/** Everything that the planted calls were given and that may not be in the trail at `metadata`. */
const CONTENT = ["npm test", ".env", "cart.js", "docs.example.org", "get.example.net", "rm -rf"];
/** What may be in it at no level. */
const SECRETS = ["hunter2", "t0psecret", "/home/dev/"];

test.each(["redacted", "full"])("at %s the texts are there without secrets", async (capture) => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: capture });
  await plantActions(made);
  await made.drain({ endIdle: true });
  const text = JSON.stringify(linksOf(made));
  expect(CONTENT.filter((one) => !text.includes(one))).toEqual([]);
  expect(SECRETS.filter((one) => text.includes(one))).toEqual([]);
});

test("at metadata there are keyed digests in place of texts; equal commands have equal ones, and the key is needed", async () => {
  const digests: (string | undefined)[][] = [];
  for (const key of ["a".repeat(40), "b".repeat(40), "a".repeat(40)]) {
    made?.remove();
    made = withAudit();
    const keyFile = join(made.places.home, "audit-key");
    writeFileSync(keyFile, `${key}\n`);
    made.env = { OPENHOOK_OTEL_AUDIT_ENABLED: "true", OPENHOOK_OTEL_AUDIT_KEY_FILE: keyFile };
    await plantActions(made);
    await made.drain({ endIdle: true });
    const links = linksOf(made);
    const text = JSON.stringify(links);
    expect([...CONTENT, ...SECRETS].filter((one) => text.includes(one))).toEqual([]);
    expect(readFileSync(made.storePath).includes("npm test")).toBe(false);
    digests.push(links.flatMap((link) => (namesIn(link).targets ?? []).map(({ digest }) => digest)));
    const kinds = links.map((link) => recordIn(link).action);
    expect(kinds).toEqual(PLANTED.map(([, , , action]) => action));
  }
  const [first, another, again] = digests;
  expect(first?.every((one) => /^[0-9a-f]{64}$/.test(one ?? ""))).toBe(true);
  expect(again).toEqual(first);
  expect(another?.some((one) => first?.includes(one))).toBe(false);
});

test("the key of the machine is made once, only for this user, and is not in the store", async () => {
  made = withAudit();
  await plantActions(made);
  await made.drain();
  const path = join(made.places.stateDir, "audit.key");
  const key = readFileSync(path, "utf8").trim();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await made.drain({ endIdle: true });
  expect(readFileSync(path, "utf8").trim()).toBe(key);
  expect(readFileSync(made.storePath).includes(key)).toBe(false);
});

test("without a usable key of the organisation there are no digests, and the drain says so", async () => {
  made = withAudit({ OPENHOOK_OTEL_AUDIT_KEY_FILE: "/nonexistent/key" });
  const lines: string[] = [];
  made.overrides = { log: (line) => void lines.push(line) };
  await plantActions(made);
  await made.drain({ endIdle: true });
  const targets = linksOf(made).flatMap((link) => namesIn(link).targets ?? []);
  expect(targets.length).toBeGreaterThan(5);
  expect(targets.every(({ digest }) => digest === undefined)).toBe(true);
  expect(lines.join("\n")).toMatch(/has no digests: "\/nonexistent\/key" has no key/);
});

test("at none a record has the action, the decision and the ids, and no digest", async () => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: "none" });
  await plantActions(made);
  await made.drain({ endIdle: true });
  const links = linksOf(made);
  expect(links.map(({ names, texts }) => [names, texts])).toEqual(PLANTED.map(() => [null, null]));
  expect(links.map((link) => [recordIn(link).call, recordIn(link).action])).toEqual(
    PLANTED.map(([call, , , action]) => [call, action]),
  );
  expect(JSON.stringify(links)).not.toMatch(/digest|shop/);
});

test("a lower capture level erases texts and names, a record says so, and the chain stays whole", async () => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: "redacted" });
  await plantActions(made);
  await made.drain({ endIdle: true });
  for (const [capture, left] of [
    ["metadata", [PLANTED.length, 0]],
    ["none", [0, 0]],
  ] as const) {
    made.env = { OPENHOOK_OTEL_AUDIT_ENABLED: "true", OPENHOOK_OTEL_CAPTURE: capture };
    await made.drain();
    const links = linksOf(made);
    expect([links.filter(({ names }) => names), links.filter(({ texts }) => texts)].map((some) => some.length)).toEqual(
      left,
    );
    expect(recordIn(links.at(-1) as AuditLink)).toMatchObject({
      action: "erasure",
      erased: { reason: `capture is ${capture}` },
    });
    expect(verifyChain(links)).toMatchObject({ ok: true });
    expect(readFileSync(made.storePath).includes("npm test -- --ci")).toBe(false);
  }
  expect(linksOf(made)).toHaveLength(PLANTED.length + 2);
});

test("pruning removes the oldest records, a checkpoint says which, and a second pruning needs no other one", async () => {
  made = withAudit();
  await plantActions(made);
  await made.drain({ endIdle: true });
  const before = linksOf(made);
  await made.pause(10 * 86_400_000);
  for (let i = 0; i < 2; i++) await made.drain({ prune: { olderThanMs: 86_400_000 } });
  const [checkpoint, ...others] = linksOf(made);
  expect(others).toEqual([]);
  expect(recordIn(checkpoint as AuditLink)).toMatchObject({
    seq: PLANTED.length + 1,
    action: "checkpoint",
    removed: { seq: PLANTED.length, hash: before.at(-1)?.hash },
  });
  expect(verifyChain([checkpoint as AuditLink])).toMatchObject({ ok: true, records: 1 });
});

test("without audit.enabled there is no trail and no key", async () => {
  made = withAudit({ OPENHOOK_OTEL_AUDIT_ENABLED: "false" });
  await plantActions(made);
  await made.drain({ endIdle: true });
  expect(linksOf(made)).toEqual([]);
  expect(existsSync(join(made.places.stateDir, "audit.key"))).toBe(false);
});

test("no secret of any family that stands in a command or an address is in the trail", async () => {
  made = withAudit({ OPENHOOK_OTEL_CAPTURE: "full" });
  const secrets = Object.values(FAMILIES).map((make) => make("audit"));
  await made.hook("UserPromptSubmit", { prompt: "go on", prompt_id: "p1" });
  await made.user("p1");
  const calls = secrets.flatMap(({ text }, i) => [
    [`a${i}`, "Bash", { command: `deploy --note "${text}"` }] as const,
    [`b${i}`, "WebFetch", { url: `https://docs.example/?key=${encodeURIComponent(text)}` }] as const,
  ]);
  await made.answer({ calls });
  for (const [call] of calls) await made.result(call);
  await made.answer();
  await made.hook("Stop", { prompt_id: "p1" });
  await made.drain({ endIdle: true });
  const links = linksOf(made);
  expect(links).toHaveLength(calls.length);
  const text = links.flatMap(textsIn).join("\n");
  expect(text.match(/^deploy --note/gm)).toHaveLength(secrets.length);
  expect(secrets.filter(({ core }) => text.includes(core) || JSON.stringify(links).includes(core))).toEqual([]);
});
