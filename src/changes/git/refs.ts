import type { Git } from "./git.ts";

/** What is read from a repository's refs. */
export interface Refs {
  /** Full name of the default branch, as far as this repository knows it. */
  readonly defaultRef?: string;
  /** Ref → commit, for HEAD, local and remote branches, and tags. */
  readonly tips: ReadonlyMap<string, string>;
  readonly isShallow: boolean;
  readonly hasAiNotes: boolean;
  /** The git directory that all worktrees share. */
  readonly commonDir: string;
}

/**
 * Reads a repository's refs. The default branch is that of the remote, as last fetched, because work counts as merged when others have
 * it; without a remote it is the local one.
 *
 * @throws GitError if the folder is in no repository, or git must not read it
 */
export async function readRefs(git: Git): Promise<Refs> {
  const described = await git.text([
    "rev-parse",
    "--is-shallow-repository",
    "--path-format=absolute",
    "--git-common-dir",
  ]);
  const [shallow, commonDir = ""] = described.trim().split("\n");
  const tips = new Map<string, string>();
  const heads = new Map<string, string>();
  let hasAiNotes = false;
  // Fields with * describe what an annotated tag points to
  const format = "%(refname)%00%(objectname) %(objecttype)%00%(*objectname) %(*objecttype)%00%(symref)";
  for await (const record of git.records(["for-each-ref", `--format=${format}`], "\n")) {
    const [name = "", object = "", tagged = "", symref = ""] = record.toString("utf8").split("\0");
    const [id] = [object, tagged].flatMap((one) => /^(\S+) commit$/.exec(one)?.[1] ?? []);
    if (name === AI_NOTES) hasAiNotes = true;
    if (/^refs\/remotes\/[^\n]+\/HEAD$/.test(name)) heads.set(name, symref);
    if (id !== undefined && /^refs\/(heads|remotes|tags)\//.test(name)) tips.set(name, id);
  }
  const head = await headOf(git);
  if (head.id !== undefined) tips.set("HEAD", head.id);
  const defaultRef = defaultOf(tips, heads, head.ref);
  return {
    ...(defaultRef !== undefined && { defaultRef }),
    tips,
    isShallow: shallow === "true",
    hasAiNotes,
    commonDir,
  };
}

/** The ref of notes that the tool git-ai writes. */
export const AI_NOTES = "refs/notes/ai";

// --- internal ---

/** Names of default branches, if nothing else says which it is. */
const USUAL = ["main", "master", "trunk", "develop"];

async function headOf(git: Git): Promise<{ readonly id?: string; readonly ref?: string }> {
  const text = async (args: readonly string[]): Promise<string | undefined> => {
    try {
      return (await git.text(args)).trim() || undefined;
    } catch {
      // A branch without commits; a detached head
      return undefined;
    }
  };
  const id = await text(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const ref = await text(["symbolic-ref", "--quiet", "HEAD"]);
  return { ...(id !== undefined && { id }), ...(ref !== undefined && { ref }) };
}

function defaultOf(
  tips: ReadonlyMap<string, string>,
  heads: ReadonlyMap<string, string>,
  head: string | undefined,
): string | undefined {
  const named = [heads.get("refs/remotes/origin/HEAD"), ...heads.values()];
  const usual = ["refs/remotes/origin/", "refs/remotes/upstream/", "refs/heads/"].flatMap((prefix) =>
    USUAL.map((name) => prefix + name),
  );
  const found = [...named, ...usual].find((ref) => ref !== undefined && tips.has(ref));
  if (found !== undefined) return found;
  const branches = [...tips.keys()].filter((name) => name.startsWith("refs/heads/"));
  // The only branch there is
  return branches.length === 1 && branches[0] === head ? head : undefined;
}
