/**
 * The page begins here. `app.tsx` chooses the view that the address names; each view has a folder: `home`, `sessions`, `session`, `changes`,
 * `usage`, `tools`. They share `data` (requests, and when to repeat them), `figures` (amounts and tables), `filters`, `parts` (controls and
 * placeholders), `text` and `hooks.ts`. What the server sends is in `../wire`.
 */
import { render } from "preact";
import { App } from "./app.tsx";

const place = document.getElementById("page");
if (place !== null) render(<App />, place);
