import { matchesTerm, termsOf } from "../../match.ts";
import type { ApiError } from "../../wire/api.ts";
import type { ExplanationDocument, ExportedPage, SessionDocument } from "../../wire/documents.ts";
import type { SearchDocument, SpanDocument } from "../../wire/spans.ts";

/** The data of an exported page; `undefined` if a server answers the page's requests. */
export const EXPORTED = readData();

/** What a server would answer. */
export function exportedResponse(
  { session, explanation, spans, resource }: ExportedPage,
  url: string,
): SessionDocument | ExplanationDocument | SpanDocument | SearchDocument | ApiError {
  const { pathname, searchParams } = new URL(url, "http://export/");
  switch (pathname) {
    case "/api/session":
      return session;
    case "/api/explain":
      return explanation;
    case "/api/span": {
      const span = spans.find(({ spanId }) => spanId === searchParams.get("span"));
      return span === undefined ? ABSENT : { ...span, attributes: { ...resource, ...span.attributes } };
    }
    case "/api/search":
      return {
        kind: "search",
        terms: termsOf(searchParams.get("text") ?? "").map((term) => ({
          term,
          ids: spans
            .filter((span) => matchesTerm(span, term))
            .map(({ spanId }) => spanId)
            .join(""),
        })),
      };
    default:
      return ABSENT;
  }
}

/** A command as the user types it; the server puts the program's name into the page. */
export const command = (args: string): string =>
  `${document.documentElement.dataset["program"] ?? "openhook-otel"} ${args}`;

// --- internal ---

const ABSENT: ApiError = { kind: "error", code: "E_EXPORT", message: "The exported file does not contain this." };

function readData(): ExportedPage | undefined {
  const text = document.getElementById("data")?.textContent;
  return text == null ? undefined : (JSON.parse(text) as ExportedPage);
}
