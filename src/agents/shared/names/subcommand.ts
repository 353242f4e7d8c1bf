/**
 * The subcommand of a command-line program: the words that its grammar places before any word of the user's choice.
 *
 * Everything else may contain a secret and is omitted: options with their values, operands, and all words of programs whose
 * grammar is not listed here. `wrapper.sh` has the same rules, because arguments must not even be in the inbox.
 *
 * @param program the program's name without path
 * @param args its arguments; anything but text ends the subcommand
 * @returns up to two words, e.g. `["pr", "create"]`; `[]` if nothing is certain
 */
export function subcommandOf(program: string, args: readonly unknown[]): readonly string[] {
  const grammar = Object.hasOwn(GRAMMARS, program) ? GRAMMARS[program] : undefined;
  if (grammar === undefined) return [];
  let { valued, bare } = grammar;
  let first: string | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at];
    if (typeof argument !== "string") break;
    const option = optionIn(argument, valued, bare);
    if (option === "unknown") break;
    if (option !== "none") {
      at += option === "with separate value" ? 1 : 0;
      continue;
    }
    if (!/^[a-z][a-z0-9-]{0,29}$/.test(argument)) break;
    if (first !== undefined) return grammar.isSecond(first, argument) ? [first, argument] : [first];
    if (!grammar.hasSecond(argument)) return [argument];
    first = argument;
    if (grammar.compose && argument === "compose") ({ valued, bare } = COMPOSE);
  }
  return first === undefined ? [] : [first];
}

/** Programs whose subcommands are known. */
export const knownPrograms = (): readonly string[] => Object.keys(GRAMMARS);

// --- internal ---

interface Options {
  /** Options followed by a value. */
  readonly valued: ReadonlySet<string>;
  readonly bare: ReadonlySet<string>;
}

interface Grammar extends Options {
  hasSecond(first: string): boolean;
  isSecond(first: string, second: string): boolean;
  /** Whether the subcommand `compose` exists, which has its own options before its subcommand. */
  readonly compose?: boolean;
}

function optionIn(
  argument: string,
  valued: ReadonlySet<string>,
  bare: ReadonlySet<string>,
): "none" | "alone" | "with separate value" | "unknown" {
  if (!argument.startsWith("-")) return "none";
  const equals = argument.startsWith("--") ? argument.indexOf("=") : -1;
  if (equals !== -1) {
    const name = argument.slice(0, equals);
    return valued.has(name) || bare.has(name) ? "alone" : "unknown";
  }
  if (valued.has(argument)) return "with separate value";
  if (bare.has(argument)) return "alone";
  // `-nprod`: a short option joined with its value
  const isShort = !argument.startsWith("--") && [...argument].length > 2;
  return isShort && valued.has([...argument].slice(0, 2).join("")) ? "alone" : "unknown";
}

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ""));

const NONE: Grammar = { valued: new Set(), bare: new Set(), hasSecond: () => false, isSecond: () => false };

const grouped = (valued: string, bare: string, groups: string, compose = false): Grammar => {
  const known = listed(groups);
  return {
    valued: listed(valued),
    bare: listed(bare),
    compose,
    hasSecond: (first) => known.has(first),
    isSecond: () => true,
  };
};

const DOCKER = grouped(
  "--config -c --context --connection -H --host -l --log-level --tlscacert --tlscert --tlskey",
  "-D --debug --tls --tlsverify",
  `builder buildx checkpoint compose config container context image kube machine manifest network node plugin pod
  secret service stack swarm system trust volume`,
  true,
);

const COMPOSE: Options = {
  valued: listed("-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress"),
  bare: listed("--compatibility --dry-run --all-resources"),
};

/** The first word can be a user's alias, so the second word counts only if it is a known operation. */
const AWS_WORDS = listed(
  `cp deploy help invoke list login logout ls mb mv package presign publish query rb rm scan subscribe sync tail wait
  website`,
);
const AWS_VERBS = listed(
  `add associate attach batch cancel copy create decode delete deregister describe detach disable disassociate enable
  execute export filter get import initiate invoke list lookup modify put reboot receive register remove reset restore
  resume run search send start stop tag terminate test transact untag update upload validate verify`,
);

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  gh: grouped(
    "-R --repo --hostname",
    "",
    `alias attestation auth cache codespace config extension gist gpg-key issue label org pr preview project release
    repo ruleset run search secret ssh-key variable workflow`,
  ),
  kubectl: grouped(
    `-n --namespace --context --cluster --user -s --server --kubeconfig --kuberc --token --as --as-group --as-uid
    --cache-dir --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name
    --username --password --profile --profile-output --vmodule -v --v --stderrthreshold --log-backtrace-at --log-dir
    --log-file --log-file-max-size --log-flush-frequency`,
    `--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --alsologtostderr
    --logtostderr`,
    `annotate auth autoscale certificate cluster-info config create delete describe edit explain expose get label patch
    plugin rollout scale set top wait`,
  ),
  docker: DOCKER,
  podman: DOCKER,
  aws: {
    valued: listed(
      `--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout
      --cli-binary-format`,
    ),
    bare: listed(
      `--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt --cli-auto-prompt`,
    ),
    hasSecond: () => true,
    isSecond: (_, second) => AWS_WORDS.has(second) || AWS_VERBS.has(/^([a-z]+)-/.exec(second)?.[1] ?? ""),
  },
  ...Object.fromEntries(
    [
      ...listed(
        `az brew bun cargo gcloud git glab go helm npm pip pip3 pnpm poetry pulumi systemctl terraform tofu uv yarn`,
      ),
    ].map((name) => [name, NONE]),
  ),
};
