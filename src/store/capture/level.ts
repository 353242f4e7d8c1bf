import type { CaptureLevel } from "#core/model/capture.ts";
import type { Counted } from "#core/model/telemetry.ts";
import { keepsNames, stricter } from "#core/rules/capture.ts";
import { cardOf } from "#core/rules/cards.ts";
import { incrementAtLevel, type OwnNamesOf } from "#core/telemetry/level.ts";
import type { StoredSession } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";

/** How much of a session is kept: what the user set, or less if the session's project sets less. */
export const levelOf = (
  { loaded }: Pick<CaptureContext, "loaded">,
  session: Pick<StoredSession, "capture">,
): CaptureLevel => stricter(loaded.config.capture, session.capture ?? "full");

/** Returns the function that looks up an agent's built-in names on its card; `undefined`: no card, or the card has none. */
export const ownNamesOf =
  (deps: Pick<CaptureContext, "agents">): OwnNamesOf =>
  (source) =>
    cardOf(deps, source)?.own;

/** Counted facts as a level allows them to be exported. The keys never change. */
export const countsAtLevel = (
  deps: Pick<CaptureContext, "agents">,
  counts: readonly Counted[],
  level: CaptureLevel,
): readonly Counted[] =>
  keepsNames(level)
    ? counts
    : counts.map(({ key, increments }) => ({
        key,
        increments: increments.map((one) => incrementAtLevel(one, level, ownNamesOf(deps))),
      }));
