import type { LoadedConfig } from "#config/load.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { type Json, otlpLines } from "#kit/text/otlp-json.ts";
import { flow, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import type { Preview, PreviewedRequest } from "./preview.ts";
import { previewSummary, shownUrl, summaryLines, unsentText } from "./preview-summary.ts";

/** A preview for people, secrets masked: its summary, then the requests. @param session what the user named, if anything */
export function* previewLines(
  preview: Preview,
  session: string | undefined,
  loaded: LoadedConfig,
  terminal: Terminal,
): Generator<string> {
  const { requests, settings } = preview;
  yield* summaryLines(previewSummary(preview, loaded), session !== undefined, terminal);
  yield "";
  if (requests.length === 0) {
    const what = session === undefined ? "nothing is queued" : "nothing of this session is queued";
    const why = `everything has been sent, or no turn has ended yet; ${suggest("import --export")} sends imported sessions`;
    yield* wrapped({ text: "" }, `${what}: ${why}`, terminal);
    return;
  }
  for (const [i, request] of requests.entries()) {
    if (i > 0) yield "";
    yield* head(request, `request ${i + 1} of ${requests.length}`, settings, loaded, terminal);
    yield* otlpLines(JSON.parse(request.body) as Json, terminal);
  }
}

// --- internal ---

function* head(
  { signal, body }: PreviewedRequest,
  title: string,
  settings: Preview["settings"],
  loaded: LoadedConfig,
  terminal: Terminal,
): Generator<string> {
  const to = settings[signal];
  yield* flow(
    [
      [{ text: title, style: "bold" }],
      [{ text: signal }],
      [{ text: plural(Buffer.byteLength(body), "byte") }],
      [
        {
          text: to === undefined ? unsentText(signal, loaded) : `to ${printable(shownUrl(to.url))}`,
        },
      ],
      ...Object.keys(to?.headers ?? {}).map((name) => [{ text: `header ${printable(name)}: ***` }]),
    ],
    terminal,
  );
}
