/**
 * Sends mixed work at a steady rate for a long time, on each database, and records the gateway's resource use:
 * `npm run endurance -- --minutes 60 --rate 200`. Exits with 1 if a figure grew or a response was wrong.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerHelp } from '../../src/commands/usage.ts';
import { findFreePort } from '../../test/support/process/free-port.ts';
import { createEmptyDatabase } from '../database.ts';
import { GATEWAY_ENV } from '../peers.ts';
import { type Postgres, startPostgres } from '../postgres.ts';
import { startServer } from '../processes/server.ts';
import { writePicture, writeResults } from '../results.ts';
import { formatTable } from '../table.ts';
import { drawEndurance } from './chart.ts';
import { type DatabaseKind, type EnduranceFlags, readEnduranceFlags } from './flags.ts';
import { compareWindows, type FigureGrowth, isFlat } from './growth.ts';
import { createSampler, type Sample } from './watch.ts';
import { type Demo, startWork, type WorkResult } from './work.ts';

const SAMPLES = 240;

interface Run extends WorkResult {
  database: DatabaseKind;
  samples: Sample[];
  growth: FigureGrowth[];
}

async function runOnDatabase(
  database: DatabaseKind,
  postgres: Postgres,
  flags: EnduranceFlags,
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-endurance-'));
  const url = database === 'postgres' ? await createEmptyDatabase(postgres, 'endurance') : null;
  const metricsPort = await findFreePort();
  try {
    await using server = await startServer({
      script: 'src/main.ts',
      port: await findFreePort(),
      env: {
        ...(url ? { ...GATEWAY_ENV, DATABASE_URL: url } : {}),
        DATA_DIR: folder,
        DEMO: 'true',
        METRICS_PORT: String(metricsPort),
        LOG_LEVEL: 'warn',
      },
      readyPath: '/readyz',
    });
    const demo: Demo = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
    const work = startWork({ ...demo, url: server.url }, flags.rate);
    const takeSample = createSampler({ server, metricsPort, url, folder });
    const samples: Sample[] = [];
    const endMs = performance.now() + flags.minutes * 60_000;
    const sampleMs = Math.max(1_000, (flags.minutes * 60_000) / SAMPLES);
    while (performance.now() < endMs) {
      await sleep(sampleMs);
      samples.push(await takeSample(work.takeLatencies()));
    }
    return { database, samples, growth: compareWindows(samples), ...(await work.stop()) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printRun({ database, growth, responses, skipped, failures }: Run): void {
  const rows = growth.map(({ name, unit, early, late }) => [
    name,
    `${early.toFixed(1)} ${unit}`,
    `${late.toFixed(1)} ${unit}`,
    `${((late / early - 1) * 100).toFixed(0)}%`,
  ]);
  const backlog = skipped > 0 ? `, ${skipped} skipped because of the backlog` : '';
  console.log(
    `On ${database}: ${responses} responses${backlog}, failures ${JSON.stringify(failures)}`,
  );
  console.log(`${formatTable(['', 'early', 'late', 'growth'], rows)}\n`);
}

answerHelp(
  'Usage: npm run endurance -- [--minutes 60] [--rate 200] [--databases postgres,embedded]',
);
const flags = readEnduranceFlags(process.argv.slice(2));
await using postgres = await startPostgres();
const runs: Run[] = [];
for (const database of flags.databases) {
  const run = await runOnDatabase(database, postgres, flags);
  printRun(run);
  runs.push(run);
  writeResults('endurance', { flags, runs });
  writePicture('endurance', await drawEndurance(runs));
}
const hasSucceeded = runs.every(
  ({ growth, failures }) => growth.every(isFlat) && Object.keys(failures).length === 0,
);
if (!hasSucceeded) {
  console.log('A figure grew, or a response was wrong: see above.');
  process.exitCode = 1;
}
