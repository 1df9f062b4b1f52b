/**
 * Starts the server in a terminal, which the command `script` provides.
 *
 * @module-tag all/process
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fillDataFolder } from '../support/database/data-folder.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';

const START_MS = 120_000;
/** Only the `script` of util-linux returns the exit code. The `script` of macOS does not. */
const hasTerminal = /util-linux/.test(spawnSync('script', ['--version']).stdout?.toString() ?? '');
if (!hasTerminal)
  console.warn('The start in a terminal is not tested: there is no script command of util-linux.');

test.skipIf(!hasTerminal)(
  'prints words and addresses to a terminal, and ends npm and the server on Ctrl-C',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-terminal-'));
    fillDataFolder(join(folder, 'data'));
    const terminal = spawn('script', ['-qec', 'exec npm start', '/dev/null'], {
      cwd: join(import.meta.dirname, '..', '..'),
      env: {
        ...PROCESS_ENV,
        HOME: process.env.HOME,
        NO_COLOR: '1',
        PORT: '0',
        DATA_DIR: join(folder, 'data'),
      },
    });
    onTestFinished(() => {
      terminal.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
    let screen = '';
    terminal.stdout.on('data', (chunk) => {
      screen += chunk;
    });
    const findAddress = () => /GraphiQL +(http:\/\/127\.0\.0\.1:\d+)\/graphql/.exec(screen)?.[1];
    await expect.poll(findAddress, { timeout: START_MS }).toBeDefined();
    expect(screen).toContain('The gateway is ready. Ctrl-C stops it.');
    expect(screen).toContain(`REST reference  ${findAddress()}/v1/docs`);
    expect(screen).toMatch(/Sandbox CRM +http:\/\/127\.0\.0\.1:\d+/);
    expect(screen).toContain(`apiKey in ${join(folder, 'data', 'demo.json')}`);
    expect((await fetch(`${findAddress()}/livez`)).status).toBe(200);
    await expect.poll(() => screen).toMatch(/\[\d\d:\d\d:\d\d\] INFO: GET \/livez 200 in \d+ ms/);
    expect(screen).not.toContain('"level"');
    terminal.stdin.write('\x03');
    expect(await once(terminal, 'exit')).toEqual([0, null]);
    await expect(fetch(`${findAddress()}/livez`)).rejects.toThrow();
  },
  START_MS,
);
