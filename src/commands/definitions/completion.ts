import { Argument, type Command } from "commander";
import { GROUPS } from "./groups.ts";
import type { CommandSetup } from "./setup.ts";

/** Adds the command that prints a script for a shell, and the one that this script runs. */
export function addCompletionCommands(program: Command, { context, done }: CommandSetup): void {
  program
    .command("completion")
    .helpGroup(GROUPS.setUp)
    .description("print a script with which your shell completes commands, options, agents, settings and sessions")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText("after", EXAMPLES)
    .action(async (shell: string) => done((await import("../completion.ts")).completion(shell, context)));

  program
    .command("complete", { hidden: true })
    .argument("[words...]", "after --: the command line up to what is being typed")
    .action(async (words: string[]) => done((await import("../completion.ts")).complete(words, program, context)));
}

// --- internal ---

const EXAMPLES = `
bash:        openhook-otel completion bash > ~/.local/share/bash-completion/completions/openhook-otel
             or in ~/.bashrc: source <(openhook-otel completion bash)
zsh:         in ~/.zshrc, after compinit: source <(openhook-otel completion zsh)
fish:        openhook-otel completion fish > ~/.config/fish/completions/openhook-otel.fish
PowerShell:  in $PROFILE: openhook-otel completion powershell | Out-String | Invoke-Expression`;
