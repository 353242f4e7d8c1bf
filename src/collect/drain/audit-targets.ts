import { commandLineOf } from "#agents/shared/changes/call-texts.ts";
import { programOf } from "#agents/shared/changes/programs.ts";
import { COMPUTED, type ShellCommand, shellCommands } from "#agents/shared/changes/shell.ts";
import { asArray, asObject, asString, type Fields, parsedJson } from "#agents/shared/payload/json.ts";
import { writesOfPatch } from "#agents/shared/payload/patches.ts";
import type { AuditTarget } from "#core/audit/record.ts";
import { pathOfFileUri } from "#kit/file-uri.ts";
import { absolutePath } from "#store/capture/protect.ts";

/** A target with its text, secrets included. */
export interface FoundTarget extends Pick<AuditTarget, "kind" | "access" | "known"> {
  /** Absent: the address of the repository's remote. */
  readonly text?: string;
}

/**
 * What a tool call was given, whatever the agent calls its arguments: command line, files, addresses. Pure.
 *
 * @param given the call's arguments: text or any JSON value
 * @param folder in which paths are relative
 */
export function targetsOf(given: unknown, folder: string | undefined): readonly FoundTarget[] {
  const value = parsedJson(given);
  const members = asObject(value);
  const patched = patchedFiles(value, members);
  const files = patched.length > 0 ? patched : members === undefined ? [] : namedFiles(members);
  const commands = patched.length > 0 || editorCommand(members) !== undefined ? [] : commandLines(value, members);
  const found: FoundTarget[] = [
    ...commands.map((text) => ({ kind: "command", known: "argument", text }) as const),
    ...files.map((file) => ({ ...file, ...(file.text !== undefined && { text: absolutePath(file.text, folder) }) })),
    ...(members === undefined ? [] : namedAddresses(members)),
    ...commands.flatMap(addressesIn),
  ];
  const byText = new Map(found.map((one) => [`${one.kind} ${one.text ?? ""}`, one]));
  return [...byText.values()].slice(0, MAX_TARGETS);
}

/** An address without user, password, query and fragment, which can be secret. @returns `undefined` if it is none */
export function plainAddress(text: string): string | undefined {
  const [certain = ""] = text.split(COMPUTED);
  const scp = /^(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!\/\/)([\w~.][^\s:]*)$/.exec(certain);
  const url = scp === null ? certain : `ssh://${scp[1]}/${scp[2]}`;
  if (!URL.canParse(url)) return undefined;
  const { protocol, host, pathname } = new URL(url);
  return host === "" ? undefined : `${protocol}//${host}${pathname}`;
}

// --- internal ---

/** A call with more works on generated lists. */
const MAX_TARGETS = 100;

const PATHS =
  `path file_path filePath filepath absolute_path absolutePath AbsolutePath target_file TargetFile notebook_path
  filename fileName file`.split(/\s+/);
const LISTS = ["paths", "files", "file_paths", "filePaths", "replacements"];
const ADDRESSES = ["url", "uri", "Url", "URL", "href", "urls", "address", "endpoint"];
/** Of editors that name what they do in the same member as shells name their command. */
const EDITOR_COMMANDS = /^(?:view|create|str_replace|insert|undo_edit|delete|rename|read|write|edit|multi_edit)$/;

function editorCommand(members: Fields | undefined): string | undefined {
  const [command] = EDITOR_COMMANDS.exec(asString(members?.["command"]) ?? "") ?? [];
  return PATHS.some((name) => asString(members?.[name])) ? command : undefined;
}

/** One command line, or a list of several. */
function commandLines(value: unknown, members: Fields | undefined): readonly string[] {
  const several = asArray(members?.["commands"]).flatMap((one) => commandLineOf(one) ?? []);
  const [command = ""] = several.length > 0 ? [] : [commandLineOf(value)];
  return [...several, command].filter((one) => one.trim() !== "");
}

function patchedFiles(value: unknown, members: Fields | undefined): readonly FoundTarget[] {
  const texts = [value, ...["input", "patch", "command", "content"].map((name) => members?.[name])].flat();
  const patch = texts.find((text): text is string => typeof text === "string" && text.includes("*** Begin Patch"));
  return writesOfPatch(patch ?? "").map(({ path }) => ({
    kind: "file",
    access: "write",
    known: "argument",
    text: path,
  }));
}

function namedFiles(members: Fields): readonly FoundTarget[] {
  const several = LISTS.flatMap((name) => asArray(members[name]));
  const command = editorCommand(members);
  const access = command === undefined ? {} : ({ access: /^(?:view|read)$/.test(command) ? "read" : "write" } as const);
  return [members, ...several].flatMap((one) => {
    const texts = typeof one === "string" ? [one] : PATHS.flatMap((name) => asString(asObject(one)?.[name]) ?? []);
    return texts.map((text) => ({ kind: "file", ...access, known: "argument", text }) as const);
  });
}

function namedAddresses(members: Fields): readonly FoundTarget[] {
  return ADDRESSES.flatMap((name) => [members[name]].flat()).flatMap((value): readonly FoundTarget[] => {
    const text = asString(value);
    if (text === undefined) return [];
    const path = text.startsWith("file:") ? pathOfFileUri(text) : undefined;
    if (path !== undefined) return [{ kind: "file", known: "argument", text: path }];
    const address = plainAddress(text);
    return address === undefined ? [] : [{ kind: "address", known: "argument", text: address }];
  });
}

/** Programs that only write or search for an address that they are given. */
const NO_CLIENTS = /^(?:echo|printf|grep|egrep|fgrep|rg|ag|sed|awk|cat|jq|tee|export|test|\[|find|ls|touch|mkdir)$/;
/** Subcommands of git that work with a remote repository. */
const REMOTE_GIT = /^(?:clone|fetch|pull|push|ls-remote|submodule)$/;
const CLIENTS = /^(?:curl|wget|http|https|xh|aria2c)$/;
const REMOTE_SHELLS = /^(?:ssh|scp|sftp|rsync|git)$/;
/** Options of these clients whose value is the next word. */
const VALUED = /^-\w*[AbcdDeEFHKmoPTuwxX]$|^--(?:output|header|data|user|form|request|cookie|proxy|referer|post-data)/;
const HOST = /^(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::\d+)?(?:\/|$)/;

/** Addresses of a command line's programs, as they are written there. */
function addressesIn(command: string): readonly FoundTarget[] {
  return (shellCommands(command) ?? []).flatMap((one): readonly FoundTarget[] => {
    const program = programOf(one);
    if (program === undefined || NO_CLIENTS.test(program.name)) return [];
    const [subcommand = ""] = program.operands;
    if (program.name === "git" && !REMOTE_GIT.test(subcommand)) return [];
    const texts = [...new Set(one.words.flatMap((word) => addressOf(word, program.name) ?? []))];
    if (texts.length === 0 && CLIENTS.test(program.name)) texts.push(...hostOf(one));
    if (texts.length === 0 && program.name === "git" && !program.isElsewhere)
      return [{ kind: "address", known: "remote" }];
    return texts.map((text) => ({ kind: "address", known: "command", text }) as const);
  });
}

function addressOf(word: string, program: string): string | undefined {
  const url = /(?:https?|ftps?|sftp|ssh|git|wss?):\/\/[^\s'"<>|]+/i.exec(word)?.[0];
  if (url !== undefined) return plainAddress(url);
  return REMOTE_SHELLS.test(program) && word.includes("@") ? (plainAddress(word) ?? sshHost(word)) : undefined;
}

const sshHost = (word: string): string | undefined => {
  const host = /^[\w.-]+@([\w.-]+)$/.exec(word)?.[1];
  return host === undefined ? undefined : plainAddress(`ssh://${host}/`);
};

/** `curl example.org/x`: the first word that can be a host. */
const hostOf = ({ words }: ShellCommand): readonly string[] => {
  const host = words.find((word, at) => at > 0 && HOST.test(word) && !VALUED.test(words[at - 1] ?? ""));
  const address = host === undefined ? undefined : plainAddress(`http://${host}`);
  return address === undefined ? [] : [address];
};
