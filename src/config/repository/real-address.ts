import type { GitSetting } from "./git-config.ts";
import { sshHostName } from "./user-settings.ts";

/**
 * The address that git and ssh use for a remote: people name the same repository by `url.<base>.insteadOf` and by a `Host` of their ssh
 * settings.
 *
 * @param settings of the machine, the user and the repository
 * @throws never
 */
export async function realAddress(url: string, settings: readonly GitSetting[], home: string): Promise<string> {
  const address = rewritten(url, settings);
  const [, start, host, end] = SSH.exec(address) ?? SCP.exec(address) ?? [];
  if (start === undefined || host === undefined || end === undefined) return address;
  const named = (await sshHostName(host, home)) ?? host;
  // The IP address of a proxy says less than the name that everybody uses
  const real = /^[\d.]+$|:/.test(named) ? host : named;
  const usual = BEHIND_443[real.toLowerCase()];
  if (usual === undefined) return `${start}${real}${end}`;
  return `${start}${usual}${end.replace(/^:443(?=\/)/, "")}`;
}

// --- internal ---

const SSH = /^((?:git\+)?ssh:\/\/(?:[^/@]*@)?)([^/:@]+)((?::\d+)?\/.*)$/s;
/** `[user@]host:path` */
const SCP = /^((?:[^/:@]+@)?)([A-Za-z0-9._-]{2,}|[^/:@]{2,})(:(?!\/\/|:).+)$/s;

/** Other names of the same servers, for networks that allow only port 443. */
const BEHIND_443: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
};

/** As in git, the longest beginning that fits applies; of equal ones the first. */
function rewritten(url: string, settings: readonly GitSetting[]): string {
  const fitting = settings
    .filter(({ section, key, value }) => section === "url" && key === "insteadof" && url.startsWith(value))
    .reduce<GitSetting | undefined>((a, b) => (a !== undefined && a.value.length >= b.value.length ? a : b), undefined);
  return fitting?.subsection === undefined ? url : fitting.subsection + url.slice(fitting.value.length);
}
