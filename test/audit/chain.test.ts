import { expect, test } from "vitest";
import { type AuditDraft, type AuditHead, type AuditLink, linkAfter, NO_RECORDS } from "#core/audit/record.ts";
import { verifyChain } from "#core/audit/verify.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

/** A chain of `count` records, every third with texts. */
function chainOf(count: number): readonly AuditLink[] {
  const links: AuditLink[] = [];
  let head: AuditHead = NO_RECORDS;
  for (let i = 1; i <= count; i++) {
    const draft: AuditDraft = {
      record: {
        action: "command",
        time: new Date(1e12 + i * 1e3).toISOString(),
        agent: "codex",
        session: "s",
        call: `c${i}`,
      },
      names: { tool: "shell", targets: [{ kind: "command", known: "argument", digest: "0".repeat(64) }] },
      ...(i % 3 === 0 && { texts: [`npm test ${i}`] }),
    };
    const link = linkAfter(head, draft, () => `salt-${i}`);
    links.push(link);
    head = link;
  }
  return links;
}

const LENGTH = 40;
const CHAIN = chainOf(LENGTH);
const HEAD: AuditHead = { seq: LENGTH, hash: CHAIN[LENGTH - 1]?.hash ?? "" };

test("a chain that nobody touched is right, with its head and with those before it", () => {
  expect(verifyChain(CHAIN, [HEAD])).toEqual({ ok: true, records: LENGTH, head: HEAD });
  expect(verifyChain([])).toEqual({ ok: true, records: 0, head: NO_RECORDS });
  for (const { seq, hash } of CHAIN) expect(verifyChain(CHAIN, [{ seq, hash }]).ok).toBe(true);
});

/** Another character in the place of one. */
const edited = (text: string, at: number, by: number): string => {
  const place = at % text.length;
  return (
    text.slice(0, place) + String.fromCharCode(33 + ((text.charCodeAt(place) - 33 + by) % 93)) + text.slice(place + 1)
  );
};

/** Each way of tampering, with the fault that it must be found as. */
const EDITS: readonly {
  readonly fault: string;
  readonly edit: (links: AuditLink[], at: number, other: number, by: number) => number | undefined;
}[] = [
  ...(["record", "names", "hash"] as const).map((member) => ({
    fault: "changed",
    edit: (links: AuditLink[], at: number, other: number, by: number) => {
      const link = links[at] as AuditLink;
      links[at] = { ...link, [member]: edited(link[member] ?? "", other, by) };
      return at + 1;
    },
  })),
  {
    fault: "changed",
    edit: (links, at, _, by) => {
      // Texts of a record that has some, or texts for one that has none
      const link = links[at] as AuditLink;
      links[at] = { ...link, texts: link.texts === null ? '{"salt":"x","texts":[]}' : edited(link.texts, by, 1) };
      return at + 1;
    },
  },
  {
    fault: "changed",
    edit: (links, at) => {
      links[at] = { ...(links[at] as AuditLink), names: null };
      return at + 1;
    },
  },
  {
    fault: "deleted",
    edit: (links, at) => {
      if (at === LENGTH - 1) return undefined;
      links.splice(at, 1);
      return at + 1;
    },
  },
  {
    // The numbers of the rows after it are set right
    fault: "deleted",
    edit: (links, at) => {
      if (at === LENGTH - 1) return undefined;
      links.splice(at, 1);
      for (const [i, link] of links.entries()) links[i] = { ...link, seq: i + 1 };
      return at + 1;
    },
  },
  {
    fault: "reordered",
    edit: (links, at, other) => {
      const to = other % LENGTH;
      if (to === at) return undefined;
      const [a, b] = [links[at] as AuditLink, links[to] as AuditLink];
      links[at] = { ...b, seq: at + 1 };
      links[to] = { ...a, seq: to + 1 };
      return Math.min(at, to) + 1;
    },
  },
  {
    fault: "cut",
    edit: (links, at) => {
      links.splice(at);
      return at + 1;
    },
  },
  {
    // Everything after a changed record is computed again: only the head that is known elsewhere shows it
    fault: "changed",
    edit: (links, at) => {
      let head: AuditHead = links[at - 1] ?? NO_RECORDS;
      for (const link of links.splice(at)) {
        const {
          seq: _,
          parts: __,
          ...record
        } = JSON.parse(link.record) as AuditDraft["record"] & { seq: number; parts: object };
        const forged = linkAfter(head, { record: { ...record, call: "forged" } }, () => "salt");
        links.push(forged);
        head = forged;
      }
      return LENGTH;
    },
  },
];

test("1,000 random edits are all found, with their kind and the first wrong record", () => {
  const found = new Map<string, number>();
  const anyEdit = fc.record({
    way: fc.nat(EDITS.length - 1),
    at: fc.nat(LENGTH - 1),
    other: fc.nat(10_000),
    by: fc.integer({ min: 1, max: 92 }),
  });
  fc.assert(
    fc.property(anyEdit, ({ way, at, other, by }) => {
      const one = EDITS[way] as (typeof EDITS)[number];
      const links = [...CHAIN];
      const seq = one.edit(links, at, other, by);
      if (seq === undefined) return;
      const verdict = verifyChain(links, [HEAD]);
      expect(verdict).toMatchObject({ ok: false, fault: one.fault, seq });
      found.set(one.fault, (found.get(one.fault) ?? 0) + 1);
    }),
    { numRuns: Math.max(1_000, runs(4_000)) },
  );
  expect([...found.keys()].sort()).toEqual(["changed", "cut", "deleted", "reordered"]);
});

test("what pruning removed and what a lower capture level erased is no fault, if a record says so", () => {
  const checkpoint = (removed: AuditHead): AuditDraft => ({
    record: { action: "checkpoint", time: "2026-11-30T00:00:00.000Z", removed },
  });
  const tenth = CHAIN[9] as AuditLink;
  const pruned = [...CHAIN.slice(10), linkAfter(HEAD, checkpoint({ seq: 10, hash: tenth.hash }), () => "s")];
  expect(verifyChain(pruned)).toMatchObject({ ok: true, records: LENGTH - 9 });
  // A head from before the pruning is still known, one of a removed record is not
  expect(verifyChain(pruned, [HEAD, tenth]).ok).toBe(true);
  expect(verifyChain(pruned.slice(1))).toMatchObject({ ok: false, fault: "deleted", seq: 1 });
  expect(verifyChain(pruned.slice(0, -1))).toMatchObject({ ok: false, fault: "deleted", seq: 1 });

  const withoutTexts = CHAIN.map((link) => ({ ...link, texts: null }));
  expect(verifyChain(withoutTexts)).toMatchObject({ ok: false, fault: "changed", seq: 3 });
  const erasure = (session?: { agent: string; id: string }): AuditDraft => ({
    record: {
      action: "erasure",
      time: "2026-11-30T00:00:00.000Z",
      erased: { parts: ["texts"], reason: "capture is metadata", ...(session !== undefined && { session }) },
    },
  });
  const told = (draft: AuditDraft) => [...withoutTexts, linkAfter(HEAD, draft, () => "s")];
  expect(verifyChain(told(erasure())).ok).toBe(true);
  expect(verifyChain(told(erasure({ agent: "codex", id: "s" }))).ok).toBe(true);
  expect(verifyChain(told(erasure({ agent: "codex", id: "another" })))).toMatchObject({ ok: false, seq: 3 });
});
