/**
 * The program of a shell command that is a single well-known program.
 *
 * A closed list keeps arguments, paths and secrets out of span names, and the number of names small.
 *
 * @returns the program's name without path; `undefined` for pipelines, lists, substitutions and anything unknown
 */
export function executableOf(command: unknown): string | undefined {
  if (typeof command !== "string" || command.length > 4096 || /[;&|<>`$(){}\n\\]/.test(command)) return undefined;
  const words = command.trim().split(/\s+/);
  const first = words.find((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const name = first?.replace(/^.*\//, "");
  return name !== undefined && KNOWN.has(name) ? name : undefined;
}

// --- internal ---

const KNOWN = new Set(
  `ansible apt apt-get aws awk az bash basename biome brew bun bundle cargo cat cd chmod chown clang cmake composer cp
  curl cut date deno df diff dig dirname docker docker-compose dotnet du echo env eslint fd file find flutter gcc gcloud
  gem gh git glab go gofmt golangci-lint gradle grep g++ head helm hostname id jest jq java javac kill kubectl less ln ls
  lsof make mkdir mocha mv mvn mysql netstat nginx ninja node npm npx nvm oxlint patch perl php pip pip3 pipenv playwright
  pnpm podman poetry prettier printf ps psql pulumi pwd pytest python python3 rails rake redis-cli rg rm rmdir rsync ruby
  ruff rustc rustup scp sed sh shellcheck sleep sort sqlite3 ssh stat swift tail tar tee terraform test time tmux touch
  tox tr tree tsc tsx turbo type uname uniq unzip uv uvx vite vitest wc wget which xargs xcodebuild yarn yq zip zsh`
    .split(/\s+/)
    .filter((name) => name !== ""),
);
