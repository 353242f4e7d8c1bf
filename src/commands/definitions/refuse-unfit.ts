import { UserError } from "#kit/errors.ts";

interface Options {
  readonly scope?: string;
  readonly statusline?: boolean;
  readonly native: boolean;
  readonly mcp: boolean;
  readonly forward?: boolean;
  readonly full: boolean;
  readonly dryRun: boolean;
}

/** Options of `enable` and `disable` that do not go together. @throws UserError */
export function refuseUnfit(
  { scope, statusline, native, mcp, forward, full, dryRun }: Options,
  managed: boolean,
): void {
  const given = scope !== undefined ? "--scope" : statusline ? "--statusline" : native ? "--native" : mcp && "--mcp";
  if (managed && given) throw new UserError("E_USAGE", `${given} cannot be used with --managed`);
  if (full && (managed || !dryRun)) throw new UserError("E_USAGE", "--full is for --dry-run of your settings");
  if (forward && !native) throw new UserError("E_USAGE", "--forward is for --native");
  if (native && scope === "project")
    throw new UserError("E_USAGE", "--native is for your own settings, because a token is in them: leave out --scope");
  if (mcp && scope === "project")
    throw new UserError(
      "E_USAGE",
      "--mcp is for your own settings, because paths of yours are in it: leave out --scope",
    );
}
