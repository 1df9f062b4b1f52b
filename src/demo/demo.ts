/**
 * Fills the demo project through the gateway's GraphQL API, with enough rows to page through. Each start adds what is
 * missing, and so completes an interrupted run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Services } from '../domain/access/call.ts';
import {
  type BearerVerifier,
  enrollBuilder,
  LOCAL_ISSUER,
} from '../domain/access/viewer/bearer.ts';
import { authenticate } from '../domain/access/viewer/find-viewer.ts';
import { writeFileAtomically } from '../kernel/atomic-file.ts';
import type { Config } from '../settings/config.ts';
import { type DemoProject, fillProject } from './fill.ts';
import { DEMO_PROJECT, DEMO_SUBJECT } from './runner.ts';

const CLAIMS = {
  sub: DEMO_SUBJECT,
  email: 'ada@demo.example',
  name: 'Ada Demo',
  given_name: 'Ada',
  family_name: 'Demo',
};

/** The content of DATA_DIR/demo.json. */
export interface Demo extends DemoProject {
  url: string;
  sandboxUrl: string;
  apiKey: string;
  /** The token of the demo's builder. Absent if the issuer is not the local one. */
  bearerToken?: string;
}

interface DemoHost {
  services: Services;
  verifier: BearerVerifier;
  url: string;
}

/** Fills the demo project and writes demo.json. */
export async function fillDemo({ services, verifier, url }: DemoHost): Promise<Demo> {
  const issuer = services.config.BEARER_ISSUER ?? LOCAL_ISSUER;
  await enrollBuilder(services, { iss: issuer, ...CLAIMS });
  const bearerToken = await mintDemoToken(verifier);
  const path = getDemoFile(services.config);
  const { apiKey, ...project } = await fillProject({
    services,
    issuer,
    existingKey: await findEarlierKey(services, verifier, path),
  });
  const demo: Demo = {
    url,
    sandboxUrl: services.sandboxUrl(),
    ...project,
    apiKey,
    bearerToken,
  };
  writeFileAtomically(path, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

/** Returns a token of the demo's builder. Undefined if the issuer is not the local one. */
export async function mintDemoToken(
  { mint }: BearerVerifier,
  options?: { lifetime: string },
): Promise<string | undefined> {
  return mint?.(CLAIMS, options);
}

export function getDemoFile({ DATA_DIR }: Config): string {
  return join(DATA_DIR, 'demo.json');
}

/**
 * Returns the setting DEMO. It defaults to true for an embedded database with the demo or without projects, unless the
 * sandbox is off.
 */
export async function isDemoOn({
  config,
  database,
}: Pick<Services, 'config' | 'database'>): Promise<boolean> {
  if (config.DEMO !== undefined) return config.DEMO;
  if (config.SANDBOX === false) return false;
  if (database.kind !== 'embedded') return false;
  const { project } = database.prisma;
  const demo = await project.findUnique({ where: { name: DEMO_PROJECT } });
  return demo !== null || (await project.findFirst({ select: { id: true } })) === null;
}

const demoFile = z.object({ apiKey: z.string() });

/** Returns the API key of demo.json if it still works. The value of the key is stored in no other place. */
async function findEarlierKey(services: Services, verifier: BearerVerifier, path: string) {
  try {
    const { apiKey } = demoFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    await authenticate(services, verifier, { apiKey });
    return apiKey;
  } catch {
    return null;
  }
}
