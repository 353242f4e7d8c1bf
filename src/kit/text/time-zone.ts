import { readlinkSync, realpathSync } from "node:fs";

/**
 * The IANA name of this process's time zone, as `Intl` reports it. Asks `Intl` only if the name is not obvious, because that takes
 * 10 ms: all its names take 1 ms.
 *
 * @param settings the variable TZ, and the machine's setting without it: usually a link to `…/zoneinfo/<name>`
 */
export function timeZoneName({ zone, link }: Settings = { zone: process.env["TZ"], link: "/etc/localtime" }): string {
  const name = process.platform === "win32" ? undefined : (zone ?? linkedZone(link));
  if (name === "UTC" || name === "Etc/UTC") return "UTC";
  // Of names with the same rules `Intl` knows one as the name, and reports it for the others too
  if (name !== undefined && Intl.supportedValuesOf("timeZone").includes(name)) return name;
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

// --- internal ---

interface Settings {
  readonly zone: string | undefined;
  readonly link: string;
}

/** `undefined` for a copy instead of a link, and for a link to a link with another name. */
function linkedZone(link: string): string | undefined {
  try {
    const name = zoneOf(readlinkSync(link));
    return name === zoneOf(realpathSync(link)) ? name : undefined;
  } catch {
    return undefined;
  }
}

function zoneOf(path: string): string | undefined {
  const at = path.indexOf(FOLDER);
  return at < 0 ? undefined : path.slice(at + FOLDER.length);
}

const FOLDER = "/zoneinfo/";
