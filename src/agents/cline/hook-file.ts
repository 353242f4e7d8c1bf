import { isOurCommand } from "../shared/settings/settings.ts";

/**
 * The text of a hook file that contains only our hook: a shell script, or on Windows a script for Node, which Cline runs
 * because of its extension.
 *
 * @param path its extension selects the form
 * @param command the command line to run
 */
export function hookFileText(path: string, command: string): string {
  if (!path.endsWith(".cjs")) return `#!/bin/sh\n${MARKER}\n${command}\n`;
  const options = '{ shell: true, stdio: "inherit", windowsHide: true }';
  return `// ${MARK}\nrequire("node:child_process").spawnSync(${JSON.stringify(command)}, ${options});\n`;
}

/** True for an unchanged text that this version or another one wrote. */
export function isOurs(text: string): boolean {
  const [first, second, third, ...rest] = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const isRestEmpty = rest.every((line) => line === "");
  if (first === "#!/bin/sh" && second === MARKER) return isRestEmpty && isOurCommand(third ?? "");
  if (first !== `// ${MARK}` || third !== "" || !isRestEmpty) return false;
  return isOurCommand(commandIn(second ?? "") ?? "");
}

/** True for a text of ours to which a user added something; `isOurs` is false for it. */
export const hasAdditions = (text: string): boolean => !isOurs(text) && text.includes(MARK);

// --- internal ---

const MARK = "openhook-otel wrote this file; `openhook-otel disable cline` takes it away";
const MARKER = `# ${MARK}`;

function commandIn(line: string): string | undefined {
  const text = /spawnSync\(("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
  return text === undefined ? undefined : String(JSON.parse(text));
}
