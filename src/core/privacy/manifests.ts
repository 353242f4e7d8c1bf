import type { Cell } from "./tables.ts";

/**
 * Values that are secret because of what is beside them: everything in a `Secret` of Kubernetes, in YAML and JSON, and the private
 * part of a JSON Web Key.
 */
export function* manifestSecrets(text: string): Generator<Cell> {
  if (text.includes('"kty"')) {
    for (const { 0: whole, 1: value = "", index } of text.matchAll(PRIVATE_PART))
      yield { start: index + whole.length - value.length, text: value };
  }
  if (!SECRET.test(text)) return;
  let start = 0;
  for (const document of text.split(/^(?=---)/m)) {
    if (SECRET.test(document)) {
      for (const { start: at, text: value } of valuesIn(document)) yield { start: start + at, text: value };
    }
    start += document.length;
  }
}

// --- internal ---

const PRIVATE_PART = /"(?:d|p|q|dp|dq|qi|k)"[ \t]{0,4}:[ \t\r\n]{0,8}"([A-Za-z0-9_-]{20,})/g;
const SECRET = /(?:^|[\s"'{,-])["']?kind["']?[ \t]{0,8}:[ \t\r\n]{0,8}["']?Secret(?:List)?["']?(?![A-Za-z])/;
/** In braces, as JSON and as YAML. */
const BRACES = /["']?(?:data|stringData)["']?[ \t]{0,8}:[ \t\r\n]{0,8}\{([^{}]*)\}/g;
const PAIR =
  /["']?[A-Za-z0-9_.-]{1,253}["']?[ \t]{0,8}:[ \t\r\n]{0,8}(?:"((?:[^"\\]|\\[\s\S])*)"|'([^'\r\n]*)'|([^\s,{}"']+))/g;
/** What can be before a line: its indentation, also in a diff, a quotation or a list. */
const HEAD = /^([ \t>|+-]*)["']?(?:data|stringData)["']?:[ \t]*(?:#.*)?$/;
const ENTRY = /^[ \t>|+-]*["']?[A-Za-z0-9_.-]{1,253}["']?:[ \t]*(?:[|>][-+0-9]*$|["']?([^"'\s#][^"']*))/;
const LINE = /^([ \t>|+-]*)(\S.*)$/;

function* valuesIn(document: string): Generator<Cell> {
  for (const braces of document.matchAll(BRACES)) {
    const [whole, inside = ""] = braces;
    const from = braces.index + whole.length - inside.length - 1;
    for (const pair of inside.matchAll(PAIR)) {
      const value = pair[1] ?? pair[2] ?? pair[3] ?? "";
      if (value !== "") yield { start: from + pair.index + pair[0].lastIndexOf(value), text: value };
    }
  }
  let at = 0;
  /** The indentation of `data:`, while its entries are read. */
  let indent: number | undefined;
  for (const line of document.split("\n")) {
    const [, before = "", rest = ""] = LINE.exec(line) ?? [];
    if (indent !== undefined && rest !== "" && before.length <= indent) indent = undefined;
    if (indent !== undefined && rest !== "") {
      const entry = ENTRY.exec(line);
      // A line without a name belongs to a text in several lines
      const value = (entry === null ? rest : (entry[1] ?? "")).trimEnd();
      if (value !== "") yield { start: at + line.lastIndexOf(value), text: value };
    }
    const head = HEAD.exec(line.trimEnd());
    if (head !== null) indent = head[1]?.length ?? 0;
    at += line.length + 1;
  }
}
