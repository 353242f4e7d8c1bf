import { afterEach, expect, test } from "vitest";
import { verifyChain } from "#core/audit/verify.ts";
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
