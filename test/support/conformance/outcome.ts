/** What comes of a body, told alike by both surfaces. */
import { expect } from 'vitest';
import type { Body, Json } from './body.ts';
import { sendByGraphql } from './graphql-body.ts';
import type { Rule } from './rule.ts';
import type { Scene } from './scene.ts';

export interface Outcome {
  status: number;
  /** What is said of the refusal, with the places of what is wrong. */
  refusal: string | null;
}

export type Sendable = Omit<Body, 'name' | 'whole' | 'fields'>;
export type Send = (scene: Scene, body: Sendable, given: Json) => Promise<Outcome>;

export const DONE = { status: expect.toSatisfy((status: number) => status < 300), refusal: null };

/** A refusal that names the place or says why. */
export const refused = (saying: string, status = 400) => ({
  status,
  refusal: expect.stringContaining(saying),
});

export const sendByRest: Send = async (scene, { send }, given) => {
  const { status, body } = await send(scene, given);
  if (status < 400) return { status, refusal: null };
  const issues: { in: string; name: string; detail: string }[] = body.issues ?? [];
  expect(issues.map((issue) => issue.in)).not.toContain('path');
  const told = issues.map(({ name, detail }) => `${name}: ${detail}`);
  const { detail = JSON.stringify(body) } = body;
  return { status, refusal: [detail, ...told].join(' ') };
};

type CheckOutcomes = (
  outcomeOf: (given: Json) => Promise<Outcome>,
  scene: Scene,
) => Promise<unknown>;

/** A rule about bodies that one endpoint and one mutation take. */
export function outcomeRule(says: string, body: Sendable, check: CheckOutcomes): Rule {
  const over = (send: Send) => (scene: Scene) => check((given) => send(scene, body, given), scene);
  return { says, rest: over(sendByRest), graphql: over(sendByGraphql) };
}
