import type { ExplanationDocument } from "../../wire/documents.ts";
import { EXPORTED } from "../data/exported.ts";
import { hrefOf, type Params } from "../route.ts";
import { plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

interface Props {
  readonly changes: ExplanationDocument["changes"];
  readonly source: string;
  /** Id of the session. */
  readonly id: string;
}

/** Each change with a link to all of its work, and the commits of this session together. */
export function LedTo({ changes, source, id }: Props) {
  const commits = changes.filter(({ by }) => by === "commit");
  const named = changes.filter(({ by }) => by === "change");
  return (
    <span class="led-to">
      {named.slice(0, MAX_CHANGES).map(({ key, certainty }) => (
        <ViewLink key={key} params={{ by: "change", range: "all", key }}>
          {safeText(key)}
          {certainty === "inferred" ? " (inferred)" : ""}
        </ViewLink>
      ))}
      {named.length > MAX_CHANGES ? (
        <ViewLink params={{ by: "change", range: "all", source, id }}>
          {plural(named.length - MAX_CHANGES, "more change")}
        </ViewLink>
      ) : null}
      {commits.length === 0 ? null : (
        <ViewLink params={{ by: "commit", range: "all", source, id }}>{commitsText(commits)}</ViewLink>
      )}
    </span>
  );
}

// --- internal ---

/** More do not fit beside the waterfall's explanation. */
const MAX_CHANGES = 3;

function commitsText(commits: Props["changes"]): string {
  const inferred = commits.filter(({ certainty }) => certainty === "inferred").length;
  return `${plural(commits.length, "commit")}${inferred === 0 ? "" : `, ${inferred} inferred`}`;
}

/** A link into the changes view; an exported page has no other views. */
function ViewLink({ params, children }: { params: Params; children: preact.ComponentChildren }) {
  return EXPORTED === undefined ? <a href={hrefOf("changes", params)}>{children}</a> : <span>{children}</span>;
}
