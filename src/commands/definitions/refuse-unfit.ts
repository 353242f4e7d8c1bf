import { UserError } from "#kit/errors.ts";

interface Options {
  readonly scope?: string;
  readonly statusline?: boolean;
  readonly native: boolean;
  readonly forward?: boolean;
  readonly full: boolean;
  readonly dryRun: boolean;
}

/** Options of `enable` and `disable` that do not go together. @throws UserError */
export function refuseUnfit({ scope, statusline, native, forward, full, dryRun }: Options, managed: boolean): void {
  const given = scope !== undefined ? "--scope" : statusline ? "--statusline" : native && "--native";
  if (managed && given) throw new UserError("E_USAGE", `${given} cannot be used with --managed`);
  if (full && (managed || !dryRun)) throw new UserError("E_USAGE", "--full is for --dry-run of your settings");
  if (forward && !native) throw new UserError("E_USAGE", "--forward is for --native");
  if (native && scope === "project")
    throw new UserError("E_USAGE", "--native is for your own settings, because a token is in them: leave out --scope");
}
