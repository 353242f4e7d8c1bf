import { useEffect, useState } from "preact/hooks";
import type { Documents } from "../../wire/documents.ts";
import { fetchOnce } from "../data/api.ts";
import { safeLines } from "../text/safe-text.ts";
import { contentLinesOf, type ShownLine } from "./content-lines.ts";

interface Props {
  readonly source: string;
  readonly sessionId: string;
  readonly spanId: string;
  /** A new value means that the session has changed. */
  readonly version: unknown;
}

/** What the span's prompt, call and answer say, from the agent's own file. Nothing where the file has none. */
export function Content({ source, sessionId, spanId, version }: Props) {
  const [content, setContent] = useState<Documents["content"]>();
  useEffect(() => {
    const control = new AbortController();
    void fetchOnce("content", { source, id: sessionId, span: spanId }, control.signal).then((fetched) => {
      if (fetched?.data !== undefined) setContent(fetched.data);
    });
    return () => control.abort();
  }, [source, sessionId, spanId, version]);
  // Until the response for another span is here, the old one must not be shown
  if (content?.spanId !== spanId) return null;
  return (
    <>
      {PARTS.map(({ part, name }) => {
        const text = content[part];
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

function Part({ name, text }: { readonly name: string; readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = contentLinesOf(text);
  const shown = isWhole ? lines : lines.slice(0, MAX_LINES);
  return (
    <section class="content">
      <h3>{name}</h3>
      <pre>
        {shown.map((line, i) => (
          <Line key={i} line={line} />
        ))}
      </pre>
      {lines.length <= MAX_LINES ? null : (
        <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all ${lines.length} lines`}
        </button>
      )}
    </section>
  );
}

const Line = ({ line: { kind, text } }: { readonly line: ShownLine }) => (
  <span class={kind}>
    {safeLines(text)}
    {"\n"}
  </span>
);
