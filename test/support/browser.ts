import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  // The same without a window, which takes a fifth less.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The system's Chromium, since nothing is downloaded. */
const executablePath = process.env.CHROMIUM_PATH ?? PLACES.find((path) => existsSync(path));

/** Why tests in a browser are left out; null if there is one. */
export const noBrowser = executablePath
  ? null
  : 'No Chromium or Chrome is found, so what is tested in a browser is left out: install chromium, or set CHROMIUM_PATH.';

/** As it also runs for root, in a container. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      // A process for each page of each tab is half of what a browser costs.
      '--renderer-process-limit=1',
      '--in-process-gpu',
    ],
  });
}
