/**
 * The demo: enough of everything to page through, created through the gateway's own GraphQL. Filling it again
 * adds only what is missing, so that the next start completes one that was cut off.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Services } from '../domain/call.ts';
import { writeWhole } from '../domain/files.ts';
import { type BearerVerifier, enrolBuilder, LOCAL_ISSUER } from '../domain/viewer/bearer.ts';
import { authenticate } from '../domain/viewer/viewer.ts';
import { type DemoProject, fillProject } from './fill.ts';
import { DEMO_PROJECT, DEMO_SUBJECT } from './runner.ts';

const CLAIMS = {
  sub: DEMO_SUBJECT,
  email: 'ada@demo.example',
  name: 'Ada Demo',
  given_name: 'Ada',
  family_name: 'Demo',
};

/** What DATA_DIR/demo.json holds. */
export interface Demo extends DemoProject {
  url: string;
  sandboxUrl: string;
  apiKey: string;
  /** The token of the demo's builder; left out if another issuer than the local one is configured. */
  bearerToken?: string;
}

interface DemoHost {
  services: Services;
  verifier: BearerVerifier;
  url: string;
}

/** Fills in the demo, and writes demo.json. */
export async function fillDemo({ services, verifier, url }: DemoHost): Promise<Demo> {
  const issuer = services.config.BEARER_ISSUER ?? LOCAL_ISSUER;
  await enrolBuilder(services, { iss: issuer, ...CLAIMS });
  const bearerToken = await mintDemoToken(verifier);
  const path = demoFileOf(services.config);
  const { apiKey, ...project } = await fillProject({
    services,
    issuer,
    knownKey: await keyOfEarlierStart(services, verifier, path),
  });
  const demo: Demo = {
    url,
    sandboxUrl: services.sandboxUrl(),
    ...project,
    apiKey,
    bearerToken,
  };
  writeWhole(path, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

/** A token of the demo's builder; undefined if another issuer than the local one is configured. */
export async function mintDemoToken(
  { mint }: BearerVerifier,
  options?: { lifetime: string },
): Promise<string | undefined> {
  return mint?.(CLAIMS, options);
}

/** The path of demo.json. */
export function demoFileOf({ DATA_DIR }: Config): string {
  return join(DATA_DIR, 'demo.json');
}

/** On by default while an embedded database has no projects, and wherever the demo already is. */
export async function isDemoOn({ config, database }: Services): Promise<boolean> {
  if (config.DEMO !== undefined) return config.DEMO;
  if (database.kind !== 'embedded') return false;
  const { project } = database.prisma;
  const demo = await project.findUnique({ where: { name: DEMO_PROJECT } });
  return demo !== null || (await project.findFirst({ select: { id: true } })) === null;
}

const earlier = z.object({ apiKey: z.string() });

/** The key's value is stored nowhere but in demo.json: it stays the same as long as that file does. */
async function keyOfEarlierStart(services: Services, verifier: BearerVerifier, path: string) {
  try {
    const { apiKey } = earlier.parse(JSON.parse(readFileSync(path, 'utf8')));
    await authenticate(services, verifier, { apiKey });
    return apiKey;
  } catch {
    return null;
  }
}
