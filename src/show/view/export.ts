import { createHash } from "node:crypto";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import type { Protection } from "#core/privacy/protection.ts";
import { redactNames, redactSpan } from "#core/privacy/records.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { recordAtLevel } from "#core/telemetry/level.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import { contentAtLevel } from "#store/capture/protect.ts";
import type { Database } from "#store/database.ts";
import type { StoredSession } from "#store/sessions.ts";
import { nativeBySpan } from "../report/native/notes.ts";
import { spansOf } from "../report/session-spans.ts";
import { viewOf } from "../report/session-view.ts";
import { type SessionDocument, spanDocument, toDocument } from "./data/document.ts";
import { type ExplanationDocument, toExplanation } from "./data/explanation.ts";
import type { RowDeps } from "./data/rows.ts";
import type { ViewDeps } from "./deps.ts";
import type { ExportedPage } from "./wire/documents.ts";

interface ExportDeps extends RowDeps, Pick<ViewDeps, "files"> {
  readonly settings: SpanSettings;
  /** How much the file contains, at most what is stored. */
  readonly level: CaptureLevel;
  readonly protection: Pick<Protection, "redact" | "redactName">;
}

/**
 * One session as a page in a single file: its data, the page's script and style, nothing from elsewhere. The policy in it allows exactly
 * this script and this style and no request at all.
 */
export function exportPage(db: Database, stored: StoredSession, deps: ExportDeps): string {
  const { files, level } = deps;
  const { nowMs } = deps.idle;
  const script = inline(files, "page.js", /<\/script/gi, "<\\/script");
  const style = inline(files, "page.css", /<\/style/gi, "<\\/style");
  const data = JSON.stringify(exportedData(db, stored, deps)).replaceAll("<", "\\u003c");
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en" data-program="openhook-otel">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Session · openhook-otel</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript.</noscript>
<!-- Exported ${new Date(nowMs).toISOString()} at capture level ${level} -->
<script type="application/json" id="data">${data}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

// --- internal ---

function exportedData(db: Database, stored: StoredSession, deps: ExportDeps): ExportedPage {
  const { agents, settings, level, protection, idle } = deps;
  const ownNamesOf = (source: string) => agents.find((agent) => agent.source === source)?.own;
  const content = contentAtLevel(level, protection.redact);
  const safe = (record: SpanRecord): SpanRecord =>
    redactSpan(recordAtLevel(record, level, ownNamesOf), protection.redactName, content);
  const whole = viewOf(db, stored, { agents }, settings);
  // Servers and who decided have names
  const native = keepsNames(level) ? [...whole.native] : [];
  const view = { ...whole, native: new Map(redactNames(native, protection.redactName)) };
  const ofSpans = nativeBySpan(view.native, view.facts);
  const spans = Array.from(spansOf(db, view), (span) => ({ ...span, record: safe(span.record) }));
  const documents = spans.map(({ record, open }) => {
    // The same for all spans of a session, so it is in the file once
    const { resource: _, ...rest } = { ...record };
    return spanDocument({ ...rest, resource: {} }, open, undefined, ofSpans.get(record.spanId));
  });
  return {
    kind: "export",
    exportedMs: idle.nowMs,
    level,
    session: sessionAtLevel(toDocument(db, view, { agents, idle }, undefined, spans), deps),
    explanation: explanationAtLevel(toExplanation(db, view, { agents }), deps),
    resource: spans[0]?.record.resource ?? {},
    spans: documents,
  };
}

function sessionAtLevel(document: SessionDocument, { level, protection }: ExportDeps): SessionDocument {
  const { redactName } = protection;
  const { row } = document;
  const named = keepsNames(level) ? row : { ...row, repository: null, repositoryName: null, folder: null, title: "" };
  return {
    ...document,
    traceUrl: null,
    row: redactNames(named, redactName),
  };
}

/** Its sentences contain names of tools, which may be the user's own, and its changes names of branches. */
function explanationAtLevel(explanation: ExplanationDocument, { level, protection }: ExportDeps): ExplanationDocument {
  if (keepsNames(level)) return redactNames(explanation, protection.redactName);
  return { ...explanation, findings: [], slowestTool: null, repeats: [], unknown: [], changes: [] };
}

/** @throws Error if the page was not built completely */
function inline(files: ViewDeps["files"], name: string, end: RegExp, escaped: string): string {
  const file = files.get(name);
  if (file === undefined) throw new Error(`the page has no ${name}`);
  return file.body.replace(end, escaped);
}

const hashOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;
