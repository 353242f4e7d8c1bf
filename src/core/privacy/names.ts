import type { Redact } from "./redact.ts";

/**
 * Makes the redactor for names: of models, tools, servers, subagents, branches and repositories, and whatever else is sent without
 * being content. It removes secrets, user names in paths, and account numbers.
 *
 * A path below a home folder becomes its last part, and a name with an e-mail address becomes the marker alone, because the rest of it
 * is likely to be about the same person. The host and the path of an address stay.
 *
 * @param redact for texts
 * @param removesUsers whether user names in paths are redacted (`redaction.homeDirectories`)
 */
export function nameRedactor(redact: Redact, removesUsers: boolean): Redact {
  return (name) => {
    // Most names have none of these
    const clean = redact(SUSPECT.test(name) ? withoutOwners(name, removesUsers) : name);
    return clean !== name && clean.includes(EMAIL) && /^[^\s]*$/.test(clean) && !clean.includes("://") ? EMAIL : clean;
  };
}

// --- internal ---

const USER = "[redacted:user]";
const EMAIL = "[redacted:email]";
const ACCOUNT = "[redacted:account]";

const SUSPECT = /[~\\]|\/|[-_](?:home|Users)[-_]|[0-9]{12}|[0-9]{4}-[0-9]{4}-[0-9]{4}|arn:/;

const PART = "[^\\\\/\\s\"'`:;,<>|()?*]{1,128}";
/** A home folder and what is below it, at the beginning of a path. */
const BELOW_HOME = new RegExp(
  `(?<![A-Za-z0-9.])(?:[A-Za-z]:[\\\\/]{1,4}[Uu]sers|(?:[\\\\/]{1,4}[A-Za-z0-9.-]{1,64}){0,4}?[\\\\/]{1,4}(?:home|Users))[\\\\/]{1,4}(\\[redacted:user\\]|${PART})((?:[\\\\/]{1,4}${PART}){0,40})`,
  "g",
);
/** The same in an address, where a host is before it. */
const HOME_IN_ADDRESS = new RegExp(`(/(?:home|Users)/)(?!\\[redacted:)${PART}`, "g");
/** `~user`, also in an address. */
const TILDE = /(?<![A-Za-z0-9.])~[A-Za-z0-9][A-Za-z0-9._-]{0,63}/g;
/** Paths in which an agent replaced the separators, up to the next part of the name of an MCP tool. */
const FLAT_HOME = /(?<=^|__|[^A-Za-z0-9_-])(?:[A-Za-z]-)?[-_](?:home|Users)[-_](?:(?!__)[A-Za-z0-9._-]){1,200}/g;

/** Folders in /home and /Users that belong to no person. */
const SHARED = /^(?:shared|public|default|linuxbrew|runneradmin|runner)$/i;

const ARN =
  /(arn:[a-z-]{1,20}:[a-z0-9-]{1,40}:[a-z0-9-]{0,40}:)([0-9]{12})?(:[A-Za-z0-9-]{1,60}[:/])([^\s"'`]{1,256})/g;
/** Names that vendors choose: models, and ids. A user chose any other name at the end of an ARN. */
const VENDORS_NAME =
  /^(?:[a-z0-9-]+\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot(?:ai)?|nvidia|openai|qwen|stability|twelvelabs|writer|zai)\.[a-z0-9]|^(?=[a-z]*[0-9])[a-z0-9]{10,16}$/;
/** Account numbers have twelve digits, but so has a time to the minute. */
const NUMBER =
  /(?<![A-Za-z0-9]|[0-9a-f]{4}-[0-9a-f]{4}-)(?!(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9][0-2][0-9][0-5][0-9])[0-9]{12}(?![A-Za-z0-9])/g;
const NUMBER_IN_GROUPS = /(?<![A-Za-z0-9]|[0-9a-f]{4}-)[0-9]{4}-[0-9]{4}-[0-9]{4}(?![A-Za-z0-9-])/g;
const IN_CLOUD =
  /((?:accounts|organizations|orgs|projects|subscriptions|tenants|workspaces)[/:])(?=[a-f-]{0,36}[0-9])[0-9a-f-]{6,36}(?![A-Za-z0-9._-])/g;

function withoutOwners(name: string, removesUsers: boolean): string {
  const text = name
    .replace(ARN, (_, start: string, account: string | undefined, kind: string, resource: string) => {
      const last = !removesUsers || VENDORS_NAME.test(resource) ? resource : USER;
      return `${start}${account === undefined ? "" : ACCOUNT}${kind}${last}`;
    })
    .replace(NUMBER, ACCOUNT)
    .replace(NUMBER_IN_GROUPS, ACCOUNT)
    .replace(IN_CLOUD, `$1${ACCOUNT}`);
  if (!removesUsers) return text;
  const named = text.replace(TILDE, `~${USER}`).replace(FLAT_HOME, USER);
  if (/^(?!file:)[a-z][a-z0-9+.-]{0,40}:\/\//i.test(named)) return named.replace(HOME_IN_ADDRESS, `$1${USER}`);
  return named.replace(BELOW_HOME, (path, user: string, below: string) =>
    SHARED.test(user) ? path : (below.split(/[\\/]/).findLast((part) => part !== "") ?? USER),
  );
}
