/** A file's text instead of what it does; in tests Vite gives it, in the bundle `scripts/build.mjs`. */
declare module "*?raw" {
  const text: string;
  export default text;
}
