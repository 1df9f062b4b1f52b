/** One input over GraphQL and over REST, where both have to come to the same. */
import { expect } from 'vitest';
import type { RestTenant } from './rest-client.ts';
import { askGraphql, askRest, type Input, type Outcome, pairOf } from './twins.ts';

/** The refusal that both surfaces tell, with its findings by their places in REST; fails if they differ. */
export async function refusedAlike(
  rest: RestTenant,
  name: Parameters<typeof pairOf>[0],
  input: Input,
): Promise<Outcome> {
  const pair = pairOf(name);
  const whole = { projectIdOrName: rest.tenant.projectName, ...input };
  const byGraphql = await askGraphql(rest, pair, whole);
  expect(byGraphql.status).toBeGreaterThanOrEqual(400);
  expect(await askRest(rest, pair, whole)).toEqual(byGraphql);
  return byGraphql;
}

/** The findings of that refusal, a line each. */
export async function findingsAlike(
  rest: RestTenant,
  name: Parameters<typeof pairOf>[0],
  input: Input,
): Promise<string[]> {
  const { issues } = await refusedAlike(rest, name, input);
  return issues.map(([place, detail]) => `${place}: ${detail}`);
}
