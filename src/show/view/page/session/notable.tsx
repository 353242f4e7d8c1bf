import type { ExplanationDocument, SessionRow } from "../../wire/documents.ts";
import { EXPORTED } from "../data/exported.ts";
import { Pair } from "../figures/figures.tsx";
import { hrefOf, type Params } from "../route.ts";
import { dollars, duration, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { missText } from "./cache-misses.tsx";
import { type Spans, spanAt } from "./spans.ts";
import type { ChangedFile } from "./story.ts";

interface Props {
  readonly explanation: ExplanationDocument;
  readonly row: Pick<SessionRow, "source" | "session_id">;
  readonly spans: Spans;
  readonly files: readonly ChangedFile[];
  /** All facts, otherwise as many as fit beside the explanation. */
  readonly isWhole: boolean;
  readonly onSelect: (span: string) => void;
  /** Shows the list of files. */
  readonly onFiles: () => void;
}

/** What the session led to and changed, its most expensive turn, slowest tool and repeated calls, each with where it leads. */
export function Notable({ explanation, row, spans, files, isWhole, onSelect, onFiles }: Props) {
  const { expensiveTurn, slowestTool, cacheMisses, repeats, changes } = explanation;
  const [[miss], [repeat]] = [cacheMisses, repeats];
  const goTo = (span: number) => (span < 0 ? undefined : () => onSelect(spans.idOf(span)));
  const facts = [
    changes.length === 0 ? null : (
      <Fact name="Led to">
        <LedTo changes={changes} source={row.source} id={row.session_id} />
      </Fact>
    ),
    files.length === 0 ? null : (
      <Fact name="Changed" onClick={onFiles}>
        {plural(files.length, "file")}
      </Fact>
    ),
    expensiveTurn === null ? null : (
      <Fact name="Most expensive turn" onClick={goTo(turnSpan(spans, expensiveTurn))}>
        Turn {expensiveTurn.turn}, {dollars(expensiveTurn.cost_usd)}
      </Fact>
    ),
    slowestTool === null ? null : (
      <Fact name="Slowest tool" onClick={goTo(spanAt(spans, "tool_call", slowestTool))}>
        {safeText(slowestTool.name)}, {duration(slowestTool.ms)}
      </Fact>
    ),
    miss === undefined ? null : (
      <Fact name="Most expensive cache miss" onClick={goTo(spanAt(spans, "model_call", miss))}>
        {missText(miss)}
      </Fact>
    ),
    repeat === undefined ? null : (
      <Fact name="Repeated with the same input">
        {safeText(repeat.name)}, {repeat.calls} times, {duration(repeat.total_ms)}
        {repeats.length > 1 ? `, and ${repeats.length - 1} more` : ""}
      </Fact>
    ),
  ].filter((fact) => fact !== null);
  return facts.length === 0 ? null : <dl class="notable">{isWhole ? facts : facts.slice(0, MAX_FACTS)}</dl>;
}

// --- internal ---

const MAX_FACTS = 3;

function Fact({
  name,
  children,
  onClick,
}: {
  name: string;
  children: preact.ComponentChildren;
  onClick?: (() => void) | undefined;
}) {
  return (
    <Pair name={name}>
      {onClick === undefined ? (
        children
      ) : (
        <button type="button" class="link" onClick={onClick}>
          {children}
        </button>
      )}
    </Pair>
  );
}

type ExpensiveTurn = NonNullable<ExplanationDocument["expensiveTurn"]>;

/** @returns -1: the spans do not contain it */
const turnSpan = (spans: Spans, { turn }: ExpensiveTurn): number =>
  spans.find((i) => spans.kindOf(i) === "turn" && spans.labelOf(i) === `Turn ${turn}`);

interface LedToProps {
  readonly changes: ExplanationDocument["changes"];
  readonly source: string;
  /** Id of the session. */
  readonly id: string;
}

/** Each change with a link to all of its work, and the commits of this session together. */
function LedTo({ changes, source, id }: LedToProps) {
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

/** More do not fit beside the waterfall's explanation. */
const MAX_CHANGES = 3;

function commitsText(commits: LedToProps["changes"]): string {
  const inferred = commits.filter(({ certainty }) => certainty === "inferred").length;
  return `${plural(commits.length, "commit")}${inferred === 0 ? "" : `, ${inferred} inferred`}`;
}

/** A link into the changes view; an exported page has no other views. */
function ViewLink({ params, children }: { params: Params; children: preact.ComponentChildren }) {
  return EXPORTED === undefined ? <a href={hrefOf("changes", params)}>{children}</a> : <span>{children}</span>;
}
