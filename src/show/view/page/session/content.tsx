import { useEffect, useState } from "preact/hooks";
import type { Documents } from "../../wire/documents.ts";
import type { SpanDocument } from "../../wire/spans.ts";
import { fetchOnce } from "../data/api.ts";
import { plural } from "../text/format.ts";
import { safeLines } from "../text/safe-text.ts";
import { contentLinesOf, type ShownLine } from "./content-lines.ts";
import { storedContent } from "./stored-content.ts";

interface Props {
  readonly source: string;
  readonly sessionId: string;
  readonly spanId: string;
  /** A new value means that the session has changed. */
  readonly version: unknown;
  /** Of the span, as far as they are here. */
  readonly attributes: SpanDocument["attributes"] | undefined;
}

/**
 * What the span's prompt, call and answer say: as its attributes have it, otherwise from the agent's own file. Nothing where neither
 * has any.
 */
export function Content({ source, sessionId, spanId, version, attributes }: Props) {
  const [content, setContent] = useState<Documents["content"]>();
  useEffect(() => {
    const control = new AbortController();
    void fetchOnce("content", { source, id: sessionId, span: spanId }, control.signal).then((fetched) => {
      if (fetched?.data !== undefined) setContent(fetched.data);
    });
    return () => control.abort();
  }, [source, sessionId, spanId, version]);
  const stored = attributes === undefined ? {} : storedContent(attributes);
  // Until the response for another span is here, the old one must not be shown
  const read = content?.spanId === spanId ? content : undefined;
  return (
    <>
      {PARTS.map(({ part, name }) => {
        const text = stored[part] ?? read?.[part] ?? null;
        return text === null ? null : <Part key={`${spanId} ${part}`} name={name} text={text} />;
      })}
    </>
  );
}

// --- internal ---

const PARTS = [
  { part: "prompt", name: "Prompt" },
  { part: "arguments", name: "Call" },
  { part: "result", name: "Result" },
  { part: "answer", name: "Answer" },
] as const;

/** Longer texts are folded. */
const MAX_LINES = 24;
const MAX_CHARACTERS = 4_000;

function Part({ name, text }: { readonly name: string; readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > MAX_CHARACTERS;
  const lines = contentLinesOf(text);
  const shown = isWhole ? lines : folded(lines);
  return (
    <section class="content">
      <h3>{name}</h3>
      <pre>
        {shown.map((line, i) => (
          <Line key={i} line={line} />
        ))}
      </pre>
      {lines.length <= MAX_LINES && !isLong ? null : (
        <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all: ${plural(lines.length, "line")}, ${plural(text.length, "character")}`}
        </button>
      )}
    </section>
  );
}

/** The first lines, and of these the first characters. */
function folded(lines: readonly ShownLine[]): readonly ShownLine[] {
  let left = MAX_CHARACTERS;
  return lines.slice(0, MAX_LINES).flatMap((line) => {
    if (left <= 0) return [];
    const text = line.text.length <= left ? line.text : `${line.text.slice(0, left)}…`;
    left -= line.text.length;
    return [{ ...line, text }];
  });
}

const Line = ({ line: { kind, text } }: { readonly line: ShownLine }) => (
  <span class={kind}>
    {safeLines(text)}
    {"\n"}
  </span>
);
