import { useState } from "preact/hooks";
import { Unknown } from "../figures/figures.tsx";
import { exact, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import type { Spans } from "./spans.ts";
import { type ChangedFile, pathIn } from "./story.ts";

interface Props {
  readonly files: readonly ChangedFile[];
  readonly spans: Spans;
  /** The session's folder. */
  readonly folder: string | null;
  readonly onSelect: (span: string) => void;
}

/** Changed files with their lines, each with links to the calls that changed it. Nothing if there are none. */
export function Files({ files, spans, folder, onSelect }: Props) {
  const [isWhole, setWhole] = useState(false);
  if (files.length === 0) return null;
  return (
    <section class="files">
      <h3>Changed files</h3>
      <ul>
        {files.slice(0, isWhole ? files.length : MAX_FILES).map((file) => (
          <li key={file.path}>
            <span class="path" title={safeText(file.path)}>
              {safeText(pathIn(folder, file.path))}
            </span>
            <Lines of={file.writes} />
            {file.operation === "create" ? <span class="muted"> new</span> : null}
            {file.operation === "delete" ? <span class="muted"> deleted</span> : null}
            <Calls of={file} spans={spans} onSelect={onSelect} />
          </li>
        ))}
      </ul>
      {files.length <= MAX_FILES ? null : (
        <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${plural(files.length, "file")}`}
        </button>
      )}
    </section>
  );
}

// --- internal ---

const MAX_FILES = 12;
const MAX_CALLS = 6;

/** Lines added and removed; what nobody counted is not shown as 0. */
function Lines({ of }: { of: ChangedFile["writes"] }) {
  const [added, removed] = [linesText(of.map((one) => one.added)), linesText(of.map((one) => one.removed))];
  if (added === null && removed === null) {
    return (
      <span class="changed-lines">
        lines <Unknown />
      </span>
    );
  }
  return (
    <span class="changed-lines">
      <span class="added">+{added ?? "?"}</span> <span class="removed">−{removed ?? "?"}</span>
    </span>
  );
}

/** The sum, a lower bound where some are unknown; `null` if all are. */
function linesText(all: readonly (number | null)[]): string | null {
  const known = all.filter((one) => one !== null);
  if (known.length === 0) return null;
  return `${known.length < all.length ? "≥" : ""}${exact(known.reduce((sum, one) => sum + one, 0))}`;
}

function Calls({ of: { writes }, spans, onSelect }: { of: ChangedFile } & Pick<Props, "spans" | "onSelect">) {
  const shown = writes.map(({ span }) => span).filter((id) => spans.indexOf(id) >= 0);
  return (
    <span class="calls">
      {shown.slice(0, MAX_CALLS).map((id) => (
        <button key={id} type="button" class="link" onClick={() => onSelect(id)}>
          {safeText(spans.labelOf(spans.indexOf(id)))}
        </button>
      ))}
      {shown.length > MAX_CALLS ? <span class="muted">and {plural(shown.length - MAX_CALLS, "more call")}</span> : null}
    </span>
  );
}
