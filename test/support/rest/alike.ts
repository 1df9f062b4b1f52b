/** One input over GraphQL and over REST, where both have to come to the same. */
import { expect } from 'vitest';
import {
  type ConfigInput,
  installationConfigInput,
} from '../../../src/domain/installation/installation-config.ts';
import type { WireConfig } from '../../../src/rest/installation/config/config-shape.ts';
import { placeInConfig } from '../../../src/rest/installation/config/parse-config.ts';
import { showConfig } from '../../../src/rest/installation/config/show-config.ts';
import type { RestTenant } from './rest-client.ts';
import { askGraphql, askRest, type Input, type Outcome, pairOf } from './twins.ts';

/** The refusal that both surfaces tell, with its findings by their places in REST; fails if they differ. */
export async function refusedAlike(
  rest: RestTenant,
  name: Parameters<typeof pairOf>[0],
  { config, ...input }: Input & { config?: ConfigInput },
): Promise<Outcome> {
  const pair = pairOf(name);
  const whole = { projectIdOrName: rest.tenant.projectName, ...input };
  const told = await askGraphql(rest, pair, { ...whole, ...(config && { config }) });
  expect(told.status).toBeGreaterThanOrEqual(400);
  const wire = config && wireConfig(config);
  const byRest = await askRest(rest, pair, { ...whole, ...(wire && { config: wire }) });
  const byGraphql = wire ? withWirePlaces(told, wire) : told;
  expect(byRest).toEqual(byGraphql);
  return byRest;
}

/** The findings of that refusal, a line each. */
export async function findingsAlike(
  rest: RestTenant,
  name: Parameters<typeof pairOf>[0],
  input: Input & { config?: ConfigInput },
): Promise<string[]> {
  const { issues } = await refusedAlike(rest, name, input);
  return issues.map(([place, detail]) => `${place}: ${detail}`);
}

/** REST has a form of its own for configs. */
function wireConfig(config: ConfigInput): WireConfig {
  const { read, ...rest } = installationConfigInput.parse(config);
  const chosen = read.map((choice) => ({
    ...choice,
    selectedFields: choice.selectedFields ?? [],
    fieldMappings: choice.fieldMappings ?? [],
  }));
  return JSON.parse(JSON.stringify(showConfig({ ...rest, read: chosen })));
}

const CONFIG = 'config.content';

function withWirePlaces(told: Outcome, wire: WireConfig): Outcome {
  const issues = told.issues.map(([place, detail]): [string, string] => {
    const isInConfig = place.startsWith(CONFIG);
    const shown = isInConfig ? CONFIG + placeInConfig(wire, place.slice(CONFIG.length)) : place;
    return [shown, detail];
  });
  return { ...told, issues: issues.sort(([a], [b]) => (a < b ? -1 : 1)) };
}
