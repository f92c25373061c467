/** Unpack the Chromium of npm where the tests look for it: node_modules/.chromium/chromium. */

import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("node_modules/.chromium", import.meta.url));
mkdirSync(folder, { recursive: true });
process.env.TMPDIR = folder; // where the package unpacks to
const { default: chromium } = await import("@sparticuz/chromium");
console.log(await chromium.executablePath());
