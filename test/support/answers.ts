import { PassThrough, Writable } from "node:stream";

/** A terminal whose user presses a key when the output contains a text. */
export function answeringTerminal(...answers: readonly (readonly [text: string, key: string])[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const left = [...answers];
  let shown = "";
  let since = 0;
  const stdout = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        shown += String(chunk);
        const [next] = left;
        if (next !== undefined && shown.includes(next[0], since)) {
          since = shown.length;
          left.shift();
          // The prompt listens for keys after it has drawn itself
          setTimeout(() => stdin.write(next[1]), 30);
        }
        done();
      },
    }),
    { isTTY: true, columns: 120 },
  );
  return { stdin, stdout, shown: () => shown };
}

export const ENTER = "\r";
export const NO = "n";
export const CANCEL = "\u0003";
