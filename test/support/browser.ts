import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const BROWSER_PATHS = [
  // Chromium without a window needs a fifth less time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The browser that the system has. Tests download none. */
const executablePath = process.env.CHROMIUM_PATH ?? BROWSER_PATHS.find((path) => existsSync(path));

/** The reason to skip tests in a browser. Null if a browser is installed. */
export const browserSkipReason = executablePath
  ? null
  : 'Tests in a browser are skipped: found no Chromium or Chrome. Install chromium or set CHROMIUM_PATH.';

/** Launches Chromium with flags that also let it run as root in a container. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      // The default of one process for each page of each tab doubles the browser's CPU time.
      '--renderer-process-limit=1',
      '--in-process-gpu',
    ],
  });
}
