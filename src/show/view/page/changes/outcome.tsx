import { type ChangeOutcome, FATES, type Fate } from "../../wire/documents.ts";
import { exact, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/** What became of the commits of a change, as far as it was checked. */
export function Outcome({ outcome }: { outcome: ChangeOutcome | null }) {
  if (outcome === null) return <span class="muted">no commit known</span>;
  const { commits, unchecked, fates, rewritten, kept, note } = outcome;
  const single = commits === 1;
  return (
    <>
      <span class="fates">
        {FATES.filter((fate) => fates[fate] > 0).map((fate) => (
          <span key={fate} class={`badge fate ${FATE_STYLES[fate]}`}>
            {single ? "" : `${exact(fates[fate])} `}
            {fate}
          </span>
        ))}
        {unchecked === 0 ? null : (
          <span class="badge fate unchecked">{single ? "not checked yet" : `${exact(unchecked)} not checked yet`}</span>
        )}
      </span>
      {note === null && rewritten === 0 && kept === null ? null : (
        <span class="muted small">
          {[
            ...(note === null ? [] : [safeText(note)]),
            ...(note === null && rewritten > 0 ? [`${exact(rewritten)} rewritten`] : []),
            ...(kept === null
              ? []
              : [
                  `${percent(kept.kept, kept.written)} of ${plural(kept.written, "line")} kept after ${plural(kept.days, "day")}`,
                ]),
          ].join(" · ")}
        </span>
      )}
    </>
  );
}

// --- internal ---

const FATE_STYLES = {
  merged: "kept",
  reverted: "undone",
  open: "pending",
  gone: "lost",
  unknown: "unchecked",
} as const satisfies Record<Fate, string>;
