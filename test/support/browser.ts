import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';

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

/** On a busy machine, a page takes several times as long. */
const STEP_TIMEOUT_MS = 100_000;

/** Launches Chromium with flags that also let it run as root in a container. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
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
  const newContext = browser.newContext.bind(browser);
  return Object.assign(browser, {
    async newContext(options?: BrowserContextOptions) {
      const context = await newContext(options);
      context.setDefaultTimeout(STEP_TIMEOUT_MS);
      return context;
    },
  });
}
